/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakes readers: the loop writes to the eventfd of each sleeping reader that waits for what came.
 *
 * The reader controls what its wake-up costs. The kernel visits every waiter of the eventfd, perhaps a
 * hundred thousand epoll entries, on the writing thread. So a reader is refused (broker_revoke.c) when
 * SLOW_MAX wake-ups in a row take more than WAKE_BOUND_NS of this thread's CPU time each.
 *
 * Reading the wall clock is 20 times cheaper than reading CPU time. So CPU time is measured only for a
 * reader's first wake-up, and after a wake-up that took more than the bound by the wall clock.
 *
 * A write that blocks is interrupted (wake_guard.h), and its reader is refused at once.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/serve/broker_internal.h"

#define SLOW_MAX 3u

static void
measure(struct client *c, uint64_t cpu_ns)
{
	if (cpu_ns <= c->broker->wake.bound_ns) {
		c->wake_measured = false;
		c->slow_wakes = 0;
		c->slow_ns = 0;
		return;
	}
	c->slow_ns += cpu_ns;
	if (++c->slow_wakes == SLOW_MAX)
		broker_refuse_wakes(
			c, c->slow_ns,
			"its wake-ups take informerd too long, so many wait for its event descriptor");
}

/* False: the write blocked. With EAGAIN the counter is full, so the reader has its signal already. */
static bool
signal_reader(const struct client *c)
{
	uint64_t one = 1;

	return write(c->event_fd, &one, sizeof(one)) >= 0 || errno != EINTR;
}

/* wall_ns: the present time; on return, the time after the wake-up. */
static void
wake_one(struct client *c, uint64_t *wall_ns)
{
	bool measured = c->wake_measured;
	uint64_t cpu = measured ? time_ns(CLOCK_THREAD_CPUTIME_ID) : 0, began = *wall_ns;

	c->broker->stats.wakeups++;
	if (!signal_reader(c))
		broker_refuse_wakes(c, WAKE_GUARD_NS, "its event descriptor blocks who wakes it");
	else if (measured)
		measure(c, time_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	*wall_ns = time_ns(CLOCK_MONOTONIC);
	c->wake_measured |= *wall_ns - began > c->broker->wake.bound_ns;
}

void
broker_wake(void *broker, uint64_t epoch)
{
	struct broker *b = broker;
	struct wake *wake = &b->wake;
	size_t count = wake->sleeper_count;
	uint64_t now = 0; /* 0: no reader woken yet */

	(void)epoch;
	/*
	 * Root and queues were stored; the armed words are loaded now. Meets the fence in arm()
	 * (reader-lib/events/wait.c) and arm_for_handlers() beside it, where a reader sets its word and then
	 * looks at root and queues. Without it both could miss the other, and the reader would sleep although
	 * something came.
	 */
	slot_fence();
	for (size_t i = 0; i < count; i++) {
		uint32_t answers = ARMED_COMMIT | (wake->queue_due[i] ? ARMED_QUEUE : 0);
		struct client *c = wake->sleepers[i];

		if ((atomic_load_explicit(wake->armed[i], memory_order_relaxed) & answers) == 0 ||
		    c->wakes_refused || !pins_take_armed(client_pins(c), c->slot, answers))
			continue;
		if (now == 0) {
			now = time_ns(CLOCK_MONOTONIC);
			wake_guard_begin(&wake->guard);
		}
		wake_one(c, &now);
	}
	if (now != 0)
		wake_guard_end(&wake->guard);
	memset(wake->queue_due, 0, count * sizeof(wake->queue_due[0]));
}
