/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waking readers: who is due, and who signals them.
 *
 * The kernel signals eventfds in a way that never waits (eventfd_signal.h), from the loop; where there is no
 * such way (a kernel without it, a filter of system calls) a thread writes to them (broker_wake_task.c).
 *
 * What a signal costs is in its reader's hand: the kernel goes through everybody who waits for the eventfd, a
 * hundred thousand entries of epoll instances among them, and it does so on the thread that signals. So each
 * round is measured as a whole. Where one takes longer than it may, its readers are SUSPECT: the next time
 * each is signalled after the others and measured alone, by what it takes of our processor (so not by who
 * else has that). One that is dear, twice unless it is very, goes ASIDE: a thread signals those, one at a
 * time by turns, and rests REST times as long as that took. It comes back when its signal is cheap again, a
 * second after it went aside at the earliest, and twice as long each further time: so what it can take from
 * the loop is two very dear signals, and one more each time the span has doubled.
 *
 * Who hangs up and comes anew has no past. So one that comes is SUSPECT; and when one was dear, those that
 * come begin ASIDE for a while, which doubles alike. As long as they are not dear their turn comes first
 * there and without a rest: they are woken some 50 µs later than by the loop. But the rest after a dear one
 * is also that of those of the same user who come and were never measured; else he had the thread to himself,
 * a new one each time.
 */
#include <inttypes.h>
#include <string.h>

#include "shm-layout/time_ns.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/eventfd_signal.h"
#include "writer/base/log.h"

/* What the readers of a round may take together; each one at least, and at most. A usual one takes 2 µs. */
#define ROUND_NS  400000u
#define LEAST_NS  20000u
#define MOST_NS   100000u
#define SURELY_NS 1000000u /* what a busy machine may add to one of them now and then */
#define ASIDE_MS  1000u	/* the first time */
#define ALARM_TWICE_MAX 6u /* for newcomers: 64 seconds; and forgotten after as many without */
#define TWICE_MAX 12u	/* then twice as long, so often: 68 minutes */
/*
 * The thread works half a percent of the time at most: what it does stops the processor that it does it on,
 * for the kernel goes through those who wait without being interrupted, and that hurts who else runs there.
 */
#define REST 199u

/* ---- what a signal may cost ---- */

static uint64_t
allowed_ns(size_t readers)
{
	uint64_t each = ROUND_NS / readers;

	return each < LEAST_NS ? LEAST_NS : each > MOST_NS ? MOST_NS : each;
}

/* One that was never dear before is. */
static void
raise_alarm(struct broker *b)
{
	struct wake *wake = &b->wake;
	uint64_t now = uv_now(b->loop), longest = (uint64_t)ASIDE_MS << ALARM_TWICE_MAX;

	if (now > wake->alarm_until_ms + longest)
		wake->newcomers_dear = 0;
	wake->alarm_until_ms = now + ((uint64_t)ASIDE_MS << wake->newcomers_dear);
	if (wake->newcomers_dear < ALARM_TWICE_MAX)
		wake->newcomers_dear++;
}

void
wake_judge_newcomer(struct client *c)
{
	const struct wake *wake = &c->broker->wake;

	c->waker->class = WAKE_SUSPECT;
	if (uv_now(c->broker->loop) >= wake->alarm_until_ms)
		return;
	c->waker->class = WAKE_ASIDE;
	c->waker->aside_until_ms = wake->alarm_until_ms;
}

static void
go_aside(struct broker *b, struct waker *waker)
{
	unsigned twice = waker->times_dear < TWICE_MAX ? waker->times_dear : TWICE_MAX;

	if (waker->times_dear == 0)
		raise_alarm(b);

	waker->class = WAKE_ASIDE;
	waker->times_dear++;
	waker->aside_until_ms = uv_now(b->loop) + ((uint64_t)ASIDE_MS << twice);
	waker->turn = b->wake.turns++;
}

static uint64_t
rest_ms(const struct waker *waker)
{
	return 1 + waker->cost_ns * REST / 1000000u;
}

/* It was measured, where it had that much. */
static void
judge(struct broker *b, struct waker *waker, uint64_t allowed)
{
	bool dear = waker->cost_ns > allowed, again = waker->doubted;

	waker->doubted = dear;
	if (waker->cost_ns > MOST_NS)
		ration_rest(b, waker->uid, rest_ms(waker));
	if (!dear)
		waker->class = WAKE_PROMPT;
	else if (again || waker->cost_ns > SURELY_NS)
		go_aside(b, waker);
	else
		waker->class = WAKE_SUSPECT;
}

