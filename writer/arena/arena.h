/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena is the file that readers map. Here its one writer creates it, maps it at its maximum size, grows
 * it, and allocates blocks in it.
 *
 * The books (which bytes are free, which blocks wait for readers) are private memory. The file holds only
 * what readers need. A block is built where no root reaches it, sealed (tag), then published by a commit
 * (store.h).
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
	/* as a reader sees it; the writer reads through it too */
	struct arena_view view;
	struct header *header;		/* == view.base, writable */
	int fd;				/* read-write; broker.c re-opens it read-only for readers */
	uint64_t max_bytes;             /* the address range; memory is limited by arena_set_budget() */
	struct tag_keys keys;
	struct tag_root_key root_key;
	struct arena_private *private;	/* the books */
	char name[256];			/* file name within its directory */
};

#define ARENA_BYTES_MIN (4u << 20)
#define ARENA_BYTES_LIMIT (((uint64_t)REF_MAX + 1) * REF_UNIT)

/* The file that an arena is copied from. */
struct arena_source {
	int fd;
	const struct header *header; /* the file's, or a copy */
	uint64_t bytes;              /* committed: a multiple of 4096 */
};

/*
 * Make a new arena file, INCOMPLETE. Without a source it has no root. With a source it has the source's
 * root, hash key and length, and no content yet (arena_copy.h). Generation and incarnation are new in both
 * cases.
 *
 * directory   descriptor of a directory on tmpfs (/dev/shm by default)
 * name        file name; must not exist (O_EXCL, O_NOFOLLOW; mode 0600)
 * max_bytes   largest size, and at first the budget; ARENA_BYTES_MIN .. _LIMIT
 * master      the key file's bytes
 * source      NULL: make an empty arena
 *
 * Returns     0; -EEXIST; -ENOSPC when even the first pages do not fit; other negative errno. On failure no
 *             file is left.
 */
int arena_create(struct arena *ret, int directory, const char *name, uint64_t generation, uint64_t max_bytes,
		 const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source);

/* Unmap and close. The file stays; the caller unlinks it if needed. */
void arena_close(struct arena *a);

/*
 * Set the header's state (release). LIVE makes a new file an arena. With LIVE the epoch of its root is
 * written after the state.
 */
void arena_set_state(struct arena *a, enum header_state state);

/*
 * Write the epoch of the newest root into the header; the root's offset must be there already. While the
 * file is INCOMPLETE this waits for arena_set_state(): INCOMPLETE with an epoch is a damaged state word.
 */
void arena_tell_epoch(struct arena *a, uint64_t epoch);

/* seq of the newest root; 0: there is none */
uint64_t arena_published_seq(const struct arena *a);

/*
 * Allocate a block. Type, length and aux are set in its header. Payload and tag are not set.
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
 * Limit the arena's memory; max_bytes at first. May be called at any time. If the arena has more memory
 * already, it stops growing until it has less.
 */
void arena_set_budget(struct arena *a, uint64_t bytes);
uint64_t arena_budget(const struct arena *a);

/*
 * Upper bound of what a change allocates: bytes in total (block_footprint()), in blocks of at most
 * `largest`.
 */
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
 * Reserve room for a change. After success no allocation fails until `need` is used up. Sizes and order of
 * the blocks, and blocks freed meanwhile, do not matter. 0, -ENOSPC.
 *
 * The bytes may come from several free runs of at least `need.largest` (books_fits()). If free runs do not
 * suffice, the file grows, and then room is made.
 */
int arena_ensure(struct arena *a, struct arena_need need);

/*
 * The last ARENA_RESERVE bytes are a reserve for operations that free room: deletes and commits open it. For
 * all others the arena is full when only the reserve is left. Closed at first.
 */
#define ARENA_RESERVE (512u * 1024u)
void arena_open_reserve(struct arena *a, bool open);

/* True if an allocation was refused for lack of room since the last call. */
bool arena_was_refused(struct arena *a);

/*
 * Set a callback for a full arena, called before an allocation is refused. It makes room and returns true if
 * it did; it is called again until the room suffices. It must not allocate blocks. NULL: no callback.
 */
void arena_on_full(struct arena *a, bool (*make_room)(void *context), void *context);

/* Shorten a block that is not sealed yet; the rest is freed. */
void arena_trim_block(struct arena *a, uint32_t ref, uint32_t length);

/*
 * Set the tag; the payload must not change afterwards. The second form takes the content hash from the
 * caller.
 */
void arena_seal(struct arena *a, uint32_t ref);
void arena_seal_hashed(struct arena *a, uint32_t ref, uint64_t content_hash);

/* Free a block that no published root reaches. */
void arena_free(struct arena *a, uint32_t ref);

/*
 * Retire a block that the current root may still reach: it is freed once no reader can see it. Never fails:
 * without memory for the note the block is leaked until the next generation, and counted.
 */
void arena_retire(struct arena *a, uint32_t ref);

/* Set the epoch that the next commit will publish. Blocks retired from now on carry it. */
void arena_set_working_epoch(struct arena *a, uint64_t epoch);

/*
 * Free blocks retired at or before horizon (lapsed blocks), oldest first. Each call works for some
 * milliseconds at most; later calls free the rest. Cost: proportional to the bytes freed
 */
void arena_reclaim(struct arena *a, uint64_t horizon);

/*
 * Places that revoked readers see (shm-layout/PROTOCOLS.md, Revoke; burial.h).
 *
 * see          A reader was revoked and may look at all blocks now in use. Their places are not allocated
 *              again after they are freed, until arena_dig_up(). Adds to earlier calls. Cost: proportional
 *              to the file, a millisecond for each 500 MiB.
 * punch        Frees the memory of pages in which nothing is in use any more, for some milliseconds at most.
 *              True while there is more. An allocation that finds no room does this itself.
 * dig up       No revoked reader is left: buried units become free, punched pages absent. Works in bounded
 *              parts like punch; true while there is more.
 * punch again  Frees punched pages that got memory again because a revoked reader touched them. Call it now
 *              and then; one system call when there is nothing to do.
 */
void arena_see(struct arena *a);
bool arena_punch(struct arena *a);
bool arena_dig_up(struct arena *a);
void arena_punch_again(struct arena *a);

/*
 * Rebuild the books of a copied arena. begin forgets everything. mark takes each reachable block once
 * (false: it was marked before). finish makes free runs of the rest. -EBADMSG: the block overlaps another
 * one, or has no memory. Pages without memory count as free, and get memory before use.
 */
int arena_books_begin(struct arena *a);
int arena_books_mark(struct arena *a, uint32_t ref, bool *ret_first);
void arena_books_finish(struct arena *a);

/*
 * Ask the kernel to make a huge page of the next 2 MiB of the file. (In a large arena lookups spend much of
 * their time on address translation.) Takes some milliseconds and does not disturb readers. False: nothing
 * more to gather for now.
 */
bool arena_gather_pages(struct arena *a);

/*
 * committed_bytes  size of the file = used + free + buried + absent
 * retired_bytes    of the used: waiting for readers; lapsed_bytes: waiting only for the next arena_reclaim()
 * present_bytes    of the committed: those with memory; absent and punched ones have none
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
