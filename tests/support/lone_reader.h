/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of the library over a test's arena and slot, without a socket. No broker reads the slot. */
#ifndef TESTS_SUPPORT_LONE_READER_H
#define TESTS_SUPPORT_LONE_READER_H

#include "reader-lib/attach/mapping.h"
#include "reader-lib/informer.h"
#include "shm-layout/slot.h"
#include "writer/arena/arena.h"

/* Make a slot's file, and map the slot. Aborts on failure. */
struct slot *lone_slot_new(int *ret_fd);

/*
 * Make the reader; it duplicates both descriptors. flags: with INFORMER_VERIFY it gets the arena's keys.
 * NULL: the arena was refused, or cannot be mapped.
 */
struct informer *lone_reader_new(const struct arena *arena, int arena_fd, int slot_fd, uint32_t flags);

/* mapping_new() of copies of these descriptors. keys: of the arena's tags; NULL: none. */
int lone_reader_map(struct informer *inf, int arena_fd, int slot_fd, const struct tag_keys *keys,
		    struct mapping **ret);

/*
 * Make the reader's arena and slot private memory with the files' content, at the same addresses. This
 * process may then write there without an effect on others. A forked child has its own copy, and may use the
 * handle.
 */
void lone_reader_own(struct informer *inf, int slot_fd);

/*
 * A verifying reader never again trusts an arena in which it met damage. Call this when the damage is
 * repaired. all: also forget which blocks were verified. Without INFORMER_VERIFY it does nothing.
 */
void lone_reader_trust_again(struct informer *inf, bool all);

/* Map the file again, in place of the zeros that a reader maps over a revoked arena. */
void lone_reader_map_again(struct informer *inf);

#endif
