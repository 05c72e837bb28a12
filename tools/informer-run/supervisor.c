/* The supervisor's rules; see supervisor.h. Every input ends in settle(), which does all that has become possible. */
#include "tools/informer-run/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum worker_state { WORKER_DOWN, WORKER_UP, WORKER_CLOSING, WORKER_KILLED };

/*
 * start_ms   WORKER_DOWN: when to start it
 * sent       what it has, in order of sending; `head_ms`: since when the first is the first
 * crashes    in a row
 * suspects   held events that are for it alone
 */
struct worker {
	enum worker_state state;
	uint64_t start_ms;
	struct event *sent_first, *sent_last;
	uint32_t sent;
	uint64_t head_ms;
	uint32_t crashes;
	uint32_t suspects;
};

/*
 * waiting        events that wait for their time, in no order; the earliest is waiting_ms
 * epoch          marks that were passed
 * failures       crashes since the last acknowledgement; acked: there was one since an event was set aside
 * broken         an event was lost: nothing is acknowledged any more
 */
struct supervisor {
	struct supervisor_options options;
	const struct supervisor_ops *ops;
	void *context;
	struct backlog backlog;
	struct event *waiting;
	uint64_t waiting_ms;
	uint64_t epoch;
	uint32_t failures;
	uint32_t suspects;
	uint32_t under_way;
	bool acked;
	bool held;
	bool draining;
	bool broken;
	struct event *resync; /* the mark, for workers that start amid it */
	struct informer_cursor acknowledged;
	struct supervisor_stats stats;
	struct worker workers[];
};

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

/* base * 2^n, at most max. */
static uint64_t
backoff(uint32_t base, uint32_t max, uint32_t n)
{
	uint64_t ms = (uint64_t)base << (n < 20 ? n : 20);

	return ms < max ? ms : max;
}

/* ---- events that wait for a time ---- */

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

/* ---- what workers have ---- */

static struct event *
find_sent(const struct worker *worker, uint64_t seq)
{
	struct event *event = worker->sent_first;

	while (event && event->seq != seq)
		event = event->sent_after;
	return event;
}

static void
take_from(struct supervisor *s, struct worker *worker, struct event *event, uint64_t now_ms)
{
	if (worker->sent_first == event)
		worker->head_ms = now_ms;
	*(event->sent_before ? &event->sent_before->sent_after : &worker->sent_first) = event->sent_after;
	*(event->sent_after ? &event->sent_after->sent_before : &worker->sent_last) = event->sent_before;
	event->sent_before = event->sent_after = NULL;
	worker->sent--;
	s->under_way--;
}

static void
suspect(struct supervisor *s, struct event *event, bool is)
{
	if (event->suspect == is)
		return;
	event->suspect = is;
	s->workers[event->worker].suspects += is ? 1 : UINT32_MAX;
	s->suspects += is ? 1 : UINT32_MAX;
}

/* ---- what becomes of an event ---- */

static void
finish(struct supervisor *s, struct worker *worker, struct event *event)
{
	suspect(s, event, false);
	s->stats.processed++;
	s->failures = 0;
	s->acked = true;
	worker->crashes = 0;
	backlog_remove(&s->backlog, event);
}

static void
try_later(struct supervisor *s, struct event *event, int64_t ms, uint64_t now_ms)
{
	suspect(s, event, false);
	s->stats.retries++;
	event->answers++;
	wait_until(s, event, now_ms + (ms >= 0 ? (uint64_t)ms : backoff(s->options.retry_ms, s->options.retry_max_ms, event->retries)));
	event->retries++;
}

/* A worker crashed, with this event first in its hands, and alone or not. */
static void
crashed_on(struct supervisor *s, struct worker *worker, struct event *event, bool alone, const char *why, uint64_t now_ms)
{
	uint32_t n = event->crashes++;

	event->answers++;
	if (event->crashes >= s->options.max_crashes && alone) {
		if (s->ops->set_aside(s->context, event, why) == 0) {
			suspect(s, event, false);
			s->stats.dead_letters++;
			if (s->acked) {
				s->failures = 0;
				worker->crashes = 0;
			}
			s->acked = false;
			backlog_remove(&s->backlog, event);
			return;
		}
		/* nowhere to put it: it stays, and is tried again */
		suspect(s, event, false);
		wait_until(s, event, now_ms + s->options.backoff_max_ms);
	} else if (s->options.exec) {
		wait_until(s, event,
			   now_ms + backoff(s->options.backoff_ms, s->options.backoff_max_ms, n > s->failures ? n : s->failures));
	} else {
		suspect(s, event, true);
		backlog_put(&s->backlog, event);
	}
}

/* ---- settling ---- */

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

		/* a seq is an answer's address: not twice in one worker (a new lineage counts anew) */
		if (worker->state == WORKER_UP && worker->suspects == 0 && worker->sent < s->options.window &&
		    (!best || worker->sent < best->sent) && !find_sent(worker, event->seq))
			best = worker;
	}
	return best;
}

static void
exec_failed(struct supervisor *s, struct worker *worker, struct event *event, int error, uint64_t now_ms)
{
	take_from(s, worker, event, now_ms);
	s->stats.restarts++;
	crashed_on(s, worker, event, true, strerror(-error), now_ms);
	s->failures++;
}

