/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a new generation with the content of an old one: copies the file, and checks the copy before readers
 * are sent there.
 */
#include "writer/store/generation_carry.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/arena/arena_pages.h"
#include "writer/arena/memory_limit.h"
#include "writer/store/generation_check.h"
#include "writer/store/generation_file.h"

#define NAME_TRIES 32u /* names taken by other users */

/* ---- creating the new file ---- */

/*
 * Another user's file has the next name: try another one. Each step is random and may be twice as wide as the
 * last, so that no user can take all names.
 */
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
		r = arena_create(ret_arena, place->directory, name, ret->generation, place->max_bytes,
				 place->master, source);
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
	/* Relaxed: a header that no process changes, or a copy. */
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

/* Check the finished copy. On failure the file stays as it is. */
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

static void
tell_no_copy(const struct arena_place *place, const struct arena_source *source, int r, struct adoption *ret)
{
	uint64_t left = memory_limit_left();
	struct statvfs fs;

	if (fstatvfs(place->directory, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < left)
		left = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (r == -ENOSPC)
		snprintf(ret->message, sizeof(ret->message),
			 "arena generation %" PRIu64 " has %" PRIu64 " KiB, and there is room for %" PRIu64
			 " KiB beside it: enlarge its tmpfs, or raise the memory limit, and it is kept over "
			 "a restart",
			 source->header->generation, arena_pages_taken(source->fd) >> 10, left >> 10);
	else
		snprintf(ret->message, sizeof(ret->message),
			 "arena generation %" PRIu64 " (%" PRIu64 " MiB) cannot be copied: %s",
			 source->header->generation, source->bytes >> 20, strerror(-r));
}

int
generation_copy(const struct arena_place *place, const struct arena_source *source, struct arena *ret_arena,
		struct intern **ret_intern, struct adoption *ret)
{
	uint64_t begun = time_ns(CLOCK_MONOTONIC);
	int r = generation_create(place, source, ret_arena, ret);

	if (r == 0) {
		r = arena_copy_all(ret_arena, source);
		if (r < 0)
			drop_file(place, ret_arena);
	}
	if (r < 0) {
		tell_no_copy(place, source, r, ret);
		return r;
	}
	r = check_new(ret_arena, source, ret_intern, ret, begun);
	if (r < 0)
		drop_file(place, ret_arena);
	return r;
}
