/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock: one writer a socket.
 *
 * SOCKET.lock stands beside the socket, is never unlinked, and is locked for as long as its writer lives. It
 * is taken before socket or arena is touched; who holds it may replace what a dead predecessor left.
 */
#ifndef WRITER_DAEMON_LOCK_H
#define WRITER_DAEMON_LOCK_H

#include <stdint.h>

struct lock {
	int fd;
};

/*
 * Take the lock, making the directories above it (0755) when they are not there.
 *
 * Returns  0; -EBUSY another writer holds it (the message names its pid where known); -ENAMETOOLONG the
 *          socket's path does not fit an address; other negative errno, with message
 */
int lock_take(const char *socket_path, struct lock *ret_lock, char **ret_error);

/*
 * Wait until nobody holds the lock, and take it. Blocks its thread, and is a cancellation point. lock_take()
 * has made the directories. Returns 0, or negative errno
 */
int lock_await(const char *socket_path, struct lock *ret_lock);

/*
 * The lock of this socket, which this process held before it executed another program.
 *
 * fd        taken over on success
 * Returns   0; -EPROTO: it is another file, or does not hold the lock; other negative errno
 */
int lock_inherit(int fd, const char *socket_path, struct lock *ret_lock);

/* Another descriptor of it, close-on-exec: it is held until all are closed. Returns it, or negative errno */
int lock_share(const struct lock *lock);

/* Who holds, or last held, the lock of this socket, by its own word: for people. 0: not known. */
long lock_holder(const char *socket_path);

/*
 * Say in the lock file which arena this writer has published, for readers that come when it is gone
 * (shm-layout/lock_note.h). Nothing of the writer depends on it. Returns 0, -ENAMETOOLONG, other negative
 * errno
 */
int lock_note_arena(const struct lock *lock, const char *path, const uint8_t incarnation[16]);

/* Give it back. A zeroed or released one is fine. */
void lock_release(struct lock *lock);

#endif
