/* SPDX-License-Identifier: Apache-2.0 */
/* Does what has become possible: start, kill, send, mark, acknowledge; see supervisor.h. */
#include <string.h>

#include "tools/informer-run/supervisor_internal.h"

static void
wake_due(struct supervisor *s, uint64_t now_ms)
{
	if (now_ms < s->waiting_ms)
		return;
	s->waiting_ms = SUPERVISOR_NEVER;
	for (struct event *event = s->waiting, *next; event; event = next) {
		next = event->ready_after;
		if (event->due_ms > now_ms) {
			if (event->due_ms < s->waiting_ms)
				s->waiting_ms = event->due_ms;
			continue;
		}
		*(event->ready_before ? &event->ready_before->ready_after : &s->waiting) = next;
		if (next)
			next->ready_before = event->ready_before;
		backlog_put(&s->backlog, event);
	}
}

static struct worker *
least_busy(struct supervisor *s, const struct event *event)
{
	struct worker *best = NULL;

	if (event->suspect) {
		best = &s->workers[event->worker];
		return best->state == WORKER_UP && best->sent == 0 ? best : NULL;
	}
	for (uint32_t i = 0; i < s->options.workers; i++) {
		struct worker *worker = &s->workers[i];

		/* an answer names a seq, so a worker never has two equal ones (a new lineage counts anew) */
		if (worker->state == WORKER_UP && worker->suspects == 0 && worker->sent < s->options.window &&
		    (!best || worker->sent < best->sent) && !supervisor_find_sent(worker, event->seq))
			best = worker;
	}
	return best;
}

static void
exec_failed(struct supervisor *s, struct worker *worker, struct event *event, int error, uint64_t now_ms)
{
	supervisor_take_from(s, worker, event, now_ms);
	s->stats.restarts++;
	supervisor_crashed_on(s, worker, event, true, strerror(-error), now_ms);
	s->failures++;
}

static void
send_ready(struct supervisor *s, uint64_t now_ms)
{
	for (struct event *event = s->backlog.ready_first, *next; event && event->epoch <= s->epoch;
	     event = next) {
		struct worker *worker = least_busy(s, event);
		int r;

		next = event->ready_after;
		if (!worker) {
			if (s->suspects == 0 && s->under_way >= s->options.workers * s->options.window)
				return;
			continue;
		}
		backlog_take(&s->backlog, event, EVENT_SENT);
		event->worker = (uint32_t)(worker - s->workers);
		event->sent_before = worker->sent_last;
		*(worker->sent_last ? &worker->sent_last->sent_after : &worker->sent_first) = event;
		worker->sent_last = event;
		if (worker->sent++ == 0)
			worker->head_ms = now_ms;
		s->under_way++;
		r = s->ops->send(s->context, event->worker, event);
		if (r < 0 && s->options.exec)
			exec_failed(s, worker, event, r, now_ms);
	}
}

/* Whether each key before a mark was answered at least once. */
static bool
all_answered(const struct event *mark)
{
	for (const struct event *event = mark->previous; event; event = event->previous)
		if (event->chain && event->chain->first->answers == 0)
			return false;
	return true;
}

static bool
any_up(const struct supervisor *s)
{
	for (uint32_t i = 0; i < s->options.workers; i++)
		if (s->workers[i].state == WORKER_UP)
			return true;
	return false;
}

/* Give a mark to a process that runs. A RESYNC that a process got past is no cause of crashes. */
static void
give_mark(struct supervisor *s, struct worker *worker, const struct event *mark)
{
	s->ops->mark(s->context, (uint32_t)(worker - s->workers), mark);
	if (s->options.exec || mark->answers > 0)
		return;
	worker->mark = mark->number;
	worker->mark_type = mark->type;
}

/* Pass the next mark if it is due. Returns whether one was passed. */
static bool
pass_mark(struct supervisor *s)
{
	struct event *mark = s->epoch < s->backlog.epochs ? backlog_mark(&s->backlog) : NULL;

	if (!mark || (mark->type != CHANGE_COALESCED && (!any_up(s) || !all_answered(mark))))
		return false;
	for (uint32_t i = 0; i < s->options.workers; i++) {
		struct worker *worker = &s->workers[i];

		worker->bare &= mark->type != CHANGE_RESYNC;
		if (worker->state == WORKER_UP && !(worker->bare && mark->type == CHANGE_RESYNC_END))
			give_mark(s, worker, mark);
	}
	s->epoch++;
	s->stats.coalesced += mark->type == CHANGE_COALESCED;
	s->stats.resyncs += mark->type == CHANGE_RESYNC;
	if (mark->type != CHANGE_COALESCED) {
		event_free(s->resync);
		s->resync_aside = false;
		s->resync = mark->type == CHANGE_RESYNC ? event_new(CHANGE_RESYNC, NULL) : NULL;
		if (s->resync) {
			s->resync->seq = mark->seq;
			s->resync->number = mark->number;
			s->resync->resync = mark->resync;
		}
	}
	backlog_remove(&s->backlog, mark);
	return true;
}

static void
start_due(struct supervisor *s, uint64_t now_ms)
{
	for (uint32_t i = 0; i < s->options.workers; i++) {
		struct worker *worker = &s->workers[i];

		if (worker->state != WORKER_DOWN || worker->start_ms > now_ms)
			continue;
		if (!s->options.exec && s->ops->start(s->context, i) < 0) {
			worker->start_ms = now_ms + supervisor_backoff(s->options.backoff_ms,
								       s->options.backoff_max_ms,
								       worker->crashes++);
			continue;
		}
		worker->state = WORKER_UP;
		worker->bare = s->resync && s->resync->answers == 0 && (worker->bare || s->resync_aside);
		if (s->resync && !worker->bare)
			give_mark(s, worker, s->resync);
	}
}

static void
kill_overdue(struct supervisor *s, uint64_t now_ms)
{
	for (uint32_t i = 0; i < s->options.workers; i++) {
		struct worker *worker = &s->workers[i];

		if (worker->state != WORKER_UP || worker->sent == 0 ||
		    now_ms < worker->head_ms + s->options.deadline_ms)
			continue;
		worker->state = WORKER_KILLED;
		s->ops->kill(s->context, i, "no answer within the deadline");
	}
}

void
supervisor_report(struct supervisor *s)
{
	size_t limit = 2ul * s->options.workers * s->options.window;
	bool hold = s->draining || s->backlog.count >= (s->held ? (limit + 1) / 2 : limit) ||
		    s->backlog.bytes >= SUPERVISOR_BYTES_MAX;
	struct informer_cursor position;

	if (hold != s->held) {
		s->held = hold;
		s->ops->hold(s->context, hold);
	}
	if (!s->broken && backlog_position(&s->backlog, &position) &&
	    memcmp(&position, &s->acknowledged, sizeof(position)) != 0) {
		s->acknowledged = position;
		s->ops->acknowledge(s->context, &position);
	}
}

void
supervisor_proceed(struct supervisor *s, uint64_t now_ms)
{
	kill_overdue(s, now_ms);
	if (!s->draining) {
		wake_due(s, now_ms);
		start_due(s, now_ms);
		do
			send_ready(s, now_ms);
		while (pass_mark(s));
	}
	supervisor_report(s);
}
