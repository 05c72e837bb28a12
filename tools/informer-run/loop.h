/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event loop: watches descriptors, and sleeps until one is ready or until a given time. It has no timers:
 * supervisors compute their own next time.
 *
 * Threads: one.
 */
#ifndef TOOLS_INFORMER_RUN_LOOP_H
#define TOOLS_INFORMER_RUN_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* A watched descriptor; a member of its owner. fd -1: none. */
struct loop_descriptor {
	int fd;
	uint32_t events;
	void (*ready)(void *context, uint32_t events);
	void *context;
};
#define LOOP_DESCRIPTOR_NONE ((struct loop_descriptor){.fd = -1})

struct loop {
	int epoll;
};

/* Returns 0 or a negative errno. */
int
loop_init(struct loop *loop);
void
loop_done(struct loop *loop);

/*
 * Watch a descriptor (EPOLLIN, EPOLLOUT; 0: errors only), or change the events. The fd stays the caller's.
 * Returns 0 or a negative errno.
 */
int loop_add(struct loop *loop, struct loop_descriptor *descriptor, int fd, uint32_t events,
	       void (*ready)(void *, uint32_t), void *context);
void
loop_change(struct loop *loop, struct loop_descriptor *descriptor, uint32_t events);
/* Stop watching; call before the fd is closed. A descriptor that is not watched is fine. */
void
loop_remove(struct loop *loop, struct loop_descriptor *descriptor);

/*
 * Sleep until a descriptor is ready, and call its function; at most until until_ms (loop_now(); UINT64_MAX:
 * no limit).
 */
void
loop_once(struct loop *loop, uint64_t until_ms);

/* Monotonic milliseconds. */
uint64_t
loop_now(void);

#endif
