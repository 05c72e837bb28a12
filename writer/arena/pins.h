/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of all attached readers, as the writer sees them: hostile input.
 *
 * Invariant: an effective pin never goes down. What a reader stores below the horizon, or above the current
 * epoch, hurts only the reader that stored it.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_ARENA_PINS_H
#define WRITER_ARENA_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/slot.h"

struct pins;

struct pins *pins_new(unsigned max_slots);
void pins_free(struct pins *s);	/* unmaps and closes what is left */

/*
 * Make a slot: a sealed memfd of SLOT_BYTES, mapped.
 * epoch      the current epoch: what the new reader may pin is at least this
 * ret_id     names the slot
 * ret_fd     the memfd, owned by the slot; the broker passes it on
 * Returns    0, -EUSERS when max_slots are taken, or negative errno
 */
int pins_add(struct pins *s, uint64_t epoch, unsigned *ret_id, int *ret_fd);
/* Give a slot up. Its reader cannot read through it any more: it hung up, died, or pins_are_free(). */
void pins_remove(struct pins *s, unsigned id);

/*
 * D1: the reader of this slot is to begin no snapshot any more. It is scanned as before until it is removed.
 * pins_are_free() is D3: whether all cells of a slot that was closed are free, and so stay free.
 */
void pins_close(struct pins *s, unsigned id);
bool pins_are_free(struct pins *s, unsigned id);

/*
 * V1: close the slot, and from then on its pins do not count in pins_horizon() nor in pins_oldest(), but
 * pins_stat() tells of them. What they may look at is the caller's to keep (store_revoke()). It stays a slot
 * until it is removed, by the rule above. pins_revoked(): how many of these there are.
 */
void pins_revoke(struct pins *s, unsigned id);
unsigned pins_revoked(const struct pins *s);

/*
 * The page as it is mapped here: for readers that are threads of this process (the thread sanitizer follows
 * addresses).
 */
struct slot *pins_page(struct pins *s, unsigned id);

/*
 * W2: the oldest epoch that some reader may still read, never above `current`, never below what it said
 * before. To be called after the root of epoch `current` was published; issues the full fence that pairs with
 * slot_claim(). Blocks retired at or before the result may be reused.
 */
uint64_t pins_horizon(struct pins *s, uint64_t current);

/*
 * For the wake-up: true when the reader of this slot sleeps and waits for one of these (ARMED_COMMIT,
 * ARMED_QUEUE). What it waited for of them is taken back, and nothing else: several threads of one reader
 * wait for different things, and one that is not answered stays armed. Other bits mean nothing and are left
 * alone.
 */
bool pins_take_armed(struct pins *s, unsigned id, uint32_t answers);

struct slot_stat {
	unsigned pins;			/* cells in use */
	uint64_t oldest_epoch;		/* 0: none */
	uint64_t oldest_since_ns;	/* CLOCK_BOOTTIME at which the writer first saw that pin */
	bool revoked;
};
void pins_stat(struct pins *s, unsigned id, struct slot_stat *ret);
/* The same over all slots: who holds the horizon back. Returns its id, or -1. */
int pins_oldest(struct pins *s, struct slot_stat *ret);

#endif
