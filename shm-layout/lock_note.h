/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The note in a lock file: SOCKET.lock, which a writer holds locked for as long as it lives
 * (writer/daemon/lock.h), says whose it is and which arena it writes; four lines (what follows them does not
 * count):
 *
 *	informer 1
 *	4711					its pid, for people
 *	/dev/shm/informer.3			the arena's file
 *	00112233445566778899aabbccddeeff	that file's incarnation
 *
 * Who finds the lock free may read that arena (reader-lib/attach/orphan.h).
 */
#ifndef SHM_LAYOUT_LOCK_NOTE_H
#define SHM_LAYOUT_LOCK_NOTE_H

#include <stdint.h>

#define LOCK_NOTE_PATH_MAX 4096u

struct lock_note {
	long pid;			/* 0: not said */
	char arena[LOCK_NOTE_PATH_MAX];	/* "": none yet */
	uint8_t incarnation[16];
};

/*
 * Replace what the file says. Returns 0, -ENAMETOOLONG (also for a path with a newline), other negative
 * errno.
 */
int lock_note_write(int fd, const struct lock_note *note);
/*
 * Returns 0; -EBADMSG: it is no such note, and *ret is empty but for the pid where that can be told; other
 * negative errno.
 */
int lock_note_read(int fd, struct lock_note *ret);

#endif
