/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the arena file to start from, sets unusable files aside, and makes the switch to the new generation.
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

/* ---- unusable files ---- */

static void
bad_name(const struct arena_place *place, char *name, size_t size)
{
	snprintf(name, size, "%s.bad", place->prefix);
}

/* Rename the file so that a person can examine it. Only the latest such file is kept. */
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

/* Free the file that was set aside, even if readers have it open. True: there was one. */
static bool
drop_bad(const struct arena_place *place, uint64_t successor)
{
	struct generation_file file;
	const char *why;
	char bad[256];
	int r;

	bad_name(place, bad, sizeof(bad));
	r = generation_file_open(place, bad, &file, &why);
	/* without memory, a header with a hole cannot be written */
	if (r != -EPERM && file.header && lseek(file.fd, 0, SEEK_HOLE) >= (off_t)HEADER_BYTES)
		generation_file_give_back(file.fd, successor);
	generation_file_close(&file, false);
	return unlinkat(place->directory, bad, 0) == 0;
}

/*
 * Revoke and unlink the superseded and revoked files among these, and unlink unfinished ones; or (all) remove
 * all but the successor. True if a file was given back.
 */
static bool
clear_away(const struct arena_place *place, const uint64_t *generations, int count, bool all,
	   uint64_t successor)
{
	bool any = false;

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
			any = true;
		} else if (r == -EAGAIN || (r < 0 && all)) {
			unlinkat(place->directory, name, 0);
		}
		generation_file_close(&old, false);
	}
	return any;
}

/* ---- starting ---- */

/* Remove superseded files and the one that was set aside. True if one was given back. */
static bool
make_room(const struct arena_place *place, const uint64_t *older, int count, uint64_t successor)
{
	bool any = clear_away(place, older, count, false, successor);

	return drop_bad(place, successor) || any;
}

static int
new_arena(const struct arena_place *place, const uint64_t *generations, int count, struct arena *ret_arena,
	  struct adoption *ret)
{
	int r = generation_create(place, NULL, ret_arena, ret);

	if (r == -ENOSPC && make_room(place, generations, count, ret->generation))
		r = generation_create(place, NULL, ret_arena, ret);
	if (r == -ENOSPC && generation_give_back(place, ret))
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
 * Carry over the content of a file with a good header. `older`: files of lower generations. 0; -EBADMSG it is
 * damaged; -ENOSPC no memory for both; other negative errno; with a message. With 0 and -ENOSPC ret takes the
 * file's descriptor.
 */
static int
carry_over(const struct arena_place *place, struct generation_file *old, const uint64_t *older, int count,
	   struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret)
{
	const struct arena_source source = {old->fd, old->header, old->bytes};
	int r;

	ret->old_generation = old->header->generation;
	r = generation_copy(place, &source, ret_arena, ret_intern, ret);
	if (r == -ENOSPC && make_room(place, older, count, ret->generation))
		r = generation_copy(place, &source, ret_arena, ret_intern, ret);
	if (r == 0 || r == -ENOSPC)
		ret->old_fd = old->fd;
	return r;
}

/*
 * header_check()'s result, but -EPROTO for any other layout: readers may read such a file, but a writer does
 * not continue it, whichever layout is newer.
 */
static int
check_layout(struct generation_file *old, int r, const char **why)
{
	const struct header *h = old->header;

	if ((r < 0 && r != -EPROTO) || h->byte_order != HEADER_BYTE_ORDER ||
	    (h->layout_major == LAYOUT_MAJOR && h->layout_minor == LAYOUT_MINOR))
		return r;
	snprintf(old->why, sizeof(old->why), "it has layout %u.%u, and this informerd writes %u.%u",
		 h->layout_major, h->layout_minor, LAYOUT_MAJOR, LAYOUT_MINOR);
	*why = old->why;
	return -EPROTO;
}

/* Check if a writer may start from this file. 0; -EPERM, -EBADMSG with a constant text. */
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

/*
 * Start from this file. `older`: files of lower generations. 0; -ENOENT the file is gone or unusable; -ENOSPC
 * no memory for both; other negative errno: no start; with a message.
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
	r = check_layout(&old, r, &why);
	if (r == -EAGAIN) {
		unlinkat(place->directory, name, 0); /* its writer did not finish it */
		r = -ENOENT;
	} else {
		if (r == 0)
			r = check_file(place, &old, &why);
		if (r == 0) {
			r = carry_over(place, &old, older, count, ret_arena, ret_intern, ret);
			if (r == -EBADMSG) {
				generation_file_supersede(old.fd, ret->generation);
				set_aside(place, name, ret);
			}
		} else if (ret->how == ADOPTION_NEW) { /* of several, report and keep the newest */
			snprintf(ret->message, sizeof(ret->message), "arena file %s cannot be used: %s", name,
				 why);
			if (r != -EPERM)
				set_aside(place, name, ret);
			r = -EBADMSG;
		} else {
			r = -EBADMSG;
		}
	}
	generation_file_close(&old, r == 0 || r == -ENOSPC);
	if (r == -ENOSPC)
		ret->how = ADOPTION_REBUILD;
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
		if (r == -ENOSPC)
			break;
		if (r != -ENOENT)
			return r;
	}
	ret->generation = count ? generations[0] + 1 : 1;
	return new_arena(place, generations, count, ret_arena, ret);
}

/* ---- switching to the new arena ---- */

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
	count = generation_files_find(place, generations, &strangers);
	for (int i = 0; i < count; i++)
		if (adoption->old_fd < 0 || generations[i] != adoption->old_generation)
			others[other++] = generations[i];
	clear_away(place, others, other, true, adoption->generation);
}

/* ---- the replaced arena ---- */

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
