/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock (lock.h): an open-file-description lock, which the kernel drops with the last descriptor. The
 * descriptor is close-on-exec, so a child program does not keep its dead parent's lock.
 */
#include "writer/daemon/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/lock_note.h"
#include "writer/base/message.h"

/* Make what is missing of the directories in path. */
static int
make_directories(const char *path, char **ret_error)
{
	_cleanup_(message_freep) char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return message_set(
				ret_error, -errno,
				"cannot make the directory %s for the socket: %s; make it, or choose "
				"another place with --socket",
				copy, strerror(errno));
		*slash = '/';
	}
	return 0;
}

static int
held_by_another(int fd, const char *path, char **ret_error)
{
	struct lock_note note;

	lock_note_read(fd, &note);
	if (note.pid > 0)
		return message_set(ret_error, -EBUSY,
				   "another informerd (pid %ld) serves this socket: it holds %s; stop it, or "
				   "choose another socket with --socket",
				   note.pid, path);
	return message_set(ret_error, -EBUSY,
			   "another informerd serves this socket: it holds %s; stop it, or choose another "
			   "socket with --socket",
			   path);
}

int
lock_take(const char *socket_path, struct lock *ret_lock, char **ret_error)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_(message_freep) char *path = NULL;
	struct lock_note note;
	struct stat st;
	int fd, r;

	if (strlen(socket_path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return message_set(ret_error, -ENAMETOOLONG,
				   "the socket's path has %zu bytes, the system allows %zu: choose a "
				   "shorter one with --socket (%s)",
				   strlen(socket_path), sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
				   socket_path);
	if (asprintf(&path, "%s.lock", socket_path) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = make_directories(path, ret_error);
	if (r < 0)
		return r;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd < 0)
		return message_set(ret_error, -errno, "cannot open the lock file %s: %s", path,
				   strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return message_set(ret_error, -EINVAL, "%s is no regular file: remove it", path);
	}
	if (fcntl(fd, F_OFD_SETLK, &whole) < 0) {
		r = errno == EAGAIN || errno == EACCES ? held_by_another(fd, path, ret_error) :
			message_set(ret_error, -errno, "cannot lock %s: %s", path, strerror(errno));
		close(fd);
		return r;
	}
	/* The arena that is named there stays, until this writer has one. */
	lock_note_read(fd, &note);
	note.pid = (long)getpid();
	r = lock_note_write(fd, &note);
	if (r < 0) {
		r = message_set(ret_error, r, "cannot write to %s: %s", path, strerror(-r));
		close(fd);
		return r;
	}
	ret_lock->fd = fd;
	return 0;
}

int
lock_note_arena(const struct lock *lock, const char *path, const uint8_t incarnation[16])
{
	struct lock_note note = {.pid = (long)getpid()};

	if (strlen(path) >= sizeof(note.arena))
		return -ENAMETOOLONG;
	memcpy(note.arena, path, strlen(path) + 1);
	memcpy(note.incarnation, incarnation, sizeof(note.incarnation));
	return lock_note_write(lock->fd, &note);
}

void
lock_release(struct lock *lock)
{
	if (lock->fd > 0)
		close(lock->fd);
	lock->fd = 0;
}
