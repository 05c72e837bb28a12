/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the arena file, maps it once at its maximum size, and makes, seals and frees blocks. arena_memory.c
 * allocates and frees its memory.
 */
#include "writer/arena/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/header_check.h"
#include "shm-layout/huge_map.h"
#include "shm-layout/root.h"
#include "writer/arena/arena_copy.h"
#include "writer/arena/arena_internal.h"
#include "writer/arena/arena_pages.h"
#include "shm-layout/time_ns.h"

/* Bytes that one call frees at most: some milliseconds. */
#define RECLAIM_BLOCKS 32768u

/* ---- creating ---- */

static void
write_identity(struct arena *a, uint64_t generation, const uint8_t master[TAG_MASTER_BYTES])
{
	struct header *h = a->header;

	h->magic = HEADER_MAGIC;
	h->layout_major = LAYOUT_MAJOR;
	h->layout_minor = LAYOUT_MINOR;
	h->byte_order = HEADER_BYTE_ORDER;
	h->fingerprint = header_fingerprint();
	h->generation = generation;
	randombytes_buf(h->incarnation, sizeof(h->incarnation));
	h->max_bytes = a->max_bytes;
	h->created_boot_ns = time_ns(CLOCK_BOOTTIME);
	h->created_wall_ns = time_ns(CLOCK_REALTIME);
	tag_key_id(master, h->key_id);
	tag_identity(&a->root_key, h, h->tag);
}

/*
 * Fields that a copy takes from its source's header. They do not change. Index tries depend on the hash key.
 */
static void
copy_header(struct header *h, const struct header *of)
{
	struct header *source = (struct header *)(uintptr_t)of;

	memcpy(h->hash_key, source->hash_key, sizeof(h->hash_key));
	for (unsigned i = 0; i < RESOURCE_MAX; i++)
		atomic_store_explicit(&h->contact_boot_ns[i],
				      atomic_load_explicit(&source->contact_boot_ns[i], memory_order_relaxed),
				      memory_order_relaxed);
	atomic_store_explicit(&h->server_release,
			      atomic_load_explicit(&source->server_release, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&h->root, atomic_load_explicit(&source->root, memory_order_relaxed),
			      memory_order_relaxed);
}

/* Free books and mapping; the descriptor stays open. */
static void
release(struct arena *a)
{
	books_free(a->private->books);
	free(a->private);
	munmap(a->header, a->max_bytes);
	sodium_memzero(a, sizeof(*a));
	a->fd = -1;
}

/* Map fd at its maximum size; set up books and keys. */
static int
set_up(struct arena *a, int fd, uint64_t max_bytes, const uint8_t master[TAG_MASTER_BYTES])
{
	struct arena_private *private;
	void *base;

	if (max_bytes < ARENA_BYTES_MIN || max_bytes > ARENA_BYTES_LIMIT)
		return -EINVAL;
	base = huge_map(max_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
	if (base == MAP_FAILED)
		return -ENOMEM;
	private = calloc(1, sizeof(*private));
	if (private)
		private->books = books_new(base, max_bytes / REF_UNIT);
	if (!private || !private->books) {
		free(private);
		munmap(base, max_bytes);
		return -ENOMEM;
	}
	private->fail_after = UINT64_MAX;
	private->budget = max_bytes;
	a->view.base = base;
	a->view.committed = 0;
	a->view.verifier = NULL;
	a->header = base;
	a->fd = fd;
	a->max_bytes = max_bytes;
	a->private = private;
	tag_derive(master, &a->keys, &a->root_key);
	return 0;
}

int
arena_make(struct arena *a, int fd, uint64_t generation, uint64_t max_bytes,
	   const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source)
{
	uint64_t bytes = source ? source->bytes : HEADER_BYTES + ARENA_RESERVE;
	int r;

	if (bytes < HEADER_BYTES || bytes % ARENA_COPY_PAGE != 0)
		return -EINVAL;
	r = set_up(a, fd, bytes > max_bytes ? bytes : max_bytes, master);
	if (r < 0)
		return r;
	r = arena_pages_extend(fd, a->header, 0, source ? HEADER_BYTES : bytes);
	if (r == 0 && ftruncate(fd, (off_t)bytes) < 0)
		r = -errno;
	if (r < 0) {
		release(a);
		return r;
	}
	a->view.committed = bytes;
	if (source) {
		copy_header(a->header, source->header);
	} else {
		randombytes_buf(a->header->hash_key, sizeof(a->header->hash_key));
		books_extend(a->private->books, HEADER_BYTES / REF_UNIT, bytes / REF_UNIT);
	}
	write_identity(a, generation, master);
	/*
	 * No reader has the file yet. The state word, stored later by arena_set_state(), publishes all of
	 * this.
	 */
	atomic_store_explicit(&a->header->committed_bytes, bytes, memory_order_release);
	return 0;
}

/* Make a file of this name. Returns its descriptor, or negative errno; then no file is left. */
static int
open_new(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0600) < 0) { /* whatever the umask was */
		int r = -errno;

		close(fd);
		unlinkat(directory, name, 0);
		return r;
	}
	return fd;
}

