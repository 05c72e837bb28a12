/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon in this process, its reader, and two handlers that record what they are told. */
#ifndef TESTS_SUPPORT_RECORDER_WORLD_H
#define TESTS_SUPPORT_RECORDER_WORLD_H

#include "tests/support/recorder.h"

struct recorder_world {
	struct broker_fixture *fx;
	struct informer *inf;
	struct recorder *r, *other;	/* not added yet */
};

/* present: the pods before the reader comes (recorder_change()). generations: another daemon can follow. */
struct recorder_world *recorder_world_new(const char *present, bool generations);
void recorder_world_free(struct recorder_world *w);
/* The same for cmocka: *state is the world. */
int recorder_world_tear_down(void **state);

/*
 * A handler's story, told by w->r: changes, what it is told of them, changes, ...; NULL at the end. It is
 * added after the first changes, if it was not yet. One commit ends at each ';', and is one of:
 *
 *	"a1 -b"        as recorder_change()         "~a1"     the same, without synced state
 *	"a*79:db"      a2 to a79, a commit each     REPLACE   another lineage, without objects
 *	DETACH ATTACH  the reader goes; it comes, and adds the handler again
 */
void recorder_world_play(struct recorder_world *w, const char *const *story);
/* Changes of such a story. */
void recorder_world_happen(struct recorder_world *w, const char *commits);
/* Commit `count` updates of a, one by one, from version `from` on; text becomes what is told of them. */
void recorder_world_update(struct recorder_world *w, unsigned from, unsigned count, char *text, size_t size);
/* Put this many pods ("kaa", "kab", ...) in this version, in one commit. */
void recorder_world_many(struct recorder_world *w, unsigned count, unsigned version);
#define PLAY(w, ...) recorder_world_play(w, (const char *const[]){__VA_ARGS__, NULL})

#endif
