/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of an event at a worker: done, retried, set aside, or suspect; see supervisor.h. */
#include "tools/informer-run/supervisor_internal.h"

uint64_t
supervisor_backoff(uint32_t base, uint32_t max, uint32_t n)
{
	uint64_t ms = (uint64_t)base << (n < 20 ? n : 20);

	return ms < max ? ms : max;
}

/* ---- events waiting for a time ---- */

static void
wait_until(struct supervisor *s, struct event *event, uint64_t due_ms)
{
	event->state = EVENT_WAITING;
	event->due_ms = due_ms;
	event->ready_before = NULL;
	event->ready_after = s->waiting;
	if (s->waiting)
		s->waiting->ready_before = event;
	s->waiting = event;
	if (due_ms < s->waiting_ms)
		s->waiting_ms = due_ms;
}

/* ---- events sent to workers ---- */

struct event *
supervisor_find_sent(const struct worker *worker, uint64_t seq)
{
	struct event *event = worker->sent_first;

	while (event && event->seq != seq)
		event = event->sent_after;
	return event;
}

void
supervisor_take_from(struct supervisor *s, struct worker *worker, struct event *event, uint64_t now_ms)
{
	if (worker->sent_first == event)
		worker->head_ms = now_ms;
	*(event->sent_before ? &event->sent_before->sent_after : &worker->sent_first) = event->sent_after;
	*(event->sent_after ? &event->sent_after->sent_before : &worker->sent_last) = event->sent_before;
	event->sent_before = event->sent_after = NULL;
	worker->sent--;
	s->under_way--;
}

void
supervisor_suspect(struct supervisor *s, struct event *event, bool is)
{
	if (event->suspect == is)
		return;
	event->suspect = is;
	s->workers[event->worker].suspects += is ? 1 : UINT32_MAX;
	s->suspects += is ? 1 : UINT32_MAX;
}

/* ---- ends of an event ---- */

void
supervisor_finish(struct supervisor *s, struct worker *worker, struct event *event)
{
	supervisor_suspect(s, event, false);
	s->stats.processed++;
	s->failures = 0;
	s->acked = true;
	worker->crashes = 0;
	backlog_remove(&s->backlog, event);
}

void
supervisor_try_later(struct supervisor *s, struct event *event, int64_t ms, uint64_t now_ms)
{
	supervisor_suspect(s, event, false);
	s->stats.retries++;
	event->answers++;
	wait_until(s, event,
		   now_ms + (ms >= 0 ? (uint64_t)ms
				     : supervisor_backoff(s->options.retry_ms, s->options.retry_max_ms,
							  event->retries)));
	event->retries++;
}

void
supervisor_crashed_on(struct supervisor *s, struct worker *worker, struct event *event, bool alone,
		      const char *why, uint64_t now_ms)
{
	uint32_t n = event->crashes++;

	event->answers++;
	if (event->crashes >= s->options.max_crashes && alone) {
		if (s->ops->set_aside(s->context, event, why) == 0) {
			supervisor_suspect(s, event, false);
			s->stats.dead_letters++;
			if (s->acked) {
				s->failures = 0;
				worker->crashes = 0;
			}
			s->acked = false;
			backlog_remove(&s->backlog, event);
			return;
		}
		/* it cannot be set aside: retry it later */
		supervisor_suspect(s, event, false);
		wait_until(s, event, now_ms + s->options.backoff_max_ms);
	} else if (s->options.exec) {
		wait_until(s, event,
			   now_ms + supervisor_backoff(s->options.backoff_ms, s->options.backoff_max_ms,
						       n > s->failures ? n : s->failures));
	} else {
		supervisor_suspect(s, event, true);
		backlog_put(&s->backlog, event);
	}
}
