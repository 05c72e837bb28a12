/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations: finding the arena to start from, what cannot be used, making the switch.
 */
#include "writer/store/generation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/arena/arena_copy.h"
#include "writer/store/generation_carry.h"
#include "writer/store/generation_check.h"
#include "writer/store/generation_file.h"

/* ---- what cannot be used ---- */

static void
bad_name(const struct arena_place *place, char *name, size_t size)
{
	snprintf(name, size, "%s.bad", place->prefix);
}

/* Out of the way, under a name that one can look at; only the latest such file is kept. */
static void
set_aside(const struct arena_place *place, const char *name, struct adoption *ret)
{
	char bad[256];
	size_t used = strlen(ret->message);

	bad_name(place, bad, sizeof(bad));
	if (renameat(place->directory, name, place->directory, bad) == 0)
		snprintf(ret->message + used, sizeof(ret->message) - used, "; set aside as %s", bad);
	else
		unlinkat(place->directory, name, 0);
}

/* To look at it is not worth a start, nor who reads there. Whether there was one. */
static bool
drop_bad(const struct arena_place *place, uint64_t successor)
{
	struct generation_file file;
	const char *why;
	char bad[256];
	int r;

	bad_name(place, bad, sizeof(bad));
	r = generation_file_open(place, bad, &file, &why);
	/* a header with a hole cannot be written to where there is no memory */
	if (r != -EPERM && file.header && lseek(file.fd, 0, SEEK_HOLE) >= (off_t)HEADER_BYTES)
		generation_file_give_back(file.fd, successor);
	generation_file_close(&file, false);
	return unlinkat(place->directory, bad, 0) == 0;
}

/*
 * Of these files those go that another one has replaced, or that were never finished; or all, but for the
 * successor. Memory that readers hold there is taken.
 */
static void
clear_away(const struct arena_place *place, const uint64_t *generations, int count, bool all,
	   uint64_t successor)
{
	for (int i = 0; i < count; i++) {
		struct generation_file old;
		const char *why;
		char name[256];
		int r;

		if (generations[i] == successor)
			continue;
		generation_file_name(place, generations[i], name, sizeof(name));
		r = generation_file_open(place, name, &old, &why);
		if (r == 0 && (all || generation_file_superseded_by(&old) != 0 ||
			       generation_file_state(&old) == HEADER_REVOKED)) {
			generation_file_give_back(old.fd, successor);
			unlinkat(place->directory, name, 0);
		} else if (r == -EAGAIN || (r < 0 && all)) {
			unlinkat(place->directory, name, 0);
		}
		generation_file_close(&old, false);
	}
}

/* ---- starting ---- */

static int
new_arena(const struct arena_place *place, struct arena *ret_arena, struct adoption *ret)
{
	int r = generation_create(place, NULL, ret_arena, ret);

	if (r == -ENOSPC && drop_bad(place, ret->generation))
		r = generation_create(place, NULL, ret_arena, ret);
	if (r < 0)
		snprintf(ret->message, sizeof(ret->message),
			 "arena file %s.%" PRIu64 " cannot be created: %s%s", place->prefix, ret->generation,
			 strerror(-r),
			 r == -ENOSPC ? " (tmpfs full, or the memory cgroup's limit is near)"
			 : r == -ENOMEM
				 ? " (no address space for all that it may grow to? raise ulimit -v, or "
				   "lower --arena-max)"
				 : "");
	return r;
}

/*
 * A file that a writer did not finish. Where it was to take what is moved from another one, go on with that.
 * 0; -ENOENT it is nothing, and can go; -EBADMSG, other negative errno, with a message.
 */
static int
take_up(const struct arena_place *place, const char *name, uint64_t generation,
	struct generation_file *unfinished, struct arena *ret_arena, struct intern **ret_intern,
	struct adoption *ret)
{
	/* Relaxed, as all words of a copy. */
	uint64_t from = unfinished->header
				? atomic_load_explicit(&unfinished->header->moved_from, memory_order_relaxed)
				: 0;
	struct generation_file old;
	char old_name[256];
	const char *why;
	int r = -ENOENT;

	if (from == 0 || from >= generation)
		return -ENOENT;
	generation_file_name(place, from, old_name, sizeof(old_name));
	if (generation_file_open(place, old_name, &old, &why) == 0 &&
	    generation_check_identity(place, old.header, &why) == 0 &&
	    generation_file_state(&old) == HEADER_REVOKED && old.header->generation == from) {
		const struct arena_source source = {old.fd, old.header, old.bytes};

		ret->generation = generation;
		ret->old_generation = from;
		r = arena_copy_reopen(ret_arena, unfinished->fd, name, generation, place->max_bytes,
				      place->master, &source);
		if (r == 0) {
			unfinished->fd = -1; /* the arena's */
			r = generation_move_on(&source, ret_arena, ret_intern, ret);
		} else {
			snprintf(ret->message, sizeof(ret->message),
				 "arena file %s cannot be gone on with: %s", name, strerror(-r));
		}
		if (r == 0)
			ret->old_fd = old.fd;
	}
	generation_file_close(&old, r == 0);
	return r;
}

/*
 * A file that is good as far as its header goes: its content goes over to a new one.
 * 0; -EBADMSG it is damaged; other negative errno; with a message.
 */
static int
carry_over(const struct arena_place *place, struct generation_file *old, struct arena *ret_arena,
	   struct intern **ret_intern, struct adoption *ret)
{
	const struct arena_source source = {old->fd, old->header, old->bytes};
	int r;

