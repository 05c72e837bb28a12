/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the arena that a dead writer left, for a handle that asked for it, and makes sure that nobody
 * writes there any more. Every step of orphan.h stands here with its number.
 */
#include "reader-lib/attach/orphan.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/lock_note.h"

/*
 * Opens nothing but a plain file, which nobody else may write; never waits. What stands there is looked at
 * before it is opened: to open a device may do something, and whoever wrote the note chose the path.
 */
static int
open_plain(const char *path, struct stat *ret_st)
{
	int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -ENOENT;
	char again[sizeof("/proc/self/fd/") + 3 * sizeof(place)];

	if (place < 0)
		return -errno;
	if (fstat(place, ret_st) == 0 && S_ISREG(ret_st->st_mode) && (ret_st->st_mode & 077) == 0) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
		fd = open(again, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(place);
	return fd;
}

static int
is_free(int lock)
{
	struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	if (fcntl(lock, F_OFD_GETLK, &whole) < 0)
		return -errno;
	return whole.l_type == F_UNLCK ? 0 : -EBUSY;
}

/* O4, but for the look at the header. The descriptor is ours. */
static int
map(struct informer *inf, int arena, struct mapping **ret_mapping)
{
	static const struct message_welcome no_keys;
	int fds[PROTOCOL_DESCRIPTORS] = {arena, memfd_create("informer-slot", MFD_CLOEXEC),
					 eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	int r = 0;

	if (fds[1] < 0 || fds[2] < 0 || ftruncate(fds[1], SLOT_BYTES) < 0)
		r = -errno;
	if (r == 0)
		return mapping_new(inf, fds, &no_keys, ret_mapping);
	for (unsigned i = 0; i < PROTOCOL_DESCRIPTORS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}

static int
open_noted(int lock, const struct stat *lock_st, const struct lock_note *note)
{
	struct stat st = {0};
	int arena = open_plain(note->arena, &st), r;

	if (arena < 0)
		return arena;
	r = st.st_uid == lock_st->st_uid && st.st_nlink == 1 ? is_free(lock) : -ENOENT;
	if (r < 0)
		close(arena);
	return r < 0 ? r : arena;
}

static int
find_beside(struct informer *inf, const char *socket, struct mapping **ret_mapping)
{
	char path[sizeof(inf->addresses[0].sun_path) + sizeof(".lock")];
	struct lock_note note;
	struct stat st = {0};
	int lock, arena, r;

	snprintf(path, sizeof(path), "%s.lock", socket);
	lock = open_plain(path, &st);							/* O1 */
	if (lock < 0)
		return lock;
	/*
	 * Who owns it says which file is read: that may be nobody but us or root, or one whom root would
	 * serve.
	 */
	r = st.st_uid == geteuid() || st.st_uid == 0 || geteuid() == 0 ? lock_note_read(lock, &note)
								       : -ENOENT;
	arena = r < 0 ? r : open_noted(lock, &st, &note);				/* O2, O3 */
	close(lock);
	if (arena < 0)
		return arena == -EBADMSG ? -ENOENT : arena;
	r = map(inf, arena, ret_mapping);						/* O4 */
	if (r < 0)
		return r == -EAGAIN ? -ENOENT : r;
	if (memcmp((*ret_mapping)->incarnation, note.incarnation, sizeof(note.incarnation)) == 0 &&
	    !mapping_superseded(*ret_mapping))
		return 0;
	mapping_free(inf, *ret_mapping, false);
	return -ENOENT;
}

int
orphan_find(struct informer *inf, struct mapping **ret_mapping)
{
	int result = -ENOENT;

	for (unsigned i = 0; i < inf->address_count; i++) {
		int r = find_beside(inf, inf->addresses[i].sun_path, ret_mapping);

		if (r == 0)
			return 0;
		/* of two failures the more telling one is kept */
		if (result == -ENOENT)
			result = r;
	}
	return result;
}
