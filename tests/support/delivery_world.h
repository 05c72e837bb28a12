/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handler, and a server whose history is known, for tests of what happens to a delivery when the arena is
 * taken from it: at any access, in any way.
 *
 * There are three moments: BEFORE, what the handler knows; DURING, what it is being told; AFTER, what it
 * finds when it has another slot and another queue. Arena and queues were written by the writer's own code,
 * once; each moment is a copy of their bytes, put where the handler reads, which is this process's own.
 *
 *	delivery_begin() ── a new handler, told of BEFORE ──▶ delivery_run() ── told of DURING ──▶
 *	delivery_end() ── another queue: told of AFTER ──▶ delivery_log_wrong()
 *
 * What was told is compared with the history: states that were, in order, and in the end what is there. A
 * forked child goes on by itself, and its parent does not notice.
 *
 * A handler's turn looks whether the clock ticked since it began. For it to go the same way each time, the
 * program has a clock_gettime() of its own, which stands.
 */
#ifndef TESTS_SUPPORT_DELIVERY_WORLD_H
#define TESTS_SUPPORT_DELIVERY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader-lib/informer.h"
#include "tests/support/access_trap.h"
#include "tests/support/delivery_log.h"

/* How what it is told comes to it. */
enum delivery_way {
	DELIVERY_INITIAL,   /* it is new: a walk over all that is there */
	DELIVERY_QUEUE,     /* each change, by its queue */
	DELIVERY_COALESCED, /* its queue overflowed: a walk over what changed */
	DELIVERY_RESYNC,    /* and deletions were forgotten: everything anew */
	DELIVERY_AGAIN,     /* nothing changed: the objects again, of resync_ms */
	DELIVERY_WAYS,
};

/* What it is. */
enum delivery_handler {
	DELIVERY_PLAIN,
	DELIVERY_LABELS, /* a label selector */
	DELIVERY_SCOPED, /* a namespace */
	DELIVERY_VALUES, /* a transform */
	DELIVERY_HANDLERS,
};

extern const char *const delivery_ways[DELIVERY_WAYS], *const delivery_handlers[DELIVERY_HANDLERS];

struct delivery_world;

struct delivery_world *delivery_world_new(enum delivery_way way, enum delivery_handler handler);
void delivery_world_free(struct delivery_world *w);

void delivery_begin(struct delivery_world *w);
void delivery_run(struct delivery_world *w);
void delivery_end(struct delivery_world *w);

/* What it reads in delivery_run(): arena, slot and queue. */
#define DELIVERY_RANGES 3
void delivery_ranges(const struct delivery_world *w, struct access_range ranges[DELIVERY_RANGES]);

/*
 * Take the arena back, as a revocation does: the slot is closed, and what is behind the header turns to
 * zeros: all of it, some of its pages, or all of it where there is no memory for zeros (full_tmpfs.h).
 */
enum delivery_loss { DELIVERY_ALL, DELIVERY_SOME, DELIVERY_FULL, DELIVERY_LOSSES };
void delivery_take_back(struct delivery_world *w, enum delivery_loss loss, uint64_t random);
/* Other bytes in the place of those that the handler reads, as broken memory or bad will may put there. */
void delivery_scramble(struct delivery_world *w, uint64_t random);

/* What was told since delivery_begin(), to be compared with the history. */
struct delivery_log *delivery_log_of(struct delivery_world *w);

#endif
