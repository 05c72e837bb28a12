/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_changes_next(): runs a pulled handler until it has a change. Waits as wait.c does: arm, look,
 * sleep.
 */
#include "reader-lib/events/run.h"
#include "reader-lib/events/wait.h"
#include "shm-layout/time_ns.h"

static int
say_removed(void)
{
	return error_set(INFORMER_E_STOPPED, "the handler was removed");
}

/* locked; the lock is released meanwhile. 1: a change was recorded; 0: there is none now; or negative. */
static int
pull(struct informer_handler *h)
{
	struct changes *c;
	int r;

	if (!h->work || h->removed)
		return say_removed();
	if (h->claimed)
		return error_set(-EBUSY, "another thread is in informer_changes_next() with this handler");
	c = h->work->changes;
	run_claim(h);
	pthread_mutex_unlock(&h->inf->run->wait_lock);
	c->taken = false;
	do
		r = handler_turn(h);
	while (r > 0 && !handler_leaves(h));
	pthread_mutex_lock(&h->inf->run->wait_lock);
	run_let_go(h, r);
	return h->work ? c->taken : say_removed();
}

/* locked. Nothing came: sleep until something may have come, or until end_ns. False: that time is over. */
static bool
sleep_once(struct informer_handler *h, uint64_t end_ns, bool *stepped)
{
	struct informer *inf = h->inf;

	/* News after this call wakes this thread. */
	run_prepare_sleep(inf);
	if (handler_due(h, time_ns(CLOCK_MONOTONIC)))
		return true;
	if (time_ns(CLOCK_MONOTONIC) < end_ns) {
		if (inf->run->leader)
			wait_on(&inf->run->wait_cond, &inf->run->wait_lock, end_ns);
		else
			run_lead(inf, wait_left_ms(end_ns), false);
		return true;
	}
	/* A caller that never sleeps here drives the connection all the same. */
	if (*stepped)
		return false;
	*stepped = true;
	pthread_mutex_unlock(&inf->run->wait_lock);
	wait_step(inf);
	pthread_mutex_lock(&inf->run->wait_lock);
	return true;
}

int
informer_changes_next(struct informer_handler *h, int timeout_ms, const struct informer_change **ret_change)
{
	uint64_t end_ns = wait_deadline(timeout_ms);
	bool stepped = false;
	int r;

	if (!h || !ret_change)
		return -EINVAL;
	if (forked(h->inf))
		return INFORMER_E_FORKED;
	if (!h->pulled)
		return error_set(-EINVAL, "the handler was not added with pull");
	*ret_change = NULL;
	pthread_mutex_lock(&h->inf->run->wait_lock);
	h->inf->run->waiters++;
	while ((r = pull(h)) == 0 && sleep_once(h, end_ns, &stepped))
		;
	h->inf->run->waiters--;
	if (r > 0)
		*ret_change = &h->work->changes->change;
	else
		run_show_due(h->inf);
	pthread_mutex_unlock(&h->inf->run->wait_lock);
	return r;
}
