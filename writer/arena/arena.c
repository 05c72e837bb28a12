/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena file: made, mapped once at its maximum size, grown under its mapping; blocks made, sealed, given
 * back.
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

#include "shm-layout/huge_map.h"
#include "writer/arena/arena_books.h"
#include "writer/arena/arena_pages.h"
#include "shm-layout/time_ns.h"

#define GROWTH_MIN (512ull * 1024)
#define GROWTH_MAX (32ull * 1024 * 1024)

/* What belongs to the books and is not part of the contract. */
struct arena_private {
	struct arena_books *books;
	uint64_t blocks;
	uint64_t huge_bytes;	/* so far the file was offered to the kernel as huge pages */
	uint64_t working_epoch;
	uint64_t retired_since_bytes;
	uint64_t leaked_blocks;
	uint64_t fail_after;
	bool reserve_open;
	bool refused;
};

/* ---- size ---- */

/*
 * How long the file shall be: by an eighth more, and by what is needed; from 4 MiB on a multiple of 2 MiB, so
 * that all of it can stand in huge pages.
 */
static uint64_t
comfortable_bytes(const struct arena *a, uint64_t need)
{
	uint64_t old = a->view.committed, step = old / 8,
		 unit = old < 2 * HUGE_PAGE_BYTES ? 4096 : HUGE_PAGE_BYTES, bytes;

	step = step < GROWTH_MIN ? GROWTH_MIN : step > GROWTH_MAX ? GROWTH_MAX : step;
	bytes = (old + (need > step ? need : step) + unit - 1) / unit * unit;
	return bytes < a->max_bytes ? bytes : a->max_bytes;
}

static int
arena_grow(struct arena *a, uint64_t need)
{
	uint64_t old = a->view.committed, least = (old + need + 4095) & ~4095ull,
		 bytes = comfortable_bytes(a, need);
	int r;

	if (least > a->max_bytes)
		return -ENOSPC;
	r = arena_pages_extend(a->fd, a->header, old, bytes);
	if (r < 0 && least < bytes) { /* no room for comfort */
		bytes = least;
		r = arena_pages_extend(a->fd, a->header, old, bytes);
	}
	if (r < 0)
		return r;
	books_extend(a->private->books, old / REF_UNIT, bytes / REF_UNIT);
	a->view.committed = bytes;
	/*
	 * Readers may touch the new bytes from here on. Meets the acquire loads in open_snapshot() and
	 * snapshot_stretch() (reader-lib/attach/snapshot.c): the pages were allocated before. Without it a
	 * reader could follow a ref beyond what the file has (SIGBUS).
	 */
	atomic_store_explicit(&a->header->committed_bytes, bytes, memory_order_release);
	return 0;
}

bool
arena_gather_pages(struct arena *a)
{
	uint64_t from = a->private->huge_bytes;

	if (from + HUGE_PAGE_BYTES > a->view.committed)
		return false;
	arena_pages_gather((uint8_t *)a->header + from); /* or not: the region is not offered again */
	a->private->huge_bytes = from + HUGE_PAGE_BYTES;
	return a->private->huge_bytes + HUGE_PAGE_BYTES <= a->view.committed;
}

/* ---- making ---- */

void
arena_key_id(const uint8_t master[TAG_MASTER_BYTES], uint8_t ret_id[16])
{
	crypto_generichash(ret_id, 16, master, TAG_MASTER_BYTES, (const uint8_t *)"informer key id", 15);
}

void
arena_identity_tag(const struct tag_root_key *key, const struct header *h, uint8_t ret_tag[32])
{
	crypto_generichash(ret_tag, 32, (const uint8_t *)h, HEADER_IDENTITY_BYTES, key->key,
			   sizeof(key->key));
}

static void
write_identity(struct arena *a, uint64_t generation, const uint8_t master[TAG_MASTER_BYTES],
	       const uint8_t hash_key[16])
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
	if (hash_key)
		memcpy(h->hash_key, hash_key, sizeof(h->hash_key));
	else
		randombytes_buf(h->hash_key, sizeof(h->hash_key));
	arena_key_id(master, h->key_id);
	arena_identity_tag(&a->root_key, h, h->tag);
}

