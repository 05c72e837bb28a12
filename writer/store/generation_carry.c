/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a new generation of the content of an old one: copies it, or moves it where two do not fit, and
 * checks what came of it before anybody is sent there.
 */
#include "writer/store/generation_carry.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/arena/arena_pages.h"
#include "writer/store/generation_check.h"
#include "writer/store/generation_file.h"

#define NAME_TRIES 32u /* names of others passed over; each step may be twice as wide */

/* ---- making the new file ---- */

/* The next one's name is taken, by someone else: on to another, wider each time, so that nobody can have them
 * all. */
static void
pass_over(struct adoption *ret, unsigned tries)
{
	ret->generation += 1 + randombytes_uniform(UINT32_C(1) << (tries < 31 ? tries : 31));
}

int
generation_create(const struct arena_place *place, const struct arena_source *source, struct arena *ret_arena,
		  struct adoption *ret)
{
	int r = -EEXIST;

	for (unsigned tries = 0; r == -EEXIST && tries < NAME_TRIES; tries++) {
		char name[256];

		if (tries > 0)
			pass_over(ret, tries);
		generation_file_name(place, ret->generation, name, sizeof(name));
		r = source ? arena_copy_create(ret_arena, place->directory, name, ret->generation,
					       place->max_bytes, place->master, source)
			   : arena_create(ret_arena, place->directory, name, ret->generation,
					  place->max_bytes, place->master);
	}
	return r;
}

static void
drop_file(const struct arena_place *place, struct arena *arena)
{
	unlinkat(place->directory, arena->name, 0);
	arena_close(arena);
}

static uint64_t
newest_epoch(const struct header *h)
{
	/* Relaxed: a header that nobody changes, or a copy. */
	return atomic_load_explicit(&((struct header *)(uintptr_t)h)->epoch, memory_order_relaxed);
}

static void
tell_bad(struct adoption *ret, const struct arena_source *source, int r, const char *why)
{
	snprintf(ret->message, sizeof(ret->message), "arena generation %" PRIu64 " %s: %s%s",
		 source->header->generation, r == -EBADMSG ? "is damaged" : "cannot be checked",
		 r == -EBADMSG ? why : strerror(-r),
		 r == -ENOMEM ? " (no address space for a second mapping? raise ulimit -v, or lower "
				"--arena-max)"
			      : "");
}

/* Everything is there: check it. On failure the file stays as it is. */
static int
check_new(struct arena *arena, const struct arena_source *source, struct intern **ret_intern,
	  struct adoption *ret, uint64_t begun_ns)
{
	uint64_t there = time_ns(CLOCK_MONOTONIC);
	char why[384] = "";
	int r = generation_check_copy(arena, newest_epoch(source->header), ret_intern, &ret->blocks, why,
				      sizeof(why));

	if (r < 0)
		tell_bad(ret, source, r, why);
	ret->bytes = source->bytes;
	ret->copy_ns = there - begun_ns;
	ret->verify_ns = time_ns(CLOCK_MONOTONIC) - there;
	return r;
}

/* ---- copying ---- */

int
generation_copy(const struct arena_place *place, const struct arena_source *source, const uint64_t *pages,
		struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret)
{
	uint64_t begun = time_ns(CLOCK_MONOTONIC);
	int r = generation_create(place, source, ret_arena, ret);

	if (r == 0) {
		r = arena_copy_all(ret_arena, source, pages);
		if (r < 0)
			drop_file(place, ret_arena);
	}
	if (r < 0) {
		snprintf(ret->message, sizeof(ret->message),
			 "arena generation %" PRIu64 " (%" PRIu64 " MiB) cannot be copied: %s",
			 source->header->generation, source->bytes >> 20,
			 r == -ENOSPC ? "two generations do not fit into the memory allowed" : strerror(-r));
		return r;
	}
	r = check_new(ret_arena, source, ret_intern, ret, begun);
	if (r < 0)
		drop_file(place, ret_arena);
	return r;
}

/* ---- moving ---- */

int
generation_move_on(const struct arena_source *source, struct arena *arena, struct intern **ret_intern,
		   struct adoption *ret)
{
	uint64_t begun = time_ns(CLOCK_MONOTONIC);
	int r = arena_copy_move(arena, source);

	ret->moved = true;
	if (r < 0)
		snprintf(ret->message, sizeof(ret->message),
			 "arena generation %" PRIu64
			 " cannot be moved on: %s; the next start goes on with it",
			 source->header->generation, strerror(-r));
	else
		r = check_new(arena, source, ret_intern, ret, begun);
	if (r < 0)
		arena_close(arena);
	return r;
}

/* Memory of pages in which nothing is in use. */
static void
punch_unused(const struct arena_source *source, const uint64_t *pages)
{
	uint64_t at = HEADER_BYTES, from = 0, to = 0;

	while (at < source->bytes) {
		if (arena_source_next(source, pages, at, &from, &to) <= 0)
			from = to = source->bytes;
		if (from > at)
			arena_pages_punch(source->fd, at, from);
		at = to;
	}
}

int
generation_move(const struct arena_place *place, const struct arena_source *source, struct arena *ret_arena,
		struct intern **ret_intern, struct adoption *ret)
{
	char why[384] = "";
	uint64_t *pages;
	int r = generation_check_file(place, source, &pages, why, sizeof(why));

	if (r < 0) {
		tell_bad(ret, source, r, why);
		return r;
	}
	/* without what nobody uses there may be room */
	r = generation_copy(place, source, pages, ret_arena, ret_intern, ret);
	if (r != -ENOSPC) {
		free(pages);
		return r;
	}
	r = generation_create(place, source, ret_arena, ret);
	if (r < 0) {
		free(pages); /* generation_copy()'s message stays */
		return r;
	}
	/*
	 * Relaxed: nobody reads them while we live. The source is named before it is revoked, and what is
	 * revoked for a file that names it is moved on by whoever comes after a kill.
	 */
	atomic_store_explicit(&ret_arena->header->moved_bytes, HEADER_BYTES, memory_order_relaxed);
	atomic_store_explicit(&ret_arena->header->moved_from, source->header->generation,
			      memory_order_release);
	if (!generation_file_revoke(source->fd, ret->generation)) {
		free(pages);
		drop_file(place, ret_arena);
		return -ENOMEM;
	}
	punch_unused(source, pages);
	free(pages);
	return generation_move_on(source, ret_arena, ret_intern, ret);
}