/* Told of one that is dear on the loop's thread and on the other one: it was not the processor's mood. */
static void
tell(struct broker *b, const struct client *c)
{
	if (c->waker->told || !broker_may_tell(b))
		return;
	c->waker->told = true;
	log_warning("to wake reader %s (pid %ld, uid %lu) takes %" PRIu64 " µs, so many wait for its event "
		    "descriptor: it is woken by a thread aside, and less often",
		    c->name, (long)c->peer.pid, (unsigned long)c->peer.uid, c->waker->cost_ns / 1000u);
}

/* ---- by a thread: those aside ---- */

static bool
is_dear(const struct client *c)
{
	return c->waker->cost_ns > MOST_NS;
}

/* For how long: those that are dear while the thread rests, and those of whom it is feared. */
static uint64_t
rests_for_ms(struct broker *b, const struct client *c)
{
	uint64_t until = b->wake.rest_until_ms, now = uv_now(b->loop);

	if (is_dear(c))
		return until > now ? until - now : 0;
	return c->waker->cost_ns == 0 ? ration_rest_left_ms(b, c->waker->uid) : 0;
}

/*
 * One that is not dear, else one that is; of these the one whose last turn was longest ago. NULL: none may be
 * woken now; then one may in so many milliseconds, if that is not 0.
 */
static struct client *
next_aside(struct broker *b, uint64_t *ret_later_ms)
{
	const struct wake *wake = &b->wake;
	struct client *next = NULL;
	uint64_t later;

	*ret_later_ms = 0;
	for (size_t i = 0; i < wake->sleeper_count; i++) {
		struct client *c = wake->sleepers[i];

		if (!c->due || c->waker->class != WAKE_ASIDE)
			continue;
		later = rests_for_ms(b, c);
		if (later > 0) {
			if (*ret_later_ms == 0 || later < *ret_later_ms)
				*ret_later_ms = later;
			continue;
		}
		if (!next || is_dear(c) < is_dear(next) ||
		    (is_dear(c) == is_dear(next) && c->waker->turn < next->waker->turn))
			next = c;
	}
	return next;
}

static void rested(uv_timer_t *timer);

/* The next one, or later, when one has rested. */
static void
start_aside(struct broker *b)
{
	struct wake_task *task = &b->wake.aside;
	uint64_t later;
	struct client *c;

	if (task->active)
		return;
	c = next_aside(b, &later);
	if (!c) {
		if (later > 0)
			uv_timer_start(&b->wake.rest, rested, later, 0);
		return;
	}
	c->waker->turn = b->wake.turns++;
	c->due = false;
	wake_task_add(task, c->waker);
	wake_task_run(task);
}

static void
rested(uv_timer_t *timer)
{
	start_aside(timer->data);
}

static struct client *
client_of(const struct broker *b, const struct waker *waker)
{
	struct client *c = b->clients;

	while (c && c->waker != waker)
		c = c->next;
	return c;
}

static void
aside_over(struct wake_task *task)
{
	struct broker *b = task->broker;
	struct waker *waker = task->wakers[0];
	struct client *c = client_of(b, waker);
	bool signalled = waker->signalled;

	if (waker->cost_ns > MOST_NS && waker->times_dear == 0)
		go_aside(b, waker);	/* a newcomer */
	if (c && waker->cost_ns > MOST_NS)
		tell(b, c);
	else if (waker->signalled && uv_now(b->loop) >= waker->aside_until_ms)
		waker->class = WAKE_SUSPECT;
	if (c && !waker->signalled)
		c->due = true;	/* the kernel had no memory for it; later */
	if (waker->cost_ns > MOST_NS) {
		b->wake.rest_until_ms = uv_now(b->loop) + rest_ms(waker);
		ration_rest(b, waker->uid, rest_ms(waker));
	}
	if (!signalled)
		uv_timer_start(&b->wake.rest, rested, rest_ms(waker), 0);
	wake_task_clear(task);
	if (signalled)
		start_aside(b);
}

/* ---- by a thread: all, where they have to be written ---- */

static void
start_writing(struct broker *b)
{
	struct wake_task *task = &b->wake.writing;

	if (task->active)
		return;
	for (struct client *c = b->clients; c; c = c->next) {
		if (!c->due || !c->waker || c->waker->class == WAKE_ASIDE ||
		    task->count == b->options.max_readers)
			continue;
		c->due = false;
		wake_task_add(task, c->waker);
	}
	if (task->count > 0)
		wake_task_run(task);
}

