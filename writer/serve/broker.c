/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's socket and its life. broker_client.c and broker_subscribe.c talk to a client; broker_wake.c
 * wakes it.
 */
#include "writer/serve/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "writer/serve/broker_internal.h"
#include "writer/base/message.h"
#include "writer/base/place_remedy.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* ---- the socket ---- */

/* Remove an old socket at this path. A file of another type is an error. */
static int
remove_stale(const char *path, char **ret_error)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0
				       : message_set(ret_error, -errno, "cannot look at %s: %s", path,
						     strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return message_set(ret_error, -EEXIST,
				   "%s exists and is no socket: remove it, or choose another path with "
				   "--socket",
				   path);
	if (unlink(path) < 0 && errno != ENOENT)
		return message_set(ret_error, -errno, "cannot replace the old socket %s: %s%s", path,
				   strerror(errno), place_remedy(-errno));
	return 0;
}

/*
 * Refuse descriptors that clients send (Linux 6.16 and later; before, received ones are dropped). The last
 * close of a descriptor takes as long as its owner likes. It would happen in this thread, even for a packet
 * that is never read.
 */
static void
take_no_descriptors(int fd)
{
	int no = 0;

	setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof(no));
}

/* Listen: set and note the socket file; new clients see this process as their peer (listen()). */
static int
begin_to_listen(struct broker *b)
{
	struct stat st;

	take_no_descriptors(b->fd);
	/*
	 * The longest queue that the system allows: while one informerd follows another, all readers connect
	 * and no process accepts.
	 */
	if (chmod(b->path, 0666) < 0 || lstat(b->path, &st) < 0 || listen(b->fd, SOMAXCONN) < 0)
		return -errno;
	b->device = st.st_dev;
	b->inode = st.st_ino;
	return 0;
}

