/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock (lock.h): an open-file-description lock, which the kernel drops with the last descriptor. The
 * descriptor is close-on-exec, so a child program does not keep its dead parent's lock.
 */
#include "writer/daemon/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/lock_note.h"
#include "writer/base/message.h"
#include "writer/base/place_remedy.h"

/* Make the missing directories of path. */
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
	char pid[32] = "";

	lock_note_read(fd, &note);
	if (note.pid > 0)
		snprintf(pid, sizeof(pid), " (pid %ld)", note.pid);
	return message_set(
		ret_error, -EBUSY,
		"another informerd%s serves this socket: it holds %s; stop it, wait for its end with "
		"--standby, or choose another socket with --socket",
		pid, path);
}

/* Note our pid in the lock file. The noted arena stays until this writer has its own. */
static int
note_holder(int fd)
{
	struct lock_note note;

	lock_note_read(fd, &note);
	note.pid = (long)getpid();
	return lock_note_write(fd, &note);
}

/* SOCKET.lock, if SOCKET fits an address; message_freep() it. */
static int
lock_path(const char *socket_path, char **ret_path, char **ret_error)
{
	if (strlen(socket_path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return message_set(ret_error, -ENAMETOOLONG,
				   "the socket's path has %zu bytes, the system allows %zu: choose a "
				   "shorter one with --socket (%s)",
				   strlen(socket_path), sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
				   socket_path);
	if (asprintf(ret_path, "%s.lock", socket_path) < 0) {
		*ret_path = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Root and our own user alone may open it. */
static int
open_lock(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
}

int
lock_await(const char *socket_path, struct lock *ret_lock)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_(message_freep) char *path = NULL;
	int fd, state, r = lock_path(socket_path, &path, NULL);

	if (r < 0)
		return r;
	/* Cancelled in open(), it would keep the path. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	fd = open_lock(path);
	r = fd < 0 ? -errno : 0;
	message_freep(&path);
	pthread_setcancelstate(state, NULL);
	if (r < 0)
		return r;
	do
		r = fcntl(fd, F_OFD_SETLKW, &whole) < 0 ? -errno : 0;
	while (r == -EINTR);
	if (r == 0)
		r = note_holder(fd);
	if (r < 0)
		close(fd);
	else
		ret_lock->fd = fd;
	return r;
}

int
lock_take(const char *socket_path, struct lock *ret_lock, char **ret_error)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_(message_freep) char *path = NULL;
	struct stat st;
	int fd, r = lock_path(socket_path, &path, ret_error);

	if (r == 0)
		r = make_directories(path, ret_error);
	if (r < 0)
		return r;
	fd = open_lock(path);
	if (fd < 0)
		return message_set(ret_error, -errno, "cannot open the lock file %s: %s%s", path,
				   strerror(errno), place_remedy(-errno));
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
	r = note_holder(fd);
	if (r < 0) {
		r = message_set(ret_error, r, "cannot write to the lock file %s: %s%s", path, strerror(-r),
				place_remedy(r));
		close(fd);
		return r;
	}
	ret_lock->fd = fd;
	return 0;
}

int
lock_inherit(int fd, const char *socket_path, struct lock *ret_lock)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_(message_freep) char *path = NULL;
	struct stat is, wanted;
	int r = lock_path(socket_path, &path, NULL);

	if (r < 0)
		return r;
	if (fstat(fd, &is) < 0 || lstat(path, &wanted) < 0 || !S_ISREG(wanted.st_mode) ||
	    is.st_dev != wanted.st_dev || is.st_ino != wanted.st_ino)
		return -EPROTO;
	/* succeeds if this open file description holds the lock, or none does */
	if (fcntl(fd, F_OFD_SETLK, &whole) < 0)
		return -EPROTO;
	r = note_holder(fd);
	if (r < 0)
		return r;
	ret_lock->fd = fd;
	return 0;
}

int
lock_share(const struct lock *lock)
{
	int fd = fcntl(lock->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

long
lock_holder(const char *socket_path)
{
	_cleanup_(message_freep) char *path = NULL;
	struct lock_note note = {0};
	int fd = -1;

	if (lock_path(socket_path, &path, NULL) == 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return 0;
	lock_note_read(fd, &note);
	close(fd);
	return note.pid > 0 ? note.pid : 0;
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