int
arena_create(struct arena *ret, int directory, const char *name, uint64_t generation, uint64_t max_bytes,
	     const uint8_t master[TAG_MASTER_BYTES], const struct arena_source *source)
{
	struct arena a = {0};
	int fd, r;

	if (strlen(name) >= sizeof(a.name))
		return -ENAMETOOLONG;
	fd = open_new(directory, name);
	if (fd < 0)
		return fd;
	r = arena_make(&a, fd, generation, max_bytes, master, source);
	if (r < 0) {
		close(fd);
		unlinkat(directory, name, 0);
		return r;
	}
	memcpy(a.name, name, strlen(name) + 1);
	*ret = a;
	return 0;
}

void
arena_close(struct arena *a)
{
	int fd = a->fd;

	if (!a->header)
		return;
	release(a);
	close(fd);
}

static const struct root *
newest_root(const struct arena *a)
{
	return root_at(&a->view, atomic_load_explicit(&a->header->root, memory_order_relaxed));
}

uint64_t
arena_published_seq(const struct arena *a)
{
	const struct root *root = newest_root(a);

	return root ? root->seq : 0;
}

void
arena_set_state(struct arena *a, enum header_state state)
{
	atomic_store_explicit(&a->header->heartbeat_boot_ns, time_ns(CLOCK_BOOTTIME), memory_order_relaxed);
	/*
	 * Meets the acquire loads in header_check() (shm-layout/header_check.c) and ring_usable()
	 * (reader-lib/events/ring.c): a reader that sees LIVE sees the identity and the first root, one that
	 * sees STALE the last commit. Without it a reader could see LIVE in a header that is not written yet.
	 */
	atomic_store_explicit(&a->header->state, state, memory_order_release);
	if (state == HEADER_LIVE) {
		const struct root *root = newest_root(a);

		if (root)
			arena_tell_epoch(a, root->epoch);
	}
}

void
arena_tell_epoch(struct arena *a, uint64_t epoch)
{
	if (atomic_load_explicit(&a->header->state, memory_order_relaxed) == HEADER_INCOMPLETE)
		return;
	/*
	 * W1'. Meets R2', slot_load_newest() (shm-layout/slot.h): a reader that loads this epoch loads its
	 * root, or a later one. Without it the reader could load the previous root and report damage.
	 */
	atomic_store_explicit(&a->header->epoch, epoch, memory_order_release);
}

/* ---- blocks ---- */

static uint32_t
units_of_block(const struct arena *a, uint32_t ref)
{
	return (uint32_t)(block_footprint(block_length(arena_block(a, ref))) / REF_UNIT);
}

int
arena_new_block(struct arena *a, enum block_type type, uint32_t length, uint32_t aux, uint32_t *ret_ref)
{
	struct arena_private *private = a->private;
	uint32_t units = (uint32_t)(block_footprint(length) / REF_UNIT), ref;
	struct block *b;

	if (length > BLOCK_LENGTH_MAX)
		return -E2BIG;
	if (private->fail_after != UINT64_MAX && private->fail_after-- == 0) {
		private->fail_after = 0;
		private->refused = true;
		return -ENOSPC;
	}
	ref = arena_has_room(a, units) ? books_take(private->books, units) : 0;
	if (!ref) {
		int r = arena_ensure(a,
				     (struct arena_need){block_footprint(length), block_footprint(length)});

		if (r < 0)
			return r;
		ref = books_take(private->books, units);
		if (!ref)
			return -ENOSPC;
	}
	b = arena_block(a, ref);
	b->tag = 0;
	b->type_length = (uint32_t)type << 28 | length;
	b->aux = aux;
	private->blocks++;
	*ret_ref = ref;
	return 0;
}

