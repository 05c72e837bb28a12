/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena file as its one writer holds it: created, mapped at its maximum size, grown, given blocks.
 *
 * The books (which bytes are free, which blocks wait for readers) are private memory; the file holds only
 * what readers need. Blocks are built unreachable, sealed (tag), then published by a commit (store.h).
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_ARENA_ARENA_H
#define WRITER_ARENA_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/block.h"
#include "shm-layout/header.h"
#include "shm-layout/tag.h"

struct arena {
	/* as a reader would see it, and for all reading by the writer itself */
	struct arena_view view;
	struct header *header;		/* == view.base, writable */
	int fd;				/* read-write; broker.c re-opens it read-only for readers */
	uint64_t max_bytes;		/* the address range; how much memory: arena_set_budget() */
	struct tag_keys keys;
	struct tag_root_key root_key;
	struct arena_private *private;	/* the books */
	char name[256];			/* file name within its directory */
};

#define ARENA_BYTES_MIN (4u << 20)
#define ARENA_BYTES_LIMIT (((uint64_t)REF_MAX + 1) * REF_UNIT)

/* The file of which an arena is made a copy. */
struct arena_source {
	int fd;
	const struct header *header; /* or a copy of it */
	uint64_t bytes;              /* committed: a multiple of 4096 */
};

/*
 * Make a new arena file, INCOMPLETE, without a root; or with the source's root, hash key and length, and no
 * content yet (arena_copy.h). Its identity (generation, incarnation) is its own.
 *
 * directory   descriptor of a directory on tmpfs (/dev/shm by default)
 * name        file name; must not exist (O_EXCL, O_NOFOLLOW; mode 0600)
 * max_bytes   to which size it may grow, and at first the budget; ARENA_BYTES_MIN .. _LIMIT
 * master      the key file's bytes
 * source      NULL: an empty one
 *
 * Returns     0; -EEXIST; -ENOSPC when even the first pages do not fit; other negative errno. On failure no
 *             file is left.
 */
int arena_create(struct arena *ret, int directory, const char *name, uint64_t generation, uint64_t max_bytes,
		 const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source);

/* Unmap and close. The file stays; whoever made it decides about its name. */
void arena_close(struct arena *a);

/* Sets state; release. LIVE is what makes a new file an arena; its root's epoch is told behind that. */
void arena_set_state(struct arena *a, enum header_state state);

/*
 * The newest root, whose offset stands in the header already, has this epoch. In a file that is not an arena
 * yet it is told by arena_set_state(): INCOMPLETE beside an epoch is a damaged state word.
 */
void arena_tell_epoch(struct arena *a, uint64_t epoch);

/* Of the newest root; 0: there is none. */
uint64_t arena_published_seq(const struct arena *a);

/*
 * Allocate a block. The header's type, length and aux are set, the payload is not zeroed, the tag is not set.
 *
 * ret_ref   set on success only
 * Returns   0; -ENOSPC the tmpfs, the memory cgroup, the budget or max_bytes is exhausted; -E2BIG payload
 *           above BLOCK_LENGTH_MAX; -ENOMEM private memory
 * Cost      no system call unless the file grows
 */
int arena_new_block(struct arena *a, enum block_type type, uint32_t length, uint32_t aux, uint32_t *ret_ref);

static inline struct block *
arena_block(const struct arena *a, uint32_t ref)
{
	return (struct block *)(void *)((uint8_t *)a->header + ref_offset(ref));
}

static inline void *
arena_payload(const struct arena *a, uint32_t ref)
{
	return arena_block(a, ref)->payload;
}

/*
 * How much memory the arena may have, whatever address range it has. Less than what it has: it grows no more
 * until it is below again. Any time; to begin with it is max_bytes.
 */
void arena_set_budget(struct arena *a, uint64_t bytes);
uint64_t arena_budget(const struct arena *a);

/* What a change allocates at most: bytes in all (block_footprint()), in blocks of at most `largest`. */
struct arena_need {
	uint64_t bytes, largest;
};

static inline void
arena_need_add(struct arena_need *need, uint64_t bytes, uint64_t largest)
{
	need->bytes += bytes;
	if (need->largest < largest)
		need->largest = largest;
}

/*
 * Make sure that a change can be made: after success no allocation fails until `need` is used up, whatever
 * the sizes and order of the blocks, and whatever is freed between. 0, -ENOSPC.
 *
 * The bytes need not lie in a row: free runs of `need.largest` and more count (books_fits()). The file grows,
 * and room is made, where these do not suffice.
 */
