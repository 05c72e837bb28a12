/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copiers: write an object's body again, as a tree that refers to nothing outside the copy.
 *
 * A copier writes the body value by value, in the daemon's encoding (shm-layout/value.h). It replaces
 * references by the values they refer to. It copies each name and shape once, into blocks. Body and blocks
 * grow in two buffers that live for the call; the caller puts them together.
 */
#ifndef READER_LIB_READ_COPIER_H
#define READER_LIB_READ_COPIER_H

#include "reader-lib/read/path_set.h"
#include "reader-lib/base/small_buffer.h"

#define COPIER_BYTES 8192u /* first memory for the body, and for the blocks: enough for most objects */
#define COPIER_ENTRIES 256u
#define COPIER_NAMES 64u

/*
 * A copied block. key: the source's ref, or (bit 63 set) what a shape was made from; 0: a free entry.
 * to: the copy's ref.
 */
struct known {
	uint64_t key;
	uint32_t to;
};

/* A field name that a filtered shape keeps. */
struct kept_name {
	uint32_t ref;
	uint8_t fingerprint;
};

/*
 * 21 KiB, for the stack; the first_* members save allocations.
 *
 * body    the copied body
 * blocks  copied names and shapes, one after another. Their refs count from `offset` bytes before the blocks:
 *         the start of the memory in which they will stand
 */
struct copier {
	const struct arena_view *view;
	size_t offset;
	const struct path_set *set;
	struct small_buffer body;
	struct small_buffer blocks;
	/* a hash table of struct known, sized a power of two; table.used: bytes of the entries in use */
	struct small_buffer table;
	struct small_buffer names; /* a stack of struct kept_name */
	uint32_t items;
	_Alignas(8) uint8_t first_body[COPIER_BYTES];
	_Alignas(16) uint8_t first_blocks[COPIER_BYTES];
	struct known first_table[COPIER_ENTRIES];
	struct kept_name first_names[COPIER_NAMES];
};

/*
 * Begin a copy. End it with copier_done().
 *
 * offset  a multiple of REF_UNIT
 * set     what to copy; NULL: all
 */
void copier_init(struct copier *c, struct informer *inf, const struct arena_view *view,
		 const struct path_set *set, size_t offset);
void copier_done(struct copier *c);

/* Copy an object's body. Returns 0, -EBADMSG, -ENOMEM. */
int copier_copy(struct copier *c, uint32_t object_ref);

#endif
