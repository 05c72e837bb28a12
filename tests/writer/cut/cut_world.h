/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of pods that is cut at every moment of what it does: what lies there then is read as those read
 * who have it mapped, adopted, and read again; it has to be the state before or the state after, whole.
 *
 * What a state is: everything that arena_text() says, and the books after adoption: bytes and blocks in use,
 * shared blocks; and nothing retired, leaked, or neither used nor free. The switch from one to the other
 * happens once.
 *
 * All of it fails by cmocka's assertions. The test's program wraps what cut_record.h says.
 */
#ifndef TESTS_SUPPORT_CUT_WORLD_H
#define TESTS_SUPPORT_CUT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"

#define CUT_PODS 48u

/* What a whole state is, as adoption finds it. */
struct cut_whole {
	char *text;
	uint64_t committed, used, blocks, shared;
};

struct cut_world {
	const char *kind;
	struct generations live, cut; /* the writer's directory, and that of the cuts */
	struct store_fixture *fx;
	unsigned long rv; /* of the last change */
	struct {
		unsigned node, life;
	} pods[CUT_PODS];
	char *was; /* what was published before the cuts; NULL: there was no arena */
	struct cut_whole before, after;
	size_t adopted, found_before, found_after;
};

/* For cmocka: *state is the world. Each begins with the same dice: keys and lineages are the same in each
 * run. */
int cut_world_set_up(void **state);
int cut_world_tear_down(void **state);

/* A writer starts in its directory: the arena that it finds, or a new one. `world` as what is cut. */
void cut_world_start(void *world);
/* It goes, and leaves its arena. */
void cut_world_end(struct cut_world *w);

/* Pod i is on this node; all pods from i on, below `to`, are on one of three; pod i is deleted. Each has an
 * RV more. */
void cut_world_put(struct cut_world *w, unsigned i, unsigned node);
void cut_world_put_all(struct cut_world *w, unsigned from, unsigned to);
void cut_world_del(struct cut_world *w, unsigned i);
/* Commit, with the RV of the last change. */
void cut_world_commit(struct cut_world *w);

/* What is published now is what the cuts begin with: to be said before the writer ends; cut_world_cut() says
 * it else. */
void cut_world_note_published(struct cut_world *w);

/* Cut what body(w) does at each moment. Prints how many cuts of which kind there were. */
void cut_world_cut(struct cut_world *w, const char *kind, void (*body)(void *world));

#endif