/*
 * Take over fd: reserve `bytes`, map, set up books and keys. On failure fd stays the caller's.
 */
static int
arena_set_up(struct arena *a, int fd, uint64_t bytes, uint64_t max_bytes,
	     const uint8_t master[TAG_MASTER_BYTES])
{
	struct arena_private *private;
	void *base;
	int r;

	if (max_bytes < ARENA_BYTES_MIN || max_bytes > ARENA_BYTES_LIMIT || bytes > max_bytes)
		return -EINVAL;
	base = huge_map(max_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
	if (base == MAP_FAILED)
		return -ENOMEM;
	r = arena_pages_extend(fd, base, 0, bytes);
	if (r < 0) {
		munmap(base, max_bytes);
		return r;
	}
	private = calloc(1, sizeof(*private));
	if (private)
		private->books = books_new(base, max_bytes / REF_UNIT);
	if (!private || !private->books) {
		free(private);
		munmap(base, max_bytes);
		return -ENOMEM;
	}
	private->fail_after = UINT64_MAX;
	a->view.base = base;
	a->view.committed = bytes;
	a->view.verifier = NULL;
	a->header = base;
	a->fd = fd;
	a->max_bytes = max_bytes;
	a->private = private;
	tag_derive(master, &a->keys, &a->root_key);
	return 0;
}

static int
open_new_file(int directory, const char *name)
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
	     const uint8_t master[TAG_MASTER_BYTES])
{
	struct arena a = {0};
	uint64_t bytes = HEADER_BYTES + ARENA_RESERVE;
	int fd, r;

	if (strlen(name) >= sizeof(a.name))
		return -ENAMETOOLONG;
	fd = open_new_file(directory, name);
	if (fd < 0)
		return fd;
	r = arena_set_up(&a, fd, bytes, max_bytes, master);
	if (r < 0) {
		close(fd);
		unlinkat(directory, name, 0);
		return r;
	}
	memcpy(a.name, name, strlen(name) + 1);
	write_identity(&a, generation, master, NULL);
	books_extend(a.private->books, HEADER_BYTES / REF_UNIT, bytes / REF_UNIT);
	/*
	 * Nobody has the file yet; the state word, which arena_set_state() stores later, orders all of it.
	 */
	atomic_store_explicit(&a.header->committed_bytes, bytes, memory_order_release);
	*ret = a;
	return 0;
}

