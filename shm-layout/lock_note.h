/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The note in a lock file. A writer holds SOCKET.lock locked as long as it lives (writer/daemon/lock.h). The
 * writer's note in it names the process and its arena, in four lines. Readers ignore what follows them:
 *
 *	informer 1
 *	4711					the writer's pid, for display
 *	/dev/shm/informer.3			the arena's file
 *	00112233445566778899aabbccddeeff	that file's incarnation
 *
 * A reader that finds the lock free may read that arena (reader-lib/attach/orphan.h).
 */
#ifndef SHM_LAYOUT_LOCK_NOTE_H
#define SHM_LAYOUT_LOCK_NOTE_H

#include <stdint.h>

#define LOCK_NOTE_PATH_MAX 4096u

struct lock_note {
	long pid;			/* 0: unknown */
	char arena[LOCK_NOTE_PATH_MAX];	/* "": none yet */
	uint8_t incarnation[16];
};

/*
 * Replace the note. Returns 0; -ENAMETOOLONG, also for a path with a newline; other negative errno.
 */
int lock_note_write(int fd, const struct lock_note *note);
/*
 * Read the note. Returns 0; -EBADMSG: the file has no such note, and *ret has at most the pid; other negative
 * errno.
 */
int lock_note_read(int fd, struct lock_note *ret);

#endif
