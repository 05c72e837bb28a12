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
loop_add(struct loop *loop, struct loop_descriptor *descriptor, int fd, uint32_t events,
	 void (*ready)(void *, uint32_t), void *context)
{
	struct epoll_event event = {.events = events, .data.ptr = descriptor};

	*descriptor = (struct loop_descriptor){
		.fd = fd, .events = events, .ready = ready, .context = context};
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	descriptor->fd = -1;
	return -errno;
}

void
loop_change(struct loop *loop, struct loop_descriptor *descriptor, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = descriptor};

	if (descriptor->fd < 0 || descriptor->events == events)
		return;
	descriptor->events = events;
	epoll_ctl(loop->epoll, EPOLL_CTL_MOD, descriptor->fd, &event);
}

void
loop_remove(struct loop *loop, struct loop_descriptor *descriptor)
{
	if (descriptor->fd >= 0)
		epoll_ctl(loop->epoll, EPOLL_CTL_DEL, descriptor->fd, NULL);
	descriptor->fd = -1;
}

/*
 * Handle one event at a time, because the call may remove any other descriptor. The kernel takes ready
 * descriptors in turn.
 */
void
loop_once(struct loop *loop, uint64_t until_ms)
{
	struct epoll_event event;
	struct loop_descriptor *descriptor;
	int timeout = -1;

	if (until_ms != UINT64_MAX) {
		uint64_t now = loop_now();

		timeout = until_ms <= now ? 0 : until_ms - now < INT_MAX ? (int)(until_ms - now) : INT_MAX;
	}
	if (epoll_wait(loop->epoll, &event, 1, timeout) != 1)
		return;
	descriptor = event.data.ptr;
	descriptor->ready(descriptor->context, event.events);
}

uint64_t
loop_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
