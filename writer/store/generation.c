/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations: finding the arena to start from, carrying its content over, making the switch.
 */
#include "writer/store/generation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/root.h"
#include "shm-layout/walk.h"
#include "writer/store/commit.h"
#include "writer/store/generation_file.h"
#include "shm-layout/time_ns.h"

#define NAME_TRIES 32u                  /* names of others passed over; each step may be twice as wide */

/* Is the identity the one that the holder of our key wrote? */
static int
check_identity(const struct arena_place *place, const struct header *h, const char **why)
{
	struct tag_keys keys;
	struct tag_root_key root_key;
	uint8_t id[16], tag[32];
	int r = 0;

	arena_key_id(place->master, id);
	tag_derive(place->master, &keys, &root_key);
	arena_identity_tag(&root_key, h, tag);
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

/* ---- the walk that checks and rebuilds ---- */

struct rebuild {
	struct arena *arena;
	struct intern *intern;
	uint64_t blocks;
	uint32_t bad_ref;
	const char *why;
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
	rb->bad_ref = ref;
	r = arena_books_mark(rb->arena, ref, &marked);
	if (r == 0 && !marked && type == BLOCK_TOMBSTONE) /* by-seq and several keys lead to it */
		return 0;
	if (r < 0 || !marked) {
		rb->why = "it overlaps another block";
		return -EBADMSG;
	}
	if (!tag_block_ok(&rb->arena->keys, ref_offset(ref), b)) {
		rb->why = "its tag is wrong";
		return -EBADMSG;
	}
	rb->blocks++;
	return 1;
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

/* Check the copy and rebuild its books. 0; -EBADMSG with a sentence in message; -ENOMEM. */
static int
rebuild_books(struct arena *a, struct intern **ret_intern, uint64_t *ret_blocks, char *message, size_t size)
{
	uint64_t root_offset = atomic_load_explicit(&a->header->root, memory_order_relaxed);
	struct rebuild rb = {.arena = a, .intern = intern_new(a)};
	struct walk_visitor visitor = {rebuild_block, &rb};
	struct walk_damage damage;
	uint8_t tag[TAG_ROOT_BYTES];
	const struct root *root;
	int r;

	if (!rb.intern)
		return -ENOMEM;
	r = arena_books_begin(a);
	root = r == 0 ? root_at(&a->view, root_offset) : NULL;
	if (r == 0 && !root) {
		snprintf(message, size, "the header's root offset %" PRIu64 " leads to no root", root_offset);
		r = -EBADMSG;
	}
	if (r == 0) {
		commit_root_tag(a, (uint32_t)(root_offset / REF_UNIT), tag);
		if (sodium_memcmp(tag, root->tag, sizeof(tag)) != 0) {
			snprintf(message, size, "the root at offset %" PRIu64 " has a wrong tag",
				 root_offset);
			r = -EBADMSG;
		}
	}
	if (r == 0) {
		r = walk_root(&a->view, root_offset, &visitor, &damage);
		if (r == -EBADMSG && rb.why)
			snprintf(message, size, "block %" PRIu64 " (%s): %s", ref_offset(rb.bad_ref),
				 type_name(a, rb.bad_ref), rb.why);
		else if (r == -EBADMSG)
			snprintf(message, size, "block %" PRIu64 " (%s): %s", ref_offset(damage.ref),
				 type_name(a, damage.ref), damage.why ? damage.why : "it is damaged");
	}
	if (r < 0) {
		intern_free(rb.intern);
		return r;
	}
	arena_books_finish(a);
	*ret_intern = rb.intern;
	*ret_blocks = rb.blocks;
	return 0;
}

/* ---- making the new file ---- */

/* The next one's name is taken, by someone else: on to another, wider each time, so that nobody can have them
 * all. */
static void
pass_over(struct adoption *ret, unsigned tries)
{
	ret->generation += 1 + randombytes_uniform(UINT32_C(1) << (tries < 31 ? tries : 31));
}

/*
 * A new arena file: empty, or with the blocks of another one (source_fd, its header and its committed bytes).
 * ret->generation  the number wished for; the one that it got
 */
static int
create_file(const struct arena_place *place, int source_fd, const struct header *source, uint64_t bytes,
	    struct arena *ret_arena, struct adoption *ret)
{
	int r = -EEXIST;

	for (unsigned tries = 0; r == -EEXIST && tries < NAME_TRIES; tries++) {
		char name[256];

		if (tries > 0)
			pass_over(ret, tries);
		generation_file_name(place, ret->generation, name, sizeof(name));
		r = source ? arena_create_copy(ret_arena, place->directory, name, ret->generation,
					       place->max_bytes, place->master, source_fd, source, bytes)
			   : arena_create(ret_arena, place->directory, name, ret->generation,
					  place->max_bytes, place->master);
	}
	return r;
}

/* A new generation with source's content. On failure nothing is left. */
static int
carry_over(const struct arena_place *place, int source_fd, const struct header *source, uint64_t bytes,
	   struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret)
{
	uint64_t start = time_ns(CLOCK_MONOTONIC), copied;
	char why[384] = "";
	int r = create_file(place, source_fd, source, bytes, ret_arena, ret);

	if (r < 0) {
		snprintf(ret->message, sizeof(ret->message),
			 "arena generation %" PRIu64 " (%" PRIu64 " MiB) cannot be copied: %s",
			 source->generation, bytes >> 20,
			 r == -ENOSPC ? "two generations do not fit into the memory allowed" : strerror(-r));
		return r;
	}
	copied = time_ns(CLOCK_MONOTONIC);
	r = rebuild_books(ret_arena, ret_intern, &ret->blocks, why, sizeof(why));
	if (r < 0) {
		snprintf(ret->message, sizeof(ret->message), "arena generation %" PRIu64 " is damaged: %s",
			 source->generation, r == -EBADMSG ? why : strerror(-r));
		unlinkat(place->directory, ret_arena->name, 0);
		arena_close(ret_arena);
		return r;
	}
	ret->bytes = bytes;
	ret->copy_ns = copied - start;
	ret->verify_ns = time_ns(CLOCK_MONOTONIC) - copied;
	return 0;
}

/* Out of the way, under a name that one can look at; only the latest such file is kept. */
static void
set_aside(const struct arena_place *place, const char *name, char *message, size_t size)
{
	char bad[256];
	size_t used = strlen(message);

	snprintf(bad, sizeof(bad), "%s.bad", place->prefix);
	if (renameat(place->directory, name, place->directory, bad) == 0)
		snprintf(message + used, size - used, "; set aside as %s", bad);
	else
		unlinkat(place->directory, name, 0);
}

static int
new_arena(const struct arena_place *place, struct arena *ret_arena, struct adoption *ret)
{
	int r = create_file(place, -1, NULL, 0, ret_arena, ret);

	if (r < 0)
		snprintf(ret->message, sizeof(ret->message),
			 "arena file %s.%" PRIu64 " cannot be created: %s%s", place->prefix, ret->generation,
			 strerror(-r),
			 r == -ENOSPC ? " (tmpfs full, or the memory cgroup's limit is near)" : "");
	return r;
}

int
generation_adopt(const struct arena_place *place, struct arena *ret_arena, struct intern **ret_intern,
		 struct adoption *ret)
{
	uint64_t generations[GENERATIONS_MAX];
	unsigned strangers = 0;
	int count = generation_files_find(place, generations, &strangers);

	*ret = (struct adoption){.how = ADOPTION_NEW, .strangers = strangers, .old_fd = -1};
	*ret_intern = NULL;
	if (count < 0) {
		snprintf(ret->message, sizeof(ret->message), "the arena's directory cannot be read: %s",
			 strerror(-count));
		return count;
	}
	ret->generation = count ? generations[0] + 1 : 1;
	for (int i = 0; i < count; i++) {
		struct generation_file old;
		const char *why = "";
		char name[256];
		int r;

		generation_file_name(place, generations[i], name, sizeof(name));
		r = generation_file_open(place, name, &old, &why);
		if (r == 0)
			r = check_identity(place, old.header, &why);
		if (r == -EAGAIN) { /* a writer died while it made it */
			generation_file_close(&old, false);
			unlinkat(place->directory, name, 0);
			continue;
		}
		if (r < 0) {
			generation_file_close(&old, false);
			ret->how = ADOPTION_REBUILD;
			snprintf(ret->message, sizeof(ret->message), "arena file %s cannot be used: %s", name,
				 why);
			if (r != -EPERM)
				set_aside(place, name, ret->message, sizeof(ret->message));
			continue;
		}
		r = carry_over(place, old.fd, old.header, old.bytes, ret_arena, ret_intern, ret);
		ret->old_generation = generations[i];
		if (r == 0) {
			ret->how = ADOPTION_ADOPTED;
			ret->old_fd = old.fd;
			generation_file_close(&old, true);
			return 0;
		}
		ret->how = ADOPTION_REBUILD;
		/* its readers keep it mapped; it gives way to the new one's pages as they let go */
		if (r == -ENOSPC) {
			generation_file_supersede(old.fd, ret->generation);
			unlinkat(place->directory, name, 0);
		} else if (r == -EBADMSG) {
			generation_file_supersede(old.fd, ret->generation);
			set_aside(place, name, ret->message, sizeof(ret->message));
		} else {
			generation_file_close(&old, false);
			return r;
		}
		generation_file_close(&old, false);
	}
	return new_arena(place, ret_arena, ret);
}

int
generation_renew(const struct arena_place *place, const struct arena *old, struct arena *ret_arena,
		 struct intern **ret_intern, struct adoption *ret)
{
	int r;

	*ret = (struct adoption){.how = ADOPTION_ADOPTED, .old_fd = -1};
	ret->old_generation = old->header->generation;
	ret->generation = ret->old_generation + 1;
	r = carry_over(place, old->fd, old->header, old->view.committed, ret_arena, ret_intern, ret);
	if (r < 0)
		return r;
	ret->old_fd = fcntl(old->fd, F_DUPFD_CLOEXEC, 3);
	return 0;
}

/* ---- the switch ---- */

void
generation_finish(const struct arena_place *place, struct arena *arena, struct adoption *adoption)
{
	uint64_t generations[GENERATIONS_MAX] = {0};
	unsigned strangers;
	int count;

	arena_set_state(arena, HEADER_LIVE);
	if (adoption->old_fd >= 0) {
		generation_file_supersede(adoption->old_fd, adoption->generation);
		close(adoption->old_fd);
		adoption->old_fd = -1;
	}
	count = generation_files_find(place, generations, &strangers);
	for (int i = 0; i < count; i++) {
		struct generation_file old;
		const char *why;
		char name[256];

		if (generations[i] == adoption->generation)
			continue;
		generation_file_name(place, generations[i], name, sizeof(name));
		if (generation_file_open(place, name, &old, &why) == 0)
			generation_file_supersede(old.fd, adoption->generation);
		generation_file_close(&old, false);
		unlinkat(place->directory, name, 0);
	}
}
