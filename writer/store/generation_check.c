/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks all blocks that a root reaches in a copy, and rebuilds the books, before a writer uses the copy.
 * Pages without memory are not touched: on a full tmpfs that raises SIGBUS.
 */
#include "writer/store/generation_check.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm-layout/root.h"
#include "shm-layout/walk.h"
#include "writer/store/commit.h"

int
generation_check_identity(const struct arena_place *place, const struct header *h, const char **why)
{
	struct tag_keys keys;
	struct tag_root_key root_key;
	uint8_t id[16], tag[32];
	int r = 0;

	tag_key_id(place->master, id);
	tag_derive(place->master, &keys, &root_key);
	tag_identity(&root_key, h, tag);
	if (memcmp(id, h->key_id, sizeof(id)) != 0) {
		*why = "it was made with another key file";
		r = -EBADMSG;
	} else if (sodium_memcmp(tag, h->tag, sizeof(tag)) != 0) {
		*why = "the tag of its header is wrong";
		r = -EBADMSG;
	}
	sodium_memzero(&keys, sizeof(keys));
	sodium_memzero(&root_key, sizeof(root_key));
	return r;
}

/* ---- a mapping without holes ---- */

/* Map the file, with private zeroes where it has no memory. NULL: no memory. */
static uint8_t *
map_present(const struct arena_source *source)
{
	uint8_t *base = mmap(NULL, source->bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);
	uint64_t at = 0, from = 0, to = 0;
	int r;

	if (base == MAP_FAILED)
		return NULL;
	while ((r = arena_source_next(source, at, &from, &to)) > 0) {
		if (mmap(base + from, to - from, PROT_READ, MAP_SHARED | MAP_FIXED, source->fd,
			 (off_t)from) == MAP_FAILED) {
			r = -ENOMEM;
			break;
		}
		at = to;
	}
	if (r == 0)
		return base;
	munmap(base, source->bytes);
	return NULL;
}

/* ---- the walk ---- */

/* Check that the root is valid and is the one published last. */
static int
check_root(const struct arena *a, uint64_t offset, uint64_t newest, char *message, size_t size)
{
	const struct root *root = root_at(&a->view, offset);
	uint8_t tag[TAG_ROOT_BYTES];

	if (!root) {
		snprintf(message, size, "the header's root offset %" PRIu64 " leads to no root", offset);
		return -EBADMSG;
	}
	commit_root_tag(a, (uint32_t)(offset / REF_UNIT), tag);
	if (sodium_memcmp(tag, root->tag, sizeof(tag)) != 0) {
		snprintf(message, size, "the root at offset %" PRIu64 " has a wrong tag", offset);
		return -EBADMSG;
	}
	if (newest != 0 && root->epoch - newest > 1) { /* the root is stored first, then its epoch */
		snprintf(message, size,
			 "the root at offset %" PRIu64 " is not the newest (epoch %" PRIu64
			 ", the header says %" PRIu64 ")",
			 offset, root->epoch, newest);
		return -EBADMSG;
	}
	return 0;
}

static const char *
type_name(const struct arena *a, uint32_t ref)
{
#define BLOCK_TYPE_TEXT(name, number, text) [number] = (text),
	static const char *const names[] = {BLOCK_TYPES(BLOCK_TYPE_TEXT)};
#undef BLOCK_TYPE_TEXT
	const struct block *b = block_any(&a->view, ref);
	unsigned type = b ? block_type(b) : 0;

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "unknown";
}

/* Result of a walk: where the visitor met a bad block, and why. */
struct check {
	struct arena *arena;
	uint32_t bad_ref;
	const char *why;
};

/* Check the root, and walk from it with this visitor, whose context begins with a struct check. */
static int
check_all(struct check *c, uint64_t newest, const struct walk_visitor *visitor, char *message, size_t size)
{
	/* Relaxed: no process writes there now. */
	uint64_t offset = atomic_load_explicit(&c->arena->header->root, memory_order_relaxed);
	struct walk_damage damage = {0};
	int r = check_root(c->arena, offset, newest, message, size);

	if (r < 0)
		return r;
	r = walk_root(&c->arena->view, offset, visitor, &damage);
	if (r == -EBADMSG && !c->why) {
		c->bad_ref = damage.ref;
		c->why = damage.why ? damage.why : "it is damaged";
	}
	if (r == -EBADMSG)
		snprintf(message, size, "block %" PRIu64 " (%s): %s", ref_offset(c->bad_ref),
			 type_name(c->arena, c->bad_ref), c->why);
	return r;
}

static int
check_tag(struct check *c, uint32_t ref, const struct block *b)
{
	if (tag_load_ok(&c->arena->keys, ref_offset(ref), b, b->type_length))
		return 0;
	c->bad_ref = ref;
	c->why = "its tag is wrong";
	return -EBADMSG;
}

/* ---- a copy ---- */

struct rebuild {
	struct check check;
	struct intern *intern;
	uint64_t blocks;
};

static int
rebuild_block(void *context, uint32_t ref, const struct block *b)
{
	struct rebuild *rb = context;
	enum block_type type = block_type(b);
	bool first = true, marked;
	int r;

	if (type == BLOCK_VALUE || type == BLOCK_SHAPE) {
		r = intern_restore(rb->intern, ref, &first);
		if (r < 0)
			return r;
		if (!first)
			return 0;
	}
	r = arena_books_mark(rb->check.arena, ref, &marked);
	if (r == 0 && !marked && type == BLOCK_TOMBSTONE) /* by-seq and several keys lead to it */
		return 0;
	if (r < 0 || !marked) {
		rb->check.bad_ref = ref;
		rb->check.why = "it overlaps another block";
		return -EBADMSG;
	}
	r = check_tag(&rb->check, ref, b);
	if (r < 0)
		return r;
	rb->blocks++;
	return 1;
}

int
generation_check_copy(struct arena *a, uint64_t newest, struct intern **ret_intern, uint64_t *ret_blocks,
		      char *message, size_t size)
{
	const struct arena_source self = {a->fd, a->header, a->view.committed};
	struct rebuild rb = {.check = {.arena = a}, .intern = intern_new(a)};
	struct walk_visitor visitor = {rebuild_block, &rb};
	const uint8_t *base = a->view.base;
	uint8_t *present = NULL;
	struct arena_stats stats;
	int r;

	if (!rb.intern)
		return -ENOMEM;
	r = arena_books_begin(a);
	arena_stats(a, &stats);
	if (r == 0 && stats.absent_bytes > 0) {
		present = map_present(&self);
		r = present ? 0 : -ENOMEM;
	}
	if (r == 0) {
		a->view.base = present ? present : base;
		r = check_all(&rb.check, newest, &visitor, message, size);
		a->view.base = base;
	}
	if (present)
		munmap(present, self.bytes);
	if (r < 0) {
		intern_free(rb.intern);
		return r;
	}
	arena_books_finish(a);
	*ret_intern = rb.intern;
	*ret_blocks = rb.blocks;
	return 0;
}
