/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handler and a server with a known history, for tests that take the arena away at any access of a
 * delivery.
 *
 * There are three moments. BEFORE is what the handler knows, DURING is what it is being told, and AFTER is
 * what it finds with another slot and queue. The writer's own code wrote arena and queues once. Each moment
 * is a copy of their bytes, in this process's memory where the handler reads.
 *
 *	delivery_begin() ── a new handler, told of BEFORE ──▶ delivery_run() ── told of DURING ──▶
 *	delivery_end() ── another queue: told of AFTER ──▶ delivery_log_wrong()
 *
 * What was told is compared with the history. A forked child continues by itself, without an effect on its
 * parent.
 *
 * A handler's turn looks whether the clock ticked since it began. For a repeatable course the program stops
 * clock_gettime() (test_clock.h).
 */
#ifndef TESTS_SUPPORT_DELIVERY_WORLD_H
#define TESTS_SUPPORT_DELIVERY_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader-lib/informer.h"
#include "tests/support/access_trap.h"
#include "tests/support/delivery_log.h"

/* How events come to the handler. */
enum delivery_way {
	DELIVERY_INITIAL,   /* a new handler: a walk over all objects */
	DELIVERY_QUEUE,     /* each change, through its queue */
	DELIVERY_COALESCED, /* after an overflow: a walk over the changes */
	DELIVERY_RESYNC,    /* after an overflow with forgotten deletions: everything anew */
	DELIVERY_AGAIN,     /* no change: the objects again, because of resync_ms */
	DELIVERY_WAYS,
};

/* The kind of handler. */
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

/* The memory that delivery_run() reads: arena, slot and queue. */
#define DELIVERY_RANGES 3
void delivery_ranges(const struct delivery_world *w, struct access_range ranges[DELIVERY_RANGES]);

/*
 * Revoke the arena: the slot is closed, and the memory behind the header turns to zeros. That is all of it,
 * some pages, or all of it on a tmpfs without memory (full_tmpfs.h).
 */
enum delivery_loss { DELIVERY_ALL, DELIVERY_SOME, DELIVERY_FULL, DELIVERY_LOSSES };
void delivery_take_back(struct delivery_world *w, enum delivery_loss loss, uint64_t random);
/* Change bytes that the handler reads, as broken memory or a hostile writer may do. */
void delivery_scramble(struct delivery_world *w, uint64_t random);

/* What was told since delivery_begin(). */
struct delivery_log *delivery_log_of(struct delivery_world *w);

#endif
