/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer and a reader attached to it, both complete and real, in one real thread. Most of the explorer's
 * programs begin with this pair; their threads then call the writer or the reader.
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

/* Start with one published pod, "first", version 1, in a synced resource. Aborts on failure. */
void pair_begin(void);
void pair_end(void);
/* The pair of all tests of a program; set-up and tear-down for cmocka. */
extern struct pair pair;
int pair_set_up(void **state);
int pair_tear_down(void **state);
/* The writer ends and another begins with an empty arena: WELCOME waits in the reader's socket. */
void pair_next_writer(void);
/* Turn both until neither has anything to do. */
void pair_drain(void);

#endif
