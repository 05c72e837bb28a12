/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the workers of a workqueue to sleep, and wakes as few as needed. One of them is the keeper of the
 * delayed keys.
 */
#include <time.h>

#include "reader-lib/workqueue/sleepers.h"
#include "shm-layout/time_ns.h"

int
sleepers_init(struct sleepers *s)
{
	pthread_cond_t *conditions[] = {&s->more, &s->keeper_wakes, &s->drained};
	pthread_condattr_t attributes;
	int r = pthread_condattr_init(&attributes);

	if (r != 0)
		return -r;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	for (unsigned i = 0; i < 3; i++)
		pthread_cond_init(conditions[i], &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&s->lock, NULL);
	return 0;
}

void
sleepers_done(struct sleepers *s)
{
	pthread_cond_destroy(&s->more);
	pthread_cond_destroy(&s->keeper_wakes);
	pthread_cond_destroy(&s->drained);
	pthread_mutex_destroy(&s->lock);
}

uint64_t
deadline_of(int timeout_ms)
{
	return timeout_ms < 0 ? NEVER : time_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
}

bool
deadline_has_passed(uint64_t until_ns)
{
	return until_ns != NEVER && time_ns(CLOCK_MONOTONIC) >= until_ns;
}

void
sleepers_wake_one(struct sleepers *s)
{
	if (s->count > 0)
		pthread_cond_signal(&s->more);
	else if (s->keeper)
		pthread_cond_signal(&s->keeper_wakes);
}

void
sleepers_wake_keeper(struct sleepers *s)
{
	if (s->keeper)
		pthread_cond_signal(&s->keeper_wakes);
	else if (s->count > 0)
		pthread_cond_signal(&s->more);
}

void
sleepers_wake_drained(struct sleepers *s)
{
	pthread_cond_broadcast(&s->drained);
}

void
sleepers_wake_all(struct sleepers *s)
{
	pthread_cond_broadcast(&s->more);
	pthread_cond_broadcast(&s->keeper_wakes);
	pthread_cond_broadcast(&s->drained);
}

static void
sleep_until(struct sleepers *s, pthread_cond_t *condition, uint64_t until_ns)
{
	struct timespec t = {.tv_sec = (time_t)(until_ns / 1000000000u),
			     .tv_nsec = (long)(until_ns % 1000000000u)};

	if (until_ns == NEVER)
		pthread_cond_wait(condition, &s->lock);
	else
		pthread_cond_timedwait(condition, &s->lock, &t);
}

void
sleepers_wait(struct sleepers *s, uint64_t until_ns, uint64_t ready_ns)
{
	if (ready_ns != NEVER && !s->keeper) {
		s->keeper = true;
		sleep_until(s, &s->keeper_wakes, ready_ns < until_ns ? ready_ns : until_ns);
		s->keeper = false;
	} else {
		s->count++;
		sleep_until(s, &s->more, until_ns);
		s->count--;
	}
}

void
sleepers_wait_drained(struct sleepers *s, uint64_t until_ns)
{
	sleep_until(s, &s->drained, until_ns);
}
