/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena that a lock file names (shm-layout/lock_note.h): whether a writer lives, which file it writes or
 * wrote, and that file as a mapping, for readers that no broker serves. Only root and the daemon's own user
 * may open these files; whether a writer lives, others can tell, too.
 *
 * All of it is input: the lock file must be nobody's but ours, root's, or one whom root would serve; the
 * arena's file and the key file its owner's, in nobody else's hands.
 */
#ifndef READER_LIB_ATTACH_NOTED_ARENA_H
#define READER_LIB_ATTACH_NOTED_ARENA_H

#include <sys/types.h>

#include "reader-lib/attach/mapping.h"
#include "shm-layout/lock_note.h"

struct noted_arena {
	int lock;     /* SOCKET.lock; -1: we may not open it */
	dev_t device; /* of that file */
	ino_t inode;
	uid_t owner;
	const char *socket;
	struct lock_note note;
};

/*
 * Open SOCKET.lock and read its note. noted_close() in any case.
 *
 * Returns 0; -EACCES it is not for us to read: noted_held() works all the same; -ENOENT there is none, or it
 *         is no writer's; other negative errno
 */
int noted_open(const char *socket, struct noted_arena *ret);
void noted_close(struct noted_arena *noted);

/* The note may have changed since: read it again. Returns 1 it has, 0 it has not, or negative. */
int noted_again(struct noted_arena *noted);

/*
 * Whether a writer holds the lock: 1, 0, or negative errno. Who may not open the file looks into /proc/locks;
 * where that does not tell, 0.
 */
int noted_held(const struct noted_arena *noted);

/* The arena's file, read-only. Returns a descriptor, -ENOENT: it is gone, or not what it should be. */
int noted_open_file(const struct noted_arena *noted);

/*
 * Map an arena (its file, or a copy of it) that nobody serves, with a slot and an eventfd of our own. With
 * INFORMER_VERIFY the keys come from SOCKET.key, and identity and root are checked by them.
 *
 * arena    taken over, also on failure
 * Returns  0; -ENOENT it is not the one that the note means, or not whole; other codes with a message
 */
int noted_map(struct informer *inf, const struct noted_arena *noted, int arena, struct mapping **ret_mapping);

#endif
