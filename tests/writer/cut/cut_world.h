/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cut world has a writer of pods that is cut at every step. At each cut the files are read as by readers
 * that map them, adopted, and read again. They must hold the whole state before, or the whole state after.
 *
 * A state is all that arena_text() shows, and the books after adoption: bytes and blocks in use, shared
 * blocks. Nothing may be retired or leaked. The change from one state to the other happens once.
 *
 * All checks fail by cmocka's assertions. The test's program wraps the calls named in cut_record.h.
 */
#ifndef TESTS_SUPPORT_CUT_WORLD_H
#define TESTS_SUPPORT_CUT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"

#define CUT_PODS 48u

/* A whole state, as adoption finds it. */
struct cut_whole {
	char *text;
	uint64_t committed, used, blocks, shared;
};

struct cut_world {
	const char *kind;
	struct generations live, cut; /* directories of the writer and of the cuts */
	struct store_fixture *fx;
	unsigned long rv; /* RV of the last change */
	struct {
		unsigned node, life;
	} pods[CUT_PODS];
	char *was; /* state published before the cuts; NULL: no arena */
	struct cut_whole before, after;
	size_t adopted, found_before, found_after;
};

/*
 * A fixture for cmocka: *state is the world. Each set-up uses the same random numbers, so keys and lineages
 * are the same in each run.
 */
int cut_world_set_up(void **state);
int cut_world_tear_down(void **state);

/* Start a writer in its directory, which adopts an arena or makes one. May be the body that is cut. */
void cut_world_start(void *world);
/* End the writer; its arena stays. */
void cut_world_end(struct cut_world *w);

/* Put pod i on this node; put pods [i, to) on one of three nodes; delete pod i. Each change has a new RV. */
void cut_world_put(struct cut_world *w, unsigned i, unsigned node);
void cut_world_put_all(struct cut_world *w, unsigned from, unsigned to);
void cut_world_del(struct cut_world *w, unsigned i);
/* Commit, with the RV of the last change. */
void cut_world_commit(struct cut_world *w);

/* Note the published state as the one before the cuts. Call it before the writer ends, if it ends first. */
void cut_world_note_published(struct cut_world *w);

/* Cut body(w) at each step. Prints the number of cuts of each kind. */
void cut_world_cut(struct cut_world *w, const char *kind, void (*body)(void *world));

#endif
