/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock that allows one writer per socket.
 *
 * SOCKET.lock stands beside the socket, is never unlinked, and is locked while its writer lives. The writer
 * takes it before it touches socket or arena. Its holder may replace what a dead predecessor left.
 */
#ifndef WRITER_DAEMON_LOCK_H
#define WRITER_DAEMON_LOCK_H

#include <stdint.h>

struct lock {
	int fd;
};

/*
 * Take the lock. Missing directories above it are made (0755).
 *
 * Returns  0; -EBUSY: another writer holds it (the message names its pid if known); -ENAMETOOLONG: the
 *          socket's path does not fit an address; other negative errno, with message
 */
int lock_take(const char *socket_path, struct lock *ret_lock, char **ret_error);

/*
 * Wait until the lock is free, and take it. Blocks the thread, and is a cancellation point. lock_take() has
 * made the directories. Returns 0, or negative errno.
 */
int lock_await(const char *socket_path, struct lock *ret_lock);

/*
 * Take over the lock of this socket, which this process held before it executed a program.
 *
 * fd       taken over on success
 * Returns  0; -EPROTO: fd is another file, or does not hold the lock; other negative errno
 */
int lock_inherit(int fd, const char *socket_path, struct lock *ret_lock);

/*
 * Returns another descriptor of the lock, close-on-exec, or negative errno. The lock is held until all are
 * closed.
 */
int lock_share(const struct lock *lock);

/* The pid that the lock's present or last holder wrote, for messages. 0: unknown. */
long lock_holder(const char *socket_path);

/*
 * Write into the lock file which arena this writer has published, for readers that come after its end
 * (shm-layout/lock_note.h). The writer does not depend on it. Returns 0, -ENAMETOOLONG, other negative errno.
 */
int lock_note_arena(const struct lock *lock, const char *path, const uint8_t incarnation[16]);

/* Release the lock. A zeroed or released one is fine. */
void lock_release(struct lock *lock);

#endif