/* True if a predecessor's listener is usable. If its socket file is gone, no reader finds it. */
static bool
is_listener(int fd, const char *path)
{
	int type = 0, listens = 0;
	socklen_t bytes = sizeof(type);
	struct stat st;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens &&
	       fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int
open_socket(struct broker *b, char **ret_error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int r;

	if (b->fd >= 0) {
		if (is_listener(b->fd, b->path) && begin_to_listen(b) == 0)
			return 0;
		close(b->fd);
		b->fd = -1;
	}
	if (strlen(b->path) >= sizeof(address.sun_path))
		return message_set(ret_error, -ENAMETOOLONG,
				   "the socket's path has %zu bytes, the system allows %zu: choose a "
				   "shorter one with --socket (%s)",
				   strlen(b->path), sizeof(address.sun_path) - 1, b->path);
	memcpy(address.sun_path, b->path, strlen(b->path) + 1);
	r = remove_stale(b->path, ret_error);
	if (r < 0)
		return r;
	b->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (b->fd < 0 || bind(b->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return message_set(ret_error, -errno, "cannot make the socket %s: %s%s", b->path,
				   strerror(errno), place_remedy(-errno));
	/* No process can connect before listen(), so none meets the mode that the umask gave. */
	r = begin_to_listen(b);
	return r < 0 ? message_set(ret_error, r, "cannot listen on %s: %s", b->path, strerror(-r)) : 0;
}

int
broker_pass_on(struct broker *b)
{
	int fd = fcntl(b->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	b->passed_on = true;
	return fd;
}

static int
accept_one(struct broker *b)
{
	return accept4(b->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/*
 * Descriptors have run out. Accept a connection with the reserved one and refuse it, so that its peer learns
 * why and the queue moves on. False: there is no reserved descriptor.
 */
static bool
turn_away(struct broker *b)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);
	int why = -errno, fd;

	if (b->reserve < 0)
		b->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (b->reserve < 0)
		return false;
	close(b->reserve);
	fd = accept_one(b);
	if (fd >= 0) {
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
		client_turn_away(b, fd, &peer, REFUSED_FULL, broker_why_not(why));
	}
	b->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return true;
}

/* Accept one connection. True: there may be another one. */
static bool
let_one_in(struct broker *b)
{
	int fd = accept_one(b);

	if (fd >= 0) {
		client_new(b, fd);
		return true;
	}
	if (errno == ECONNABORTED || errno == EINTR)
		return true;
	if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS)
		return false;
	if (turn_away(b))
		return true;
	/* stop listening until the next tick of the clock: a retry at once would fail again */
	turn_change(b, b->fd, 0, &b->listener);
	broker_look_later(b);
	return false;
}

static void
on_connection(void *broker, uint32_t events)
{
	struct broker *b = broker;

	(void)events;
	while (let_one_in(b) && turn_has_room(b))
		;
}

/* ---- the timer ---- */

static void
on_clock(uv_timer_t *timer)
{
	struct broker *b = timer->data;

	broker_hang_up_revoked(b);
	if (!broker_drop_due(b) && b->leftovers.count == 0)
		uv_timer_stop(timer);
	if (leftovers_look(b, NULL))
		broker_look_at_clients(b);
	turn_change(b, b->fd, EPOLLIN, &b->listener);
}

/* ---- creating and freeing ---- */

static void
destroy(struct broker *b)
{
	const int fds[] = {b->fd, b->arena_fd, b->reserve, b->turn.epoll};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	leftovers_done(b);
	wake_done(b);
	free(b);
}

/* libuv closes handles later. The last one frees the broker. */
static void
on_closed(uv_handle_t *handle)
{
	struct broker *b = handle->data;

	if (--b->open_handles == 0)
		destroy(b);
}

int
broker_new(uv_loop_t *loop, const struct broker_options *options, struct broker **ret_broker,
	   char **ret_error)
{
	struct broker *b = calloc(1, sizeof(*b));
	int r;

	if (!b) {
		if (options->listener > 0)
			close(options->listener);
		return -ENOMEM;
	}
	b->loop = loop;
	b->fd = options->listener > 0 ? options->listener : -1;
	b->arena_fd = b->turn.epoll = -1;
	b->listener = (struct heard){on_connection, b};
	b->on_clock = on_clock;
	b->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	b->options = *options;
	b->path = options->socket_path;
	if (!b->options.max_readers)
		b->options.max_readers = 256;
	if (!b->options.barred_ms)
		b->options.barred_ms = BROKER_BARRED_MS;
	if (!b->options.queue_memory)
		b->options.queue_memory = BROKER_QUEUE_MEMORY;
	r = wake_init(b);
	if (r == 0) {
		/* Open the file again, read-only: a duplicate of the descriptor could write. */
		b->arena_fd = file_open_again(options->source.arena->fd, O_RDONLY);
		if (b->arena_fd < 0)
			r = message_set(ret_error, b->arena_fd, "the arena cannot be opened again: %s",
					broker_why_not(b->arena_fd));
	}
	if (r == 0)
		r = open_socket(b, ret_error);
	if (r == 0) {
		r = turn_open(b);
		if (r < 0)
			message_set(ret_error, r, "cannot watch %s: %s", b->path, broker_why_not(r));
	}
	if (r < 0) {
		destroy(b);
		return r;
	}
	*ret_broker = b;
	return 0;
}

void
broker_free(struct broker *b)
{
	struct stat st;

	if (!b)
		return;
	b->closing = true;
	if (!b->passed_on && lstat(b->path, &st) == 0 && st.st_dev == b->device && st.st_ino == b->inode)
		unlink(b->path);
	while (b->clients)
		client_drop(b->clients);
	b->open_handles = 3;
	uv_close((uv_handle_t *)&b->turn.poll, on_closed);
	uv_close((uv_handle_t *)&b->turn.pause, on_closed);
	uv_close((uv_handle_t *)&b->clock, on_closed);
}

void
broker_stats(const struct broker *b, struct broker_stats *ret)
{
	*ret = b->stats;
	ret->pending = b->pending_count;
	room_queue_use(b, &ret->queue_bytes, &ret->queue_limit);
}
