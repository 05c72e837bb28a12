/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's inputs; see supervisor.h. Each ends with supervisor_proceed(). */
#include "tools/informer-run/supervisor_internal.h"

#include <errno.h>
#include <stdlib.h>

int
supervisor_new(const struct supervisor_options *options, const struct supervisor_ops *ops, void *context,
	       struct supervisor **ret_supervisor)
{
	struct supervisor *s = calloc(1, sizeof(*s) + options->workers * sizeof(struct worker));

	if (!s)
		return -ENOMEM;
	s->options = *options;
	if (options->exec)
		s->options.window = 1;
	s->ops = ops;
	s->context = context;
	s->waiting_ms = SUPERVISOR_NEVER;
	s->acked = true;
	if (backlog_init(&s->backlog, 2ul * options->workers * s->options.window) < 0) {
		free(s);
		return -ENOMEM;
	}
	*ret_supervisor = s;
	return 0;
}

void
supervisor_free(struct supervisor *s)
{
	if (!s)
		return;
	event_free(s->resync);
	backlog_done(&s->backlog);
	free(s);
}

/* ---- inputs ---- */

int
supervisor_offer(struct supervisor *s, struct event *event, uint64_t now_ms)
{
	int r = backlog_add(&s->backlog, event, now_ms);

	s->broken |= r < 0;
	supervisor_proceed(s, now_ms);
	return r;
}

void
supervisor_lose(struct supervisor *s)
{
	s->broken = true;
}

void
supervisor_told(struct supervisor *s, const struct informer_cursor *cursor, uint64_t now_ms)
{
	backlog_told(&s->backlog, cursor);
	supervisor_proceed(s, now_ms);
}

/* The worker answered: it got past the marks before the event. */
static void
passed_marks(struct supervisor *s, struct worker *worker, const struct event *event)
{
	struct event *resync = s->resync;

	if (event->number > worker->mark)
		worker->mark = 0;
	if (!resync)
		return;
	if (!worker->bare) {
		resync->answers |= event->number > resync->number;
	} else if (resync->answers == 0 && !s->resync_aside) {
		s->resync_aside = true;
		s->stats.resyncs_aside++;
		s->stats.dead_letters +=
			s->ops->set_aside(s->context, resync, "handlers answer without it") == 0;
	}
}

bool
supervisor_acknowledged(struct supervisor *s, uint32_t i, uint64_t seq, uint64_t now_ms)
{
	struct worker *worker = &s->workers[i];
	struct event *event = supervisor_find_sent(worker, seq);

	if (!event)
		return false;
	supervisor_take_from(s, worker, event, now_ms);
	passed_marks(s, worker, event);
	supervisor_finish(s, worker, event);
	supervisor_proceed(s, now_ms);
	return true;
}

bool
supervisor_retry(struct supervisor *s, uint32_t i, uint64_t seq, int64_t ms, uint64_t now_ms)
{
	struct worker *worker = &s->workers[i];
	struct event *event = supervisor_find_sent(worker, seq);

	if (!event)
		return false;
	supervisor_take_from(s, worker, event, now_ms);
	passed_marks(s, worker, event);
	supervisor_try_later(s, event, ms, now_ms);
	supervisor_proceed(s, now_ms);
	return true;
}

/* A long-lived worker ended: take back its events. */
static void
lost(struct supervisor *s, struct worker *worker, const char *why, uint64_t now_ms)
{
	struct event *head = worker->sent_first;
	bool alone = worker->sent == 1 && worker->mark == 0;

	worker->state = WORKER_DOWN;
	s->stats.restarts += !s->draining;
	while (worker->sent_last != head) {
		struct event *event = worker->sent_last;

		supervisor_take_from(s, worker, event, now_ms);
		supervisor_suspect(s, event, true);
		backlog_put(&s->backlog, event);
	}
	if (head) {
		supervisor_take_from(s, worker, head, now_ms);
		supervisor_crashed_on(s, worker, head, alone, why, now_ms);
	}
	worker->bare = false;
	if (s->resync && worker->mark == s->resync->number) {
		s->resync->crashes++;
		worker->bare = head && head->crashes + 1 >= s->options.max_crashes;
	}
	worker->mark = 0;
	worker->start_ms = now_ms + supervisor_backoff(s->options.backoff_ms, s->options.backoff_max_ms,
						       worker->crashes);
	worker->crashes++;
	s->failures++;
}

void
supervisor_closing(struct supervisor *s, uint32_t i)
{
	if (s->workers[i].state == WORKER_UP)
		s->workers[i].state = WORKER_CLOSING;
}

const char *
supervisor_unanswered_mark(const struct supervisor *s, uint32_t i)
{
	return s->workers[i].mark > 0 ? change_type_name(s->workers[i].mark_type) : NULL;
}

void
supervisor_exited(struct supervisor *s, uint32_t i, enum supervisor_end end, const char *why, uint64_t now_ms)
{
	struct worker *worker = &s->workers[i];
	struct event *event = worker->sent_first;

	if (worker->state == WORKER_KILLED) {
		end = SUPERVISOR_END_CRASH;
		why = "no answer within the deadline";
	}
	if (!s->options.exec) {
		if (worker->state != WORKER_DOWN)
			lost(s, worker, why, now_ms);
	} else if (event) {
		worker->state = WORKER_UP;
		supervisor_take_from(s, worker, event, now_ms);
		if (end == SUPERVISOR_END_DONE) {
			supervisor_finish(s, worker, event);
		} else if (end == SUPERVISOR_END_RETRY) {
			supervisor_try_later(s, event, -1, now_ms);
		} else {
			s->stats.restarts++;
			supervisor_crashed_on(s, worker, event, true, why, now_ms);
			s->failures++;
		}
	}
	supervisor_proceed(s, now_ms);
}

void
supervisor_tick(struct supervisor *s, uint64_t now_ms)
{
	supervisor_proceed(s, now_ms);
}

uint64_t
supervisor_next(const struct supervisor *s)
{
	uint64_t next = s->draining ? SUPERVISOR_NEVER : s->waiting_ms;

	for (uint32_t i = 0; i < s->options.workers; i++) {
		const struct worker *worker = &s->workers[i];
		uint64_t at = SUPERVISOR_NEVER;

		if (worker->state == WORKER_DOWN && !s->draining)
			at = worker->start_ms;
		else if (worker->state == WORKER_UP && worker->sent > 0)
			at = worker->head_ms + s->options.deadline_ms;
		if (at < next)
			next = at;
	}
	return next;
}

void
supervisor_drain(struct supervisor *s)
{
	s->draining = true;
	supervisor_report(s);
}

bool
supervisor_busy(const struct supervisor *s)
{
	return s->under_way > 0;
}

void
supervisor_stats(const struct supervisor *s, struct supervisor_stats *ret_stats)
{
	*ret_stats = s->stats;
	ret_stats->held = s->backlog.count;
	ret_stats->under_way = s->under_way;
	ret_stats->oldest_ms = s->backlog.first ? s->backlog.first->arrived_ms : 0;
	for (uint32_t i = 0; i < s->options.workers; i++)
		ret_stats->up += s->workers[i].state == WORKER_UP;
}
