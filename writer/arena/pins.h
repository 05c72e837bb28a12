/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of all attached readers, as the writer reads them. Their content is hostile input.
 *
 * Invariant: an effective pin never decreases. A value below the horizon, or above the current epoch, harms
 * only the reader that stored it.
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
 * epoch      the current epoch, the lowest that the new reader may pin
 * ret_id     names the slot
 * ret_fd     the memfd, owned by the slot; the broker passes it on
 * Returns    0, -EUSERS when max_slots are taken, or negative errno
 */
int pins_add(struct pins *s, uint64_t epoch, unsigned *ret_id, int *ret_fd);
/*
 * Remove a slot whose reader cannot read through it any more: the reader hung up or died, or
 * pins_are_free().
 */
void pins_remove(struct pins *s, unsigned id);

/*
 * D1: close a slot: its reader begins no more snapshots. The slot is scanned until it is removed.
 * pins_are_free() is D3: true if all cells of a closed slot are free; they stay free.
 */
void pins_close(struct pins *s, unsigned id);
bool pins_are_free(struct pins *s, unsigned id);

/*
 * V1: close the slot and stop counting its pins in pins_horizon() and pins_oldest(). pins_stat() still
 * reports them. The caller protects what they see (store_revoke()). The slot stays until pins_remove().
 * pins_revoked() counts such slots.
 */
void pins_revoke(struct pins *s, unsigned id);
unsigned pins_revoked(const struct pins *s);

/*
 * The slot's page as mapped here, for readers that are threads of this process (the thread sanitizer follows
 * addresses).
 */
struct slot *pins_page(struct pins *s, unsigned id);

/*
 * W2: the oldest epoch that some reader may still read: at most `current`, and never below an earlier
 * result. Call after the root of epoch `current` was published. Issues the full fence that pairs with
 * slot_claim(). Blocks retired at or before the result may be reused.
 */
uint64_t pins_horizon(struct pins *s, uint64_t current);

/*
 * For the wake-up: true if the reader of this slot sleeps and waits for one of these answers (ARMED_COMMIT,
 * ARMED_QUEUE). Clears these bits and no others: several threads of one reader wait for different answers.
 */
bool pins_take_armed(struct pins *s, unsigned id, uint32_t answers);

struct slot_stat {
	unsigned pins;			/* cells in use */
	uint64_t oldest_epoch;		/* 0: none */
	uint64_t oldest_since_ns;       /* CLOCK_BOOTTIME when the writer first saw that pin */
	bool revoked;
};
void pins_stat(struct pins *s, unsigned id, struct slot_stat *ret);
/* The oldest pin over all slots that are not revoked. Returns its slot's id, or -1. */
int pins_oldest(struct pins *s, struct slot_stat *ret);

#endif