int arena_ensure(struct arena *a, struct arena_need need);

/*
 * The last ARENA_RESERVE bytes are kept for what makes room: deletes and commits open the reserve; whatever
 * adds finds the arena full before it is touched. Closed at first.
 */
#define ARENA_RESERVE (512u * 1024u)
void arena_open_reserve(struct arena *a, bool open);

/* Was anything refused for want of room since this was asked last? */
bool arena_was_refused(struct arena *a);

/*
 * Called before anything is refused for want of room: make some, say whether that was possible, and be asked
 * again if it is not enough. Makes no blocks. NULL: nobody is called.
 */
void arena_on_full(struct arena *a, bool (*make_room)(void *context), void *context);

/* Shorten a block that is not sealed yet; what becomes free is given back. */
void arena_trim_block(struct arena *a, uint32_t ref, uint32_t length);

/* Set the tag. After this the payload must not change. The second form has the content hash already. */
void arena_seal(struct arena *a, uint32_t ref);
void arena_seal_hashed(struct arena *a, uint32_t ref, uint64_t content_hash);

/* Give back a block that no published root reaches. */
void arena_free(struct arena *a, uint32_t ref);

/*
 * Give back a block that the current root may still reach: it is freed once no reader can see it.
 * Never fails: if the note cannot be kept, the block is leaked until the next generation, and counted.
 */
void arena_retire(struct arena *a, uint32_t ref);

/* The epoch that the next commit will publish: what is retired from now on carries it. */
void arena_set_working_epoch(struct arena *a, uint64_t epoch);

/*
 * What was retired at or before horizon has lapsed: free it, the oldest first, as much as some milliseconds
 * allow; the rest with the next calls. Cost: proportional to what is freed.
 */
void arena_reclaim(struct arena *a, uint64_t horizon);

/*
 * Revoked readers (shm-layout/PROTOCOLS.md, Revoke; burial.h).
 *
 * see      what is in use now a reader may go on looking at that is not waited for any more: where blocks of
 *          this are given back nothing else comes, until arena_dig_up(). Adds to what was seen before. Cost:
 *          proportional to the file, a millisecond for each 500 MiB
 * punch    gives back the memory of pages of which nothing is in use any more: a bounded part, at most some
 *          milliseconds; true while there is more. What finds no room punches by itself
 * dig up   nobody sees anything any more: what is buried is free, or absent. A bounded part, as punch; true
 *          while there is more
 * punch again  when a revoked reader touched pages that had been punched, they have memory again: take it. To
 *          be called now and then; one system call when there is nothing to do
 */
void arena_see(struct arena *a);
bool arena_punch(struct arena *a);
bool arena_dig_up(struct arena *a);
void arena_punch_again(struct arena *a);

/*
 * Rebuild the books of a copied arena: begin forgets everything, mark takes each reachable block once (false:
 * it was marked before), finish makes free space of the rest. A block that overlaps another one, or has no
 * memory, is refused with -EBADMSG. Pages without memory are free, and filled before use.
 */
int arena_books_begin(struct arena *a);
int arena_books_mark(struct arena *a, uint32_t ref, bool *ret_first);
void arena_books_finish(struct arena *a);

/*
 * Ask the kernel to gather the next 2 MiB of the file into a huge page: lookups in a large arena spend much
 * of their time on address translation. Some milliseconds; readers are not disturbed. False when there is
 * nothing more to gather for now.
 */
bool arena_gather_pages(struct arena *a);

/*
 * committed_bytes  of the file = used + free + buried + absent
 * retired_bytes    of the used: what waits for readers; lapsed_bytes: for nobody but the next arena_reclaim()
 * present_bytes    of these, what has memory: the absent have none, nor have the punched among the buried
 */
struct arena_stats {
	uint64_t committed_bytes, used_bytes, retired_bytes, free_bytes, private_bytes, leaked_blocks;
	uint64_t blocks;
	uint64_t retired_since_bytes;	/* of retired_bytes: since the working epoch was set */
	uint64_t lapsed_bytes, present_bytes, buried_bytes, punched_bytes, absent_bytes, budget_bytes;
};
void arena_stats(const struct arena *a, struct arena_stats *ret);

/* For tests: let the next n allocations succeed and fail the one after (UINT64_MAX: never fail). */
void arena_fail_after(struct arena *a, uint64_t n);

#endif