int
arena_create_private(struct arena *ret, uint64_t max_bytes)
{
	struct arena a = {0};
	uint8_t master[TAG_MASTER_BYTES];
	uint64_t bytes = HEADER_BYTES + ARENA_RESERVE;
	int fd = memfd_create("informer-arena", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	randombytes_buf(master, sizeof(master));
	r = arena_set_up(&a, fd, bytes, max_bytes, master);
	if (r < 0) {
		close(fd);
		return r;
	}
	write_identity(&a, 1, master, NULL);
	books_extend(a.private->books, HEADER_BYTES / REF_UNIT, bytes / REF_UNIT);
	/* As in arena_create(). */
	atomic_store_explicit(&a.header->committed_bytes, bytes, memory_order_release);
	*ret = a;
	return 0;
}

/* All of [from, to) of a file into memory: 0, negative errno, -EIO when the file is shorter. */
static int
read_range(int fd, uint8_t *base, uint64_t from, uint64_t to)
{
	while (from < to) {
		ssize_t n = pread(fd, base + from, to - from, (off_t)from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += (uint64_t)n;
	}
	return 0;
}

int
arena_create_copy(struct arena *ret, int directory, const char *name, uint64_t generation, uint64_t max_bytes,
		  const uint8_t master[TAG_MASTER_BYTES], int source_fd, const struct header *source,
		  uint64_t source_bytes)
{
	struct arena a = {0};
	int fd, r;

	if (strlen(name) >= sizeof(a.name))
		return -ENAMETOOLONG;
	if (source_bytes < HEADER_BYTES || source_bytes % 4096 != 0)
		return -EINVAL;
	fd = open_new_file(directory, name);
	if (fd < 0)
		return fd;
	/* the tmpfs must hold the whole copy, but the pages are filled by the copy itself */
	r = arena_set_up(&a, fd, source_bytes, max_bytes > source_bytes ? max_bytes : source_bytes, master);
	if (r < 0) {
		close(fd);
		unlinkat(directory, name, 0);
		return r;
	}
	memcpy(a.name, name, strlen(name) + 1);
	r = read_range(source_fd, (uint8_t *)a.header, HEADER_BYTES, source_bytes);
	if (r < 0) {
		arena_close(&a);
		unlinkat(directory, name, 0);
		return r;
	}
	for (unsigned i = 0; i < RESOURCE_MAX; i++)
		atomic_store_explicit(
			&a.header->contact_boot_ns[i],
			atomic_load_explicit(&((struct header *)(uintptr_t)source)->contact_boot_ns[i],
					     memory_order_relaxed),
			memory_order_relaxed);
	write_identity(&a, generation, master, source->hash_key);
	/* Acquire, as for every reader of a root (publish() in commit.c), though nobody commits there now. */
	atomic_store_explicit(
		&a.header->root,
		atomic_load_explicit(&((struct header *)(uintptr_t)source)->root, memory_order_acquire),
		memory_order_relaxed);
	/* As in arena_create(). */
	atomic_store_explicit(&a.header->committed_bytes, source_bytes, memory_order_release);
	*ret = a;
	return 0;
}

void
arena_close(struct arena *a)
{
	struct arena_private *private = a->private;

	if (!a->header)
		return;
	books_free(private->books);
	free(private);
	munmap(a->header, a->max_bytes);
	close(a->fd);
	sodium_memzero(a, sizeof(*a));
	a->fd = -1;
}

void
arena_set_state(struct arena *a, enum header_state state)
{
	atomic_store_explicit(&a->header->heartbeat_boot_ns, time_ns(CLOCK_BOOTTIME), memory_order_relaxed);
	/*
	 * Meets the acquire loads in header_check() (shm-layout/header.c) and ring_usable()
	 * (reader-lib/events/ring.c): who sees LIVE sees the identity and the first root, who sees STALE
	 * the last commit. Without it LIVE could be believed of a header that is not written.
	 */
	atomic_store_explicit(&a->header->state, state, memory_order_release);
}

/* ---- blocks ---- */

static uint32_t
units_of_block(const struct arena *a, uint32_t ref)
{
	return (uint32_t)(block_footprint(block_length(arena_block(a, ref))) / REF_UNIT);
}

/* Would units more leave the reserve alone? */
static bool
has_room(const struct arena *a, uint64_t units)
{
	return a->private->reserve_open ||
	       books_free_units(a->private->books) >= units + ARENA_RESERVE / REF_UNIT;
}

void
arena_open_reserve(struct arena *a, bool open)
{
	a->private->reserve_open = open;
}

bool
arena_was_refused(struct arena *a)
{
	bool refused = a->private->refused;

	a->private->refused = false;
	return refused;
}

static int
find_room(struct arena *a, uint64_t bytes)
{
	uint64_t units = (bytes + REF_UNIT - 1) / REF_UNIT,
		 reserve = a->private->reserve_open ? 0 : ARENA_RESERVE;

	if (units > UINT32_MAX)
		return -ENOSPC;
	if (a->private->fail_after == 0)
		return -ENOSPC;
	if (has_room(a, units) && books_fits(a->private->books, (uint32_t)units))
		return 0;
	return arena_grow(a, units * REF_UNIT + reserve);
}

int
arena_ensure(struct arena *a, uint64_t bytes)
{
	int r = find_room(a, bytes);

	a->private->refused |= r == -ENOSPC;
	return r;
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
	ref = has_room(a, units) ? books_take(private->books, units) : 0;
	if (!ref) {
		int r = arena_ensure(a, (uint64_t)units * REF_UNIT);

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
	books_reclaim(a->private->books, horizon, give_block, a);
}

/* ---- rebuilding, statistics, tests ---- */

int
arena_books_begin(struct arena *a)
{
	struct arena_private *private = a->private;

	private->blocks = 0;
	return books_clear(private->books, HEADER_BYTES / REF_UNIT, a->view.committed / REF_UNIT);
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
}

void
arena_fail_after(struct arena *a, uint64_t n)
{
	a->private->fail_after = n;
}