void
arena_trim_block(struct arena *a, uint32_t ref, uint32_t length)
{
	struct block *b = arena_block(a, ref);
	uint32_t before = units_of_block(a, ref), after;

	b->type_length = (b->type_length & ~BLOCK_LENGTH_MAX) | length;
	after = units_of_block(a, ref);
	if (after < before)
		books_give(a->private->books, ref + after, before - after);
}

void
arena_seal_hashed(struct arena *a, uint32_t ref, uint64_t content_hash)
{
	struct block *b = arena_block(a, ref);

	b->tag = tag_block(&a->keys, ref_offset(ref), b, content_hash);
}

void
arena_seal(struct arena *a, uint32_t ref)
{
	struct block *b = arena_block(a, ref);

	arena_seal_hashed(a, ref, tag_content_hash(&a->keys, b->payload, tag_covered(b)));
}

static uint32_t
give_block(void *context, uint32_t ref)
{
	struct arena *a = context;
	uint32_t units = units_of_block(a, ref);

	books_give(a->private->books, ref, units);
	a->private->blocks--;
	return units;
}

void
arena_free(struct arena *a, uint32_t ref)
{
	give_block(a, ref);
}

void
arena_retire(struct arena *a, uint32_t ref)
{
	struct arena_private *private = a->private;

	if (books_retire(private->books, ref, units_of_block(a, ref), private->working_epoch))
		private->retired_since_bytes += (uint64_t)units_of_block(a, ref) * REF_UNIT;
	else
		private->leaked_blocks++;
}

void
arena_set_working_epoch(struct arena *a, uint64_t epoch)
{
	a->private->working_epoch = epoch;
	a->private->retired_since_bytes = 0;
}

void
arena_reclaim(struct arena *a, uint64_t horizon)
{
	books_reclaim(a->private->books, horizon, RECLAIM_BLOCKS, give_block, a);
}

/* ---- rebuilding, statistics, tests ---- */

int
arena_books_begin(struct arena *a)
{
	const struct arena_source self = {a->fd, a->header, a->view.committed};
	uint64_t at = HEADER_BYTES, from = 0, to = 0;
	int r = books_clear(a->private->books, HEADER_BYTES / REF_UNIT, self.bytes / REF_UNIT);

	a->private->blocks = 0;
	for (; r >= 0 && at < self.bytes; at = to) {
		r = arena_source_next(&self, at, &from, &to);
		if (r == 0)
			from = to = self.bytes;
		if (r >= 0 && from > at)
			books_absent(a->private->books,
				     (struct page_run){at / BURIAL_PAGE, (from - at) / BURIAL_PAGE});
	}
	return r < 0 ? r : 0;
}

int
arena_books_mark(struct arena *a, uint32_t ref, bool *ret_first)
{
	int r = books_mark(a->private->books, ref, units_of_block(a, ref));

	if (r < 0)
		return -EBADMSG;
	*ret_first = r > 0;
	a->private->blocks += r > 0;
	return 0;
}

void
arena_books_finish(struct arena *a)
{
	books_fill(a->private->books);
}

void
arena_stats(const struct arena *a, struct arena_stats *ret)
{
	struct books_stats books;

	books_stats(a->private->books, &books);
	ret->committed_bytes = a->view.committed;
	ret->used_bytes = HEADER_BYTES + books.used_units * REF_UNIT;
	ret->retired_bytes = books.retired_units * REF_UNIT;
	ret->free_bytes = books.free_units * REF_UNIT;
	ret->private_bytes = books.private_bytes;
	ret->leaked_blocks = a->private->leaked_blocks;
	ret->blocks = a->private->blocks;
	ret->retired_since_bytes = a->private->retired_since_bytes;
	ret->lapsed_bytes = books.lapsed_units * REF_UNIT;
	ret->present_bytes = arena_present_bytes(a);
	ret->buried_bytes = books.buried_units * REF_UNIT;
	ret->punched_bytes = books.punched_units * REF_UNIT;
	ret->absent_bytes = books.absent_units * REF_UNIT;
	ret->budget_bytes = a->private->budget;
}

void
arena_fail_after(struct arena *a, uint64_t n)
{
	a->private->fail_after = n;
}
