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
	uint64_t max_bytes;
	struct tag_keys keys;
	struct tag_root_key root_key;
	struct arena_private *private;	/* the books */
	char name[256];			/* file name within its directory */
};

#define ARENA_BYTES_MIN (4u << 20)
#define ARENA_BYTES_LIMIT (((uint64_t)REF_MAX + 1) * REF_UNIT)

/*
 * Make a new arena file, INCOMPLETE, without a root.
 *
 * directory   descriptor of a directory on tmpfs (/dev/shm by default)
 * name        file name; must not exist (O_EXCL, O_NOFOLLOW; mode 0600)
 * max_bytes   to which size it may grow; ARENA_BYTES_MIN .. ARENA_BYTES_LIMIT
 * master      the key file's bytes
 *
 * Returns     0; -EEXIST; -ENOSPC when even the first pages do not fit; other negative errno. On failure no
 *             file is left.
 */
int arena_create(struct arena *ret, int directory, const char *name, uint64_t generation, uint64_t max_bytes,
		 const uint8_t master[TAG_MASTER_BYTES]);

/* The same in a memfd, with random keys: for tests and tools that need no daemon. */
int arena_create_private(struct arena *ret, uint64_t max_bytes);

/*
 * Make a new arena file whose blocks are those of another one, byte for byte at the same offsets, with an
 * identity of its own (generation, incarnation; hash_key is kept, for the index tries depend on it). Its
 * books say "all used": see arena_books_*.
 * source_fd     the other file; it is read, never mapped: it may have holes
 * source        its header, or a copy of it
 * source_bytes  how much of it to copy
 * Returns       as arena_create(); -EIO when less can be read
 */
int arena_create_copy(struct arena *ret, int directory, const char *name, uint64_t generation,
		      uint64_t max_bytes, const uint8_t master[TAG_MASTER_BYTES], int source_fd,
		      const struct header *source, uint64_t source_bytes);

/* Unmap and close. The file stays; whoever made it decides about its name. */
void arena_close(struct arena *a);

/* Sets state; release. LIVE is what makes a new file an arena. */
void arena_set_state(struct arena *a, enum header_state state);

/* Keyed BLAKE2b over a header's identity, as it should stand in header.tag. */
void arena_identity_tag(const struct tag_root_key *key, const struct header *h, uint8_t ret_tag[32]);

/* The key_id that belongs to a key file. */
void arena_key_id(const uint8_t master[TAG_MASTER_BYTES], uint8_t ret_id[16]);

/*
 * Allocate a block. The header's type, length and aux are set, the payload is not zeroed, the tag is not set.
 *
 * ret_ref   set on success only
 * Returns   0; -ENOSPC the tmpfs, the memory cgroup or max_bytes is exhausted; -E2BIG payload above
 *           BLOCK_LENGTH_MAX; -ENOMEM private memory
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
 * Make sure that blocks of `bytes` in all can be had: after success, allocations of that much (footprints,
 * see block_footprint()) do not fail. 0, -ENOSPC.
 */
int arena_ensure(struct arena *a, uint64_t bytes);

/*
 * The last ARENA_RESERVE bytes are kept for what makes room: deletes and commits open the reserve; whatever
 * adds finds the arena full before it is touched. Closed at first.
 */
#define ARENA_RESERVE (512u * 1024u)
void arena_open_reserve(struct arena *a, bool open);

/* Was anything refused for want of room since this was asked last? */
bool arena_was_refused(struct arena *a);

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

/* Free what was retired at or before horizon. Cost: proportional to what is freed. */
void arena_reclaim(struct arena *a, uint64_t horizon);

/*
 * Rebuild the books of a copied arena: begin forgets everything, mark takes each reachable block once (false:
 * it was marked before), finish makes free space of the rest. A block that overlaps another one is refused
 * with -EBADMSG.
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

struct arena_stats {
	uint64_t committed_bytes, used_bytes, retired_bytes, free_bytes, private_bytes, leaked_blocks;
	uint64_t blocks;
	uint64_t retired_since_bytes;	/* of retired_bytes: since the working epoch was set */
};
void arena_stats(const struct arena *a, struct arena_stats *ret);

/* For tests: let the next n allocations succeed and fail the one after (UINT64_MAX: never fail). */
void arena_fail_after(struct arena *a, uint64_t n);

#endif
