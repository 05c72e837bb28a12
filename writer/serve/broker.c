/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker as a whole: its socket, who is let in, deadlines, and which arena is served. What one client
 * says and gets is broker_client.c's and broker_subscribe.c's, waking broker_wake.c's.
 */
#include "writer/serve/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "writer/serve/broker_internal.h"
#include "writer/base/message.h"

#define ACCEPT_AT_ONCE 16
#define BACKLOG 128

/* ---- the socket ---- */

/* Make way for a new socket: what a dead predecessor left is removed, anything else is not ours to remove. */
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
		return message_set(ret_error, -errno, "cannot replace the old socket %s: %s", path,
				   strerror(errno));
	return 0;
}

static int
open_socket(struct broker *b, char **ret_error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	int r;

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
		return message_set(ret_error, -errno, "cannot make the socket %s: %s", b->path,
				   strerror(errno));
	/* Nobody can connect before listen(), so nobody meets the mode that the umask gave. */
	if (chmod(b->path, b->options.mode) < 0 || lstat(b->path, &st) < 0 || listen(b->fd, BACKLOG) < 0)
		return message_set(ret_error, -errno, "cannot listen on %s: %s", b->path, strerror(errno));
	b->device = st.st_dev;
	b->inode = st.st_ino;
	return 0;
}

/*
 * Descriptors have run out: take the connection with the one kept for this, so that its peer is told by the
 * hang-up.
 */
static void
turn_away(struct broker *b)
{
	int fd;

	if (b->reserve < 0)
		return;
	close(b->reserve);
	fd = accept4(b->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		close(fd);
	b->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	b->stats.refused++;
}

static void
on_connection(uv_poll_t *poll, int status, int events)
{
	struct broker *b = poll->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
		int fd = accept4(b->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			client_new(b, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE)
			turn_away(b);
		if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

/* ---- life ---- */

static void *
copy_of(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	return copy && size ? memcpy(copy, data, size) : copy;
}

static int
copy_options(struct broker *b, const struct broker_options *options)
{
	b->options = *options;
	if (!b->options.mode)
		b->options.mode = 0666;
	if (!b->options.max_readers)
		b->options.max_readers = 256;
	if (!b->options.max_per_uid)
		b->options.max_per_uid = (b->options.max_readers + 1) / 2;
	b->path = strdup(options->socket_path);
	b->allow_uids = copy_of(options->allow_uids, options->n_allow_uids * sizeof(uid_t));
	b->allow_gids = copy_of(options->allow_gids, options->n_allow_gids * sizeof(gid_t));
	return b->path && b->allow_uids && b->allow_gids ? wake_init(b) : -ENOMEM;
}

int
broker_set_access(struct broker *b, const uid_t *uids, size_t n_uids, const gid_t *gids, size_t n_gids)
{
	uid_t *new_uids = copy_of(uids, n_uids * sizeof(*uids));
	gid_t *new_gids = copy_of(gids, n_gids * sizeof(*gids));

	if (!new_uids || !new_gids) {
		free(new_uids);
		free(new_gids);
		return -ENOMEM;
	}
	free(b->allow_uids);
	free(b->allow_gids);
	b->allow_uids = new_uids;
	b->allow_gids = new_gids;
	b->options.n_allow_uids = n_uids;
	b->options.n_allow_gids = n_gids;
	return 0;
}

int
broker_new(uv_loop_t *loop, const struct broker_options *options, struct broker **ret_broker,
	   char **ret_error)
{
	struct broker *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return -ENOMEM;
	b->loop = loop;
	b->fd = b->arena_fd = -1;
	b->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	r = copy_options(b, options);
	if (r == 0)
		r = open_socket(b, ret_error);
	if (r == 0)
		r = uv_poll_init(loop, &b->listener, b->fd);
	if (r < 0) {
		broker_destroy(b);
		return r;
	}
	uv_timer_init(loop, &b->clock);
	uv_timer_init(loop, &b->wake.watchdog);
	b->listener.data = b;
	b->clock.data = b;
	b->open_handles = 3;
	uv_poll_start(&b->listener, UV_READABLE, on_connection);
	*ret_broker = b;
	return 0;
}

void
broker_free(struct broker *b, void (*done)(void *context), void *context)
{
	struct stat st;

	if (!b) {
		if (done)
			done(context);
		return;
	}
	b->closing = true;
	b->done = done;
	b->done_context = context;
	if (lstat(b->path, &st) == 0 && st.st_dev == b->device && st.st_ino == b->inode)
		unlink(b->path);
	while (b->clients)
		client_drop(b->clients);
	/* A write that hangs is still to be set free: the watchdog goes when the task has ended. */
	uv_close((uv_handle_t *)&b->listener, broker_on_closed);
	uv_close((uv_handle_t *)&b->clock, broker_on_closed);
	if (!b->wake.active)
		wake_close(b);
}

/* ---- what is served ---- */

void
broker_announce(struct broker *b)
{
	struct client *next;

	for (struct client *c = b->clients; c; c = next) {
		next = c->next;
		if (c->state == CLIENT_ATTACHED)
			client_move(c);
		else if (c->state == CLIENT_DROPPED)
			client_drop(c); /* nobody writes to what it reads any more */
	}
}

void
broker_stats(const struct broker *b, struct broker_stats *ret)
{
	*ret = b->stats;
}
