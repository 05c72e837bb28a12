/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop; see loop.h. */
#include "tools/informer-run/loop.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

int
loop_init(struct loop *loop)
{
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll < 0 ? -errno : 0;
}

void
loop_done(struct loop *loop)
{
	if (loop->epoll >= 0)
		close(loop->epoll);
	loop->epoll = -1;
}

int
loop_watch(struct loop *loop, struct watch *watch, int fd, uint32_t events, void (*ready)(void *, uint32_t),
	   void *context)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	*watch = (struct watch){.fd = fd, .events = events, .ready = ready, .context = context};
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	watch->fd = -1;
	return -errno;
}

void
loop_change(struct loop *loop, struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	if (watch->fd < 0 || watch->events == events)
		return;
	watch->events = events;
	epoll_ctl(loop->epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

void
loop_unwatch(struct loop *loop, struct watch *watch)
{
	if (watch->fd >= 0)
		epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->fd = -1;
}

/*
 * One at a time: what the call does may end the life of any other watch. The kernel goes round among those
 * that are ready.
 */
void
loop_once(struct loop *loop, uint64_t until_ms)
{
	struct epoll_event event;
	struct watch *watch;
	int timeout = -1;

	if (until_ms != UINT64_MAX) {
		uint64_t now = loop_now();

		timeout = until_ms <= now ? 0 : until_ms - now < INT_MAX ? (int)(until_ms - now) : INT_MAX;
	}
	if (epoll_wait(loop->epoll, &event, 1, timeout) != 1)
		return;
	watch = event.data.ptr;
	watch->ready(watch->context, event.events);
}

uint64_t
loop_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
