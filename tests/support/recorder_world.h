/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recorders beside each other: a daemon in this process, a reader of it, and handlers that write down
 * what they are told. For tests of events.
 */
#ifndef TESTS_SUPPORT_RECORDER_WORLD_H
#define TESTS_SUPPORT_RECORDER_WORLD_H

#include "tests/support/recorder.h"

struct recorder_world {
	struct broker_fixture *fx;
	struct informer *inf;
	struct recorder *r, *other;	/* not added yet */
};

/*
 * present: what the pods are before the reader comes, as for recorder_change(). generations: the daemon can
 * be followed by another one.
 */
struct recorder_world *recorder_world_new(const char *present, bool generations);
void recorder_world_free(struct recorder_world *w);
/* The same for cmocka: *state is the world. */
int recorder_world_tear_down(void **state);

#endif