static void
send_ready(struct supervisor *s, uint64_t now_ms)
{
	for (struct event *event = s->backlog.ready_first, *next; event && event->epoch <= s->epoch; event = next) {
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

/* Whether every key before a mark was answered at least once. */
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

/* Pass marks whose time has come. Returns whether there was one. */
static bool
pass_mark(struct supervisor *s)
{
	struct event *mark = s->epoch < s->backlog.epochs ? backlog_mark(&s->backlog) : NULL;

	if (!mark || (mark->type != CHANGE_COALESCED && (!any_up(s) || !all_answered(mark))))
		return false;
	for (uint32_t i = 0; i < s->options.workers; i++)
		if (s->workers[i].state == WORKER_UP)
			s->ops->mark(s->context, i, mark);
	s->epoch++;
	s->stats.coalesced += mark->type == CHANGE_COALESCED;
	s->stats.resyncs += mark->type == CHANGE_RESYNC;
	if (mark->type != CHANGE_COALESCED) {
		event_free(s->resync);
		s->resync = mark->type == CHANGE_RESYNC ? event_new(CHANGE_RESYNC, NULL) : NULL;
		if (s->resync)
			s->resync->seq = mark->seq;
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
			worker->start_ms = now_ms + backoff(s->options.backoff_ms, s->options.backoff_max_ms, worker->crashes++);
			continue;
		}
		worker->state = WORKER_UP;
		if (s->resync)
			s->ops->mark(s->context, i, s->resync);
	}
}

static void
kill_overdue(struct supervisor *s, uint64_t now_ms)
{
	for (uint32_t i = 0; i < s->options.workers; i++) {
		struct worker *worker = &s->workers[i];

		if (worker->state != WORKER_UP || worker->sent == 0 || now_ms < worker->head_ms + s->options.deadline_ms)
			continue;
		worker->state = WORKER_KILLED;
		s->ops->kill(s->context, i, "no answer within the deadline");
	}
}

static void
report(struct supervisor *s)
{
	size_t limit = 2ul * s->options.workers * s->options.window;
	bool hold = s->draining || s->backlog.count >= (s->held ? (limit + 1) / 2 : limit) || s->backlog.bytes >= SUPERVISOR_BYTES_MAX;
	struct informer_cursor position;

	if (hold != s->held) {
		s->held = hold;
		s->ops->hold(s->context, hold);
	}
	if (!s->broken && backlog_position(&s->backlog, &position) && memcmp(&position, &s->acknowledged, sizeof(position)) != 0) {
		s->acknowledged = position;
		s->ops->acknowledge(s->context, &position);
	}
}

static void
settle(struct supervisor *s, uint64_t now_ms)
{
	kill_overdue(s, now_ms);
	if (!s->draining) {
		wake_due(s, now_ms);
		start_due(s, now_ms);
		do
			send_ready(s, now_ms);
		while (pass_mark(s));
	}
	report(s);
}

/* ---- inputs ---- */

int
supervisor_offer(struct supervisor *s, struct event *event, uint64_t now_ms)
{
	int r = backlog_add(&s->backlog, event, now_ms);

	s->broken |= r < 0;
	settle(s, now_ms);
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
	settle(s, now_ms);
}

bool
supervisor_acknowledged(struct supervisor *s, uint32_t i, uint64_t seq, uint64_t now_ms)
{
	struct worker *worker = &s->workers[i];
	struct event *event = find_sent(worker, seq);

	if (!event)
		return false;
	take_from(s, worker, event, now_ms);
	finish(s, worker, event);
	settle(s, now_ms);
	return true;
}

bool
supervisor_retry(struct supervisor *s, uint32_t i, uint64_t seq, int64_t ms, uint64_t now_ms)
{
	struct worker *worker = &s->workers[i];
	struct event *event = find_sent(worker, seq);

	if (!event)
		return false;
	take_from(s, worker, event, now_ms);
	try_later(s, event, ms, now_ms);
	settle(s, now_ms);
	return true;
}

/* A long-lived worker ended: whatever it had goes back. */
static void
lost(struct supervisor *s, struct worker *worker, const char *why, uint64_t now_ms)
{
	struct event *head = worker->sent_first;
	bool alone = worker->sent == 1;

	worker->state = WORKER_DOWN;
	s->stats.restarts += !s->draining;
	while (worker->sent_last != head) {
		struct event *event = worker->sent_last;

		take_from(s, worker, event, now_ms);
		suspect(s, event, true);
		backlog_put(&s->backlog, event);
	}
	if (head) {
		take_from(s, worker, head, now_ms);
		crashed_on(s, worker, head, alone, why, now_ms);
	}
	worker->start_ms = now_ms + backoff(s->options.backoff_ms, s->options.backoff_max_ms, worker->crashes);
	worker->crashes++;
	s->failures++;
}

void
supervisor_closing(struct supervisor *s, uint32_t i)
{
	if (s->workers[i].state == WORKER_UP)
		s->workers[i].state = WORKER_CLOSING;
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
		take_from(s, worker, event, now_ms);
		if (end == SUPERVISOR_END_DONE) {
			finish(s, worker, event);
		} else if (end == SUPERVISOR_END_RETRY) {
			try_later(s, event, -1, now_ms);
		} else {
			s->stats.restarts++;
			crashed_on(s, worker, event, true, why, now_ms);
			s->failures++;
		}
	}
	settle(s, now_ms);
}

void
supervisor_tick(struct supervisor *s, uint64_t now_ms)
{
	settle(s, now_ms);
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
	report(s);
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