static void
writing_over(struct wake_task *task)
{
	struct broker *b = task->broker;

	for (size_t i = 0; i < task->count; i++)
		judge(b, task->wakers[i], MOST_NS);
	wake_task_clear(task);
	start_writing(b);
	start_aside(b);
}

/* ---- by the loop ---- */

/*
 * Those in good standing, in one call, those first who have been there for long. What the kernel refused
 * stays due. Returns whether anybody does, for this or another reason.
 */
static bool
signal_prompt(struct broker *b)
{
	struct wake *wake = &b->wake;
	size_t count = 0, done, left;
	bool others = false, slow;
	uint64_t start;

	for (size_t i = 0; i < wake->sleeper_count; i++) {
		const struct client *c = wake->sleepers[i];

		if (c->due && c->waker->class == WAKE_PROMPT)
			wake->fds[count++] = c->waker->fd;
		else
			others |= c->due;
	}
	if (count == 0)
		return others;
	start = time_ns(CLOCK_MONOTONIC);
	done = eventfd_signal_all(wake->signal, wake->fds, count);
	slow = time_ns(CLOCK_MONOTONIC) - start > count * allowed_ns(count);
	b->stats.wakeups += done;
	left = done;
	for (size_t i = 0; left > 0; i++) {
		struct client *c = wake->sleepers[i];

		if (!c->due || c->waker->class != WAKE_PROMPT)
			continue;
		c->due = false;
		if (slow)
			c->waker->class = WAKE_SUSPECT;
		left--;
	}
	return others || done < count;
}

static void
signal_suspect(struct broker *b, struct client *c, uint64_t allowed)
{
	uint64_t start = time_ns(CLOCK_THREAD_CPUTIME_ID);

	if (eventfd_signal_all(b->wake.signal, &c->waker->fd, 1) == 0)
		return;
	c->due = false;
	c->waker->cost_ns = time_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	b->stats.wakeups++;
	judge(b, c->waker, allowed);
}

static void
signal_suspects(struct broker *b)
{
	const struct wake *wake = &b->wake;
	size_t count = 0;

	for (size_t i = 0; i < wake->sleeper_count; i++)
		count += wake->sleepers[i]->due && wake->sleepers[i]->waker->class == WAKE_SUSPECT;
	for (size_t i = 0; count > 0 && i < wake->sleeper_count; i++)
		if (wake->sleepers[i]->due && wake->sleepers[i]->waker->class == WAKE_SUSPECT)
			signal_suspect(b, wake->sleepers[i], allowed_ns(count));
}

static void
wake_due(struct broker *b)
{
	if (b->wake.signal) {
		if (!signal_prompt(b))
			return;
		signal_suspects(b);
	}
	start_writing(b);
	start_aside(b);
}

void
wake_open(struct broker *b)
{
	wake_task_init(&b->wake.writing, b, writing_over);
	wake_task_init(&b->wake.aside, b, aside_over);
	uv_timer_init(b->loop, &b->wake.rest);
	b->wake.rest.data = b;
	b->open_handles++;
}

void
wake_close(struct broker *b)
{
	wake_task_close(&b->wake.writing);
	wake_task_close(&b->wake.aside);
	uv_close((uv_handle_t *)&b->wake.rest, broker_on_closed);
}

void
broker_wake(void *broker, uint64_t epoch)
{
	struct broker *b = broker;
	struct wake *wake = &b->wake;
	size_t count = wake->sleeper_count;
	struct client *c;
	bool any = false;

	(void)epoch;
	/*
	 * Root and queues were stored; the armed words are loaded now. Meets the fence in arm()
	 * (reader-lib/events/wait.c) and arm_for_handlers() beside it, where a reader sets its word and then
	 * looks at root and queues. Without it both could miss the other: the reader sleeps over what just
	 * came, and nobody wakes it.
	 */
	slot_fence();
	for (size_t i = 0; i < count; i++) {
		uint32_t answers = ARMED_COMMIT | (wake->queue_due[i] ? ARMED_QUEUE : 0);

		if ((atomic_load_explicit(wake->armed[i], memory_order_relaxed) & answers) == 0)
			continue;
		c = wake->sleepers[i];
		c->due |= pins_take_armed(c->pins, c->slot, answers);
		any |= c->due;
	}
	memset(wake->queue_due, 0, count * sizeof(wake->queue_due[0]));
	if (any)
		wake_due(b);
}
