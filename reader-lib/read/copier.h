/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copiers: write the body of an object out again, as a tree that refers to nothing outside.
 *
 * The body comes out value by value, in the daemon's own encoding (shm-layout/value.h), with what it refers
 * to in place of the references. Names and shapes become blocks, each once. Both grow in memory of the call,
 * and can be put together wherever there is room.
 */
#ifndef READER_LIB_READ_COPIER_H
#define READER_LIB_READ_COPIER_H

#include "reader-lib/read/path_set.h"
#include "reader-lib/base/small_buffer.h"

#define COPIER_BYTES 8192u	/* of body, and of blocks: enough for most objects */
#define COPIER_ENTRIES 256u
#define COPIER_NAMES 64u

/*
 * What was copied: a source's ref, or what a shape is made from (bit 63 set), and the copy's ref. Key 0:
 * free.
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
 * 21 KiB, most of it memory that saves allocations: for the stack.
 *
 * body    the body
 * blocks  of names and shapes, one after the other; their refs count from the start of the memory in which
 *         they will stand, which is `offset` bytes before them
 */
struct copier {
	const struct arena_view *view;
	size_t offset;
	const struct path_set *set;
	struct small_buffer body;
	struct small_buffer blocks;
	/* of struct known, a power of two of them; used counts bytes of those in use */
	struct small_buffer table;
	struct small_buffer names;	/* of struct kept_name: a stack */
	uint32_t items;
	_Alignas(8) uint8_t first_body[COPIER_BYTES];
	_Alignas(16) uint8_t first_blocks[COPIER_BYTES];
	struct known first_table[COPIER_ENTRIES];
	struct kept_name first_names[COPIER_NAMES];
};

/*
 * offset  a multiple of REF_UNIT
 * set     what is wanted; NULL: all
 */
void copier_init(struct copier *c, struct informer *inf, const struct arena_view *view,
		 const struct path_set *set, size_t offset);
void copier_done(struct copier *c);

/* Copy the body of an object: 0, -EBADMSG, -ENOMEM. */
int copier_copy(struct copier *c, uint32_t object_ref);

#endif
