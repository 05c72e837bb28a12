/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signal goes to the one thread (SIGEV_THREAD_ID). It is SIGURG, which the kernel ignores without a
 * handler: a late signal does no harm to an executed program. The handler has no SA_RESTART, so write()
 * returns. The timer is periodic, because the signal of one period may come between two writes.
 */
#include "writer/serve/wake_guard.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void
interrupt(int signal_number)
{
	(void)signal_number;
}

int
wake_guard_open(struct wake_guard *guard)
{
	struct sigaction action = {.sa_handler = interrupt};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};

	event.sigev_notify_thread_id = gettid();
	if (sigaction(SIGURG, &action, NULL) < 0 || timer_create(CLOCK_MONOTONIC, &event, &guard->timer) < 0)
		return -errno;
	guard->is_open = true;
	return 0;
}

void
wake_guard_close(struct wake_guard *guard)
{
	if (guard->is_open)
		timer_delete(guard->timer);
	guard->is_open = false;
}

static void
set(struct wake_guard *guard, long ns)
{
	const struct itimerspec period = {{0, ns}, {0, ns}};

	timer_settime(guard->timer, 0, &period, NULL); /* fails if there is no timer */
}

void
wake_guard_begin(struct wake_guard *guard)
{
	set(guard, WAKE_GUARD_NS);
}

void
wake_guard_end(struct wake_guard *guard)
{
	set(guard, 0);
}
