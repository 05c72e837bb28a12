/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts connections: polls the socket, and an eventfd for "stop" and "refuse". */
#include "tools/informer-sim/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tools/serving/buf.h"
#include "tools/informer-sim/sim_clock.h"

#define BACKLOG 1024
#define REBIND_MS 20

struct sim_listen {
	struct sockaddr_storage address; /* with the port in use */
	socklen_t address_len;
	int fd; /* -1 while refusing; used by the thread */
	int wake;
	struct MHD_Daemon *daemon;
	pthread_t thread;
	bool started;
	_Atomic bool stopping;
	_Atomic uint64_t refuse_until_ms;
};

static int
open_socket(const struct sim_listen *l)
{
	int fd = socket(l->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, r;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&l->address, l->address_len) < 0 || listen(fd, BACKLOG) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int
sim_listen_new(const struct sockaddr *address, socklen_t len, struct sim_listen **ret_listen,
	       uint16_t *ret_port)
{
	struct sim_listen *l;
	int r;

	if (len > sizeof(l->address))
		return -EINVAL;
	l = api_alloc(sizeof(*l));
	memset(l, 0, sizeof(*l));
	memcpy(&l->address, address, len);
	l->address_len = len;
	l->fd = open_socket(l);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->fd < 0 || l->wake < 0 ||
	    getsockname(l->fd, (struct sockaddr *)&l->address, &l->address_len) < 0) {
		r = l->fd < 0 ? l->fd : -errno;
		if (l->fd >= 0)
			close(l->fd);
		l->fd = -1;
		sim_listen_free(l);
		return r;
	}
	*ret_port = ntohs(l->address.ss_family == AF_INET6
				  ? ((const struct sockaddr_in6 *)&l->address)->sin6_port
				  : ((const struct sockaddr_in *)&l->address)->sin_port);
	*ret_listen = l;
	return 0;
}

static void
wake(struct sim_listen *l)
{
	ssize_t n = write(l->wake, &(uint64_t){1}, sizeof(uint64_t));

	(void)n; /* a full eventfd wakes the thread too */
}

static void
accept_all(struct sim_listen *l)
{
	for (;;) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		int fd = accept4(l->fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		MHD_add_connection(l->daemon, fd, (struct sockaddr *)&peer, len); /* closes fd on failure */
	}
}

/* Close or open the socket. Returns when to call again, in ms; -1: never. */
static int
follow(struct sim_listen *l)
{
	uint64_t now = sim_now_ms(), until = atomic_load(&l->refuse_until_ms);

	if (until > now) {
		if (l->fd >= 0)
			close(l->fd);
		l->fd = -1;
		return (int)(until - now);
	}
	if (l->fd < 0)
		l->fd = open_socket(l);
	return l->fd < 0 ? REBIND_MS : -1;
}

static void *
run(void *cls)
{
	struct sim_listen *l = cls;

	while (!atomic_load(&l->stopping)) {
		int timeout = follow(l);
		struct pollfd fds[2] = {{.fd = l->wake, .events = POLLIN}, {.fd = l->fd, .events = POLLIN}};
		uint64_t count;

		if (poll(fds, 2, timeout) <= 0)
			continue;
		if (fds[0].revents && read(l->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
			break;
		if (fds[1].revents)
			accept_all(l);
	}
	return NULL;
}

void
sim_listen_start(struct sim_listen *listen_, struct MHD_Daemon *daemon)
{
	listen_->daemon = daemon;
	listen_->started = pthread_create(&listen_->thread, NULL, run, listen_) == 0;
}

void
sim_listen_stop(struct sim_listen *listen_)
{
	if (listen_->started) {
		atomic_store(&listen_->stopping, true);
		wake(listen_);
		pthread_join(listen_->thread, NULL);
		listen_->started = false;
	}
	if (listen_->fd >= 0)
		close(listen_->fd);
	listen_->fd = -1;
}

void
sim_listen_free(struct sim_listen *listen_)
{
	if (!listen_)
		return;
	if (listen_->fd >= 0)
		close(listen_->fd);
	if (listen_->wake >= 0)
		close(listen_->wake);
	free(listen_);
}

void
sim_listen_refuse(struct sim_listen *listen_, unsigned ms)
{
	atomic_store(&listen_->refuse_until_ms, sim_now_ms() + ms);
	wake(listen_);
}

bool
sim_listen_refusing(struct sim_listen *listen_)
{
	return atomic_load(&listen_->refuse_until_ms) > sim_now_ms();
}