	ret->old_generation = old->header->generation;
	r = generation_copy(place, &source, NULL, ret_arena, ret_intern, ret);
	if (r == -ENOSPC && drop_bad(place, ret->generation))
		r = generation_copy(place, &source, NULL, ret_arena, ret_intern, ret);
	if (r == -ENOSPC)
		r = generation_move(place, &source, ret_arena, ret_intern, ret);
	if (r == 0)
		ret->old_fd = old->fd;
	return r;
}

/* Is it what a writer may start from? 0; -EPERM, -EBADMSG with a constant text. */
static int
check_file(const struct arena_place *place, const struct generation_file *old, const char **why)
{
	int r = generation_check_identity(place, old->header, why);

	if (r == 0 && generation_file_state(old) == HEADER_REVOKED) {
		*why = "it was revoked";
		r = -EBADMSG;
	} else if (r == 0 && generation_file_superseded_by(old) != 0) {
		*why = "the one that replaced it is not there";
		r = -EBADMSG;
	}
	return r;
}

/* This file is damaged: what there is to look at is set aside. */
static void
put_away(const struct arena_place *place, const char *name, int fd, struct adoption *ret)
{
	char moved[256];

	generation_file_name(place, ret->generation, moved, sizeof(moved));
	if (ret->moved)
		unlinkat(place->directory, name, 0); /* nothing is left in it */
	else
		generation_file_supersede(fd, ret->generation);
	set_aside(place, ret->moved ? moved : name, ret);
	ret->moved = false;
}

/*
 * Start from this file; `older` are those below.
 * 0; -ENOENT not from this one: it has gone, or is of no use; other negative errno: no start; with a message.
 */
static int
start_from(const struct arena_place *place, uint64_t generation, const uint64_t *older, int count,
	   struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret)
{
	struct generation_file old;
	const char *why = "";
	char name[256];
	int r;

	generation_file_name(place, generation, name, sizeof(name));
	r = generation_file_open(place, name, &old, &why);
	if (r == -EAGAIN) {
		r = take_up(place, name, generation, &old, ret_arena, ret_intern, ret);
		if (r == -ENOENT)
			unlinkat(place->directory, name, 0);
		else if (r == -EBADMSG)
			set_aside(place, name, ret);
	} else {
		if (r == 0)
			r = check_file(place, &old, &why);
		if (r == 0) {
			clear_away(place, older, count, false, generation);
			r = carry_over(place, &old, ret_arena, ret_intern, ret);
			if (r == -EBADMSG)
				put_away(place, name, old.fd, ret);
		} else if (ret->how == ADOPTION_NEW) { /* of several the newest is told, and kept */
			snprintf(ret->message, sizeof(ret->message), "arena file %s cannot be used: %s", name,
				 why);
			if (r != -EPERM)
				set_aside(place, name, ret);
			r = -EBADMSG;
		} else {
			r = -EBADMSG;
		}
	}
	generation_file_close(&old, r == 0);
	if (r == -EBADMSG) {
		ret->how = ADOPTION_REBUILD;
		r = -ENOENT;
	}
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
	for (int i = 0; i < count; i++) {
		int r;

		ret->generation = generations[0] + 1;
		r = start_from(place, generations[i], &generations[i + 1], count - i - 1, ret_arena,
			       ret_intern, ret);
		if (r == 0) {
			ret->how = ADOPTION_ADOPTED;
			ret->message[0] = '\0';
		}
		if (r != -ENOENT)
			return r;
	}
	ret->generation = count ? generations[0] + 1 : 1;
	clear_away(place, generations, count, false, ret->generation);
	return new_arena(place, ret_arena, ret);
}

/* ---- the switch ---- */

void
generation_finish(const struct arena_place *place, struct arena *arena, struct adoption *adoption)
{
	uint64_t generations[GENERATIONS_MAX] = {0}, others[GENERATIONS_MAX];
	unsigned strangers;
	int count, other = 0;

	if (atomic_load_explicit(&arena->header->state, memory_order_relaxed) == HEADER_INCOMPLETE)
		arena_set_state(arena, HEADER_LIVE);
	if (adoption->old_fd >= 0) {
		generation_file_supersede(adoption->old_fd, adoption->generation);
		adoption->superseded_ns = time_ns(CLOCK_BOOTTIME);
	}
	if (adoption->moved)
		generation_give_back(place, adoption);
	count = generation_files_find(place, generations, &strangers);
	for (int i = 0; i < count; i++)
		if (adoption->old_fd < 0 || generations[i] != adoption->old_generation)
			others[other++] = generations[i];
	clear_away(place, others, other, true, adoption->generation);
}

/* ---- what was replaced ---- */

static void
forget_old(const struct arena_place *place, struct adoption *adoption)
{
	char name[256];

	generation_file_name(place, adoption->old_generation, name, sizeof(name));
	unlinkat(place->directory, name, 0);
	close(adoption->old_fd);
	adoption->old_fd = -1;
}

bool
generation_give_back(const struct arena_place *place, struct adoption *adoption)
{
	if (adoption->old_fd < 0)
		return false;
	generation_file_give_back(adoption->old_fd, adoption->generation);
	forget_old(place, adoption);
	return true;
}

bool
generation_expire(const struct arena_place *place, struct adoption *adoption, uint64_t now_ns,
		  uint64_t patience_ns)
{
	if (adoption->old_fd < 0)
		return false;
	if (!generation_file_is_read(adoption->old_fd)) {
		forget_old(place, adoption);
		return false;
	}
	return now_ns - adoption->superseded_ns >= patience_ns && generation_give_back(place, adoption);
}

void
generation_leave(struct adoption *adoption)
{
	if (adoption->old_fd >= 0)
		close(adoption->old_fd);
	adoption->old_fd = -1;
}
