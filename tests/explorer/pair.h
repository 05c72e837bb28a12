/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer and a reader that is attached to it, both whole and real, in one real thread: what most of the
 * explorer's programs begin with. Threads of a program then call the one or the other.
 */
#ifndef TESTS_EXPLORER_PAIR_H
#define TESTS_EXPLORER_PAIR_H

#include "tests/support/broker_fixture.h"

struct pair {
	struct broker_fixture *writer;
	struct store *store;
	unsigned pods;
	struct informer *inf;
};

/* One pod, "first", version 1, is there and published; the resource is synced. Aborts when it cannot be had.
 */
void pair_begin(struct pair *p);
void pair_end(struct pair *p);
/* The pair of a program's tests, and for cmocka its set-up and tear-down alone. */
extern struct pair pair;
int pair_set_up(void **state);
int pair_tear_down(void **state);
/* The writer ends, and another begins, with an arena that is empty: WELCOME waits in the reader's socket. */
void pair_next_writer(struct pair *p);
/* Let both do what waits for them, until nothing does. */
void pair_drain(struct pair *p);

#endif
