/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the handlers by turns, for informer_run(), informer_dispatch() and waiters: claims, leads, wakes, lets
 * go.
 */
#include "reader-lib/events/run.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "reader-lib/attach/connection.h"
#include "shm-layout/time_ns.h"

#define RETRY_NS 10000000ull
/* What a handler gets of one informer_dispatch(). */
#define DISPATCH_TURNS 4u
#define DISPATCH_NS 2000000ull

static void
set_due(struct informer *inf, bool due)
{
	eventfd_t count;

	if (due == inf->run->due_set)
		return;
	inf->run->due_set = due;
	if (due)
		eventfd_write(inf->run->due, 1);
	else
		eventfd_read(inf->run->due, &count);
}

/* locked. Not pulled handlers: their callers run them. */
static struct informer_handler *
find_due(struct informer *inf, struct informer_handler *after, uint64_t now)
{
	for (struct informer_handler *h = after ? after->next : inf->run->handlers; h; h = h->next)
		if (!h->claimed && !h->pulled && handler_due(h, now))
			return h;
	return NULL;
}

/* locked. Whether a handler is due that no thread of informer_run() runs. */
static bool
is_due_outside(struct informer *inf)
{
	uint64_t now = time_ns(CLOCK_MONOTONIC);
	struct informer_handler *h = inf->run->handlers;

	while (h && (h->claimed || (inf->run->running && !h->pulled) || !handler_due(h, now)))
		h = h->next;
	return h != NULL;
}

void
run_show_due(struct informer *inf)
{
	set_due(inf, is_due_outside(inf));
}

void
run_claim(struct informer_handler *h)
{
	h->claimed = true;
	h->runner = pthread_self();
	h->retry_ns = 0;
}

/* Only for handlers that are not due yet: an alarm that rang would keep a waiter awake. */
static void
set_alarm(struct informer *inf, uint64_t now)
{
	uint64_t at = UINT64_MAX, one;
	struct itimerspec when = {0};

	for (struct informer_handler *h = inf->run->handlers; h; h = h->next) {
		one = h->claimed ? UINT64_MAX : handler_due_at(h);
		at = one > now && one < at ? one : at;
	}
	if (at == inf->run->alarm_at)
		return;
	inf->run->alarm_at = at;
	if (at != UINT64_MAX) {
		when.it_value.tv_sec = (time_t)(at / 1000000000u);
		when.it_value.tv_nsec = (long)(at % 1000000000u);
	}
	timerfd_settime(inf->run->alarm, TFD_TIMER_ABSTIME, &when, NULL);
}

/* locked, and claimed by this thread. Call on_done, and end the handler. Releases the lock meanwhile. */
static void
finish(struct informer *inf, struct informer_handler *h)
{
	struct handler_work *w = h->work;

	pthread_mutex_unlock(&inf->run->wait_lock);
	w->kind->end(h);
	if (w->o.on_done)
		w->o.on_done(w->o.context);
	pthread_mutex_lock(&inf->run->wait_lock);
	pthread_mutex_lock(&inf->lock);
	subscription_remove(inf, &w->sub);
	h->work = NULL;
	pthread_mutex_unlock(&inf->lock);
	handler_work_free(inf, w, false);
	inf->run->handler_count--;
	h->claimed = false;
	pthread_cond_broadcast(&inf->run->handler_cond);
}

void
run_let_go(struct informer_handler *h, int r)
{
	struct informer *inf = h->inf;

	if (h->removed) {
		finish(inf, h);
		return;
	}
	if (r < 0)
		h->retry_ns = time_ns(CLOCK_MONOTONIC) + RETRY_NS;
	h->claimed = false;
	/* The leader left this handler out when it set the alarm. */
	if (inf->run->leader)
		set_alarm(inf, time_ns(CLOCK_MONOTONIC));
	if (inf->run->watchers)
		pthread_cond_broadcast(&inf->run->handler_cond);
}

/*
 * Ask to be signalled. The full fence meets the one in broker_wake() (writer/serve/broker_wake.c). Without it
 * the look at the rings could be done before `armed` is set: the leader sees nothing, the writer sees nobody
 * armed, and the leader sleeps over what came.
 */
static void
arm_for_handlers(struct informer *inf)
{
	/* Meets mapping_make_current(): the place was set before. */
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_acquire);
	uint32_t bits = ARMED_QUEUE |
			(atomic_load_explicit(&inf->subscriptions->waits, memory_order_relaxed) ||
					 atomic_load_explicit(&inf->run->parked, memory_order_relaxed)
				 ? ARMED_COMMIT
				 : 0);
	_Atomic uint32_t *armed = m ? &mapping_place(m)->armed : NULL;

	if (armed && (atomic_load_explicit(armed, memory_order_relaxed) & bits) != bits)
		atomic_fetch_or_explicit(armed, bits, memory_order_seq_cst);
	slot_fence();
}

bool
run_prepare_sleep(struct informer *inf)
{
	uint64_t now;
	bool due;

	if (inf->run->handler_count == 0)
		return false;
	now = time_ns(CLOCK_MONOTONIC);
	arm_for_handlers(inf);
	due = find_due(inf, NULL, now) != NULL;
	set_alarm(inf, now);
	return due;
}

/* ---- threads of informer_run() ---- */

static void *run_thread(void *context);

static int
start_thread(struct informer *inf)
{
	sigset_t all, before;
	int r;

	if (inf->run->thread_count == sizeof(inf->run->threads) / sizeof(inf->run->threads[0]))
		return -EAGAIN;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&inf->run->threads[inf->run->thread_count], NULL, run_thread, inf);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		inf->run->thread_count++;
	return -r;
}

/* locked. Wake or start a thread: there may be something to do for it. */
static void
call_another(struct informer *inf)
{
	if (inf->run->idle > 0)
		pthread_cond_signal(&inf->run->run_idle);
	else if (inf->run->thread_count < inf->run->handler_count && !inf->run->stopping)
		start_thread(inf);
}

void
run_wake(struct informer *inf)
{
	if (inf->run->handler_count == 0)
		return;
	if (inf->run->running)
		call_another(inf);
	if (is_due_outside(inf))
		set_due(inf, true);
}

void
run_look_again(struct informer *inf)
{
	if (inf->run->running) {
		eventfd_write(inf->run->kick, 1);
		call_another(inf);
	}
	if (!inf->run->running || is_due_outside(inf))
		set_due(inf, true);
}

void
run_add(struct informer_handler *h)
{
	struct informer_handler **end = &h->inf->run->handlers;

	while (*end)
		end = &(*end)->next;
	*end = h;
	h->inf->run->handler_count++;
	run_look_again(h->inf);
}

void
run_lead(struct informer *inf, int ms, bool runs)
{
	struct pollfd fds[2] = {{.fd = inf->epoll, .events = POLLIN},
				{.fd = inf->run->kick, .events = POLLIN}};
	eventfd_t count;

	if (run_prepare_sleep(inf)) {
		if (runs)
			return;
		run_wake(inf);
	}
	inf->run->leader = true;
	pthread_mutex_unlock(&inf->run->wait_lock);
	poll(fds, 2, ms);
	if (fds[1].revents)
		eventfd_read(inf->run->kick, &count);
	pthread_mutex_lock(&inf->run->wait_lock);
	/*
	 * A handler is due: its events are in its ring. They are told first. The descriptors, which take five
	 * system calls, are read at the next sleep: they end it at once. Never twice in a row, so a ring that
	 * is never empty delays no message.
	 */
	inf->run->step_waits = runs && !inf->run->step_waits &&
			       find_due(inf, NULL, time_ns(CLOCK_MONOTONIC)) != NULL;
	if (!inf->run->step_waits) {
		pthread_mutex_unlock(&inf->run->wait_lock);
		connection_dispatch(inf);
		pthread_mutex_lock(&inf->run->wait_lock);
	}
	inf->run->leader = false;
	inf->run->alarm_at = inf->run->alarm_at <= time_ns(CLOCK_MONOTONIC) ? 0 : inf->run->alarm_at;
	/* If this waiter's condition is met, another waiter leads from here. */
	if (inf->run->waiters)
		pthread_cond_broadcast(&inf->run->wait_cond);
	if (!runs || is_due_outside(inf))
		run_wake(inf);
}

/*
 * After a turn that is not the last: the condition of a watcher may be met. Takes the lock, because a watcher
 * between its look and its sleep would miss the signal. The fence meets the one in handlers_wait(): either
 * this thread sees the watcher, or the watcher sees what the turn did.
 */
static void
tell_watchers(struct informer *inf)
{
	slot_fence();
	if (!atomic_load_explicit(&inf->run->watchers, memory_order_relaxed))
		return;
	pthread_mutex_lock(&inf->run->wait_lock);
	pthread_cond_broadcast(&inf->run->handler_cond);
	pthread_mutex_unlock(&inf->run->wait_lock);
}

static void *
run_thread(void *context)
{
	struct informer *inf = context;
	struct informer_handler *h;

	pthread_mutex_lock(&inf->run->wait_lock);
	while (!inf->run->stopping) {
		int r = 1;

		h = find_due(inf, NULL, time_ns(CLOCK_MONOTONIC));
		if (h) {
			run_claim(h);
			/* Another thread must look after the other handlers. */
			if (inf->run->handler_count > 1 && !inf->run->leader)
				call_another(inf);
			pthread_mutex_unlock(&inf->run->wait_lock);
			while (r > 0 && !atomic_load_explicit(&h->leave, memory_order_relaxed)) {
				r = handler_turn(h);
				if (r > 0)
					tell_watchers(inf);
			}
			pthread_mutex_lock(&inf->run->wait_lock);
			run_let_go(h, r);
		} else if (inf->run->leader) {
			inf->run->idle++;
			pthread_cond_wait(&inf->run->run_idle, &inf->run->wait_lock);
			inf->run->idle--;
		} else {
			run_lead(inf, -1, true);
		}
	}
	/* Idle threads must see `stopping`, too. */
	pthread_cond_broadcast(&inf->run->run_idle);
	pthread_mutex_unlock(&inf->run->wait_lock);
	return NULL;
}

int
informer_run(struct informer *inf)
{
	int r = 0;

	if (!inf)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	pthread_mutex_lock(&inf->run->wait_lock);
	if (inf->run->stopped)
		r = INFORMER_E_STOPPED;
	else if (!inf->run->running) {
		r = start_thread(inf);
		inf->run->running = r == 0;
		if (r == 0)
			run_show_due(inf);
		/* the leader looks again, with `running` set */
		eventfd_write(inf->run->kick, 1);
	}
	pthread_mutex_unlock(&inf->run->wait_lock);
	return r;
}

/* ---- in the caller's thread ---- */

bool
run_dispatch(struct informer *inf)
{
	struct informer_handler *h = NULL;
	bool did = false;

	pthread_mutex_lock(&inf->run->wait_lock);
	if (inf->run->running || inf->run->handler_count == 0) {
		pthread_mutex_unlock(&inf->run->wait_lock);
		return false;
	}
	while (!inf->run->stopping && !inf->run->running &&
	       (h = find_due(inf, h, time_ns(CLOCK_MONOTONIC)))) {
		uint64_t end = time_ns(CLOCK_MONOTONIC) + DISPATCH_NS;
		int r = 1;

		run_claim(h);
		pthread_mutex_unlock(&inf->run->wait_lock);
		did = true;
		for (unsigned i = 0;
		     i < DISPATCH_TURNS && r > 0 && !atomic_load_explicit(&h->leave, memory_order_relaxed);
		     i++) {
			r = handler_turn(h);
			if (time_ns(CLOCK_MONOTONIC) >= end)
				break;
		}
		pthread_mutex_lock(&inf->run->wait_lock);
		run_let_go(h, r);
	}
	inf->run->alarm_at = 0;
	if (!inf->run->running && !inf->run->stopping) {
		did |= run_prepare_sleep(inf);
		run_show_due(inf);
	}
	pthread_mutex_unlock(&inf->run->wait_lock);
	return did;
}

/* locked. Wait until no thread runs the handler, then end it. */
static void
end_handler(struct informer *inf, struct informer_handler *h)
{
	atomic_store_explicit(&h->leave, true, memory_order_relaxed);
	h->removed = true;
	/* The leader wakes waiters, such as a caller of informer_changes_next() with this handler. */
	if (inf->run->leader)
		eventfd_write(inf->run->kick, 1);
	inf->run->watchers++;
	while (h->claimed)
		pthread_cond_wait(&inf->run->handler_cond, &inf->run->wait_lock);
	inf->run->watchers--;
	if (h->work) {
		run_claim(h);
		finish(inf, h);
	}
}

void
informer_remove_handler(struct informer_handler *h)
{
	struct informer *inf = h ? h->inf : NULL;

	if (!h || forked(inf))
		return;
	pthread_mutex_lock(&inf->run->wait_lock);
	if (h->work) {
		h->removed = true;
		atomic_store_explicit(&h->leave, true, memory_order_relaxed);
		/* From within a call: the thread that runs the handler ends it when the call has returned. */
		if (!h->claimed || !pthread_equal(h->runner, pthread_self()))
			end_handler(inf, h);
	}
	pthread_mutex_unlock(&inf->run->wait_lock);
}

static bool
is_within(struct informer *inf)
{
	for (struct informer_handler *h = inf->run->handlers; h; h = h->next)
		if (h->claimed && pthread_equal(h->runner, pthread_self()))
			return true;
	return false;
}

int
run_stop(struct informer *inf)
{
	unsigned threads;

	pthread_mutex_lock(&inf->run->wait_lock);
	if (is_within(inf)) {
		pthread_mutex_unlock(&inf->run->wait_lock);
		return -EDEADLK;
	}
	inf->run->watchers++;
	while (inf->run->stopping)
		pthread_cond_wait(&inf->run->handler_cond, &inf->run->wait_lock);
	inf->run->watchers--;
	inf->run->stopped = inf->run->stopping = true;
	for (struct informer_handler *h = inf->run->handlers; h; h = h->next)
		atomic_store_explicit(&h->leave, true, memory_order_relaxed);
	pthread_cond_broadcast(&inf->run->run_idle);
	if (inf->run->running)
		eventfd_write(inf->run->kick, 1);
	threads = inf->run->thread_count;
	pthread_mutex_unlock(&inf->run->wait_lock);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(inf->run->threads[i], NULL);
	pthread_mutex_lock(&inf->run->wait_lock);
	inf->run->thread_count = 0;
	inf->run->running = false;
	for (struct informer_handler *h = inf->run->handlers; h; h = h->next)
		if (h->work)
			end_handler(inf, h);
	set_due(inf, false);
	inf->run->stopping = false;
	pthread_cond_broadcast(&inf->run->handler_cond);
	pthread_mutex_unlock(&inf->run->wait_lock);
	return 0;
}

int
informer_stop(struct informer *inf)
{
	if (!inf)
		return -EINVAL;
	return forked(inf) ? INFORMER_E_FORKED : run_stop(inf);
}

int
informer_fd(const struct informer *inf)
{
	if (!inf)
		return -EINVAL;
	return forked(inf) ? INFORMER_E_FORKED : inf->run->outer;
}

/* ---- creating and freeing ---- */

static int
make_descriptors(struct run *run, int epoll)
{
	struct epoll_event event = {.events = EPOLLIN};

	run->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	run->outer = epoll_create1(EPOLL_CLOEXEC);
	run->due = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	run->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (run->kick < 0 || run->outer < 0 || run->due < 0 || run->alarm < 0)
		return -errno;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, run->alarm, &event) < 0 ||
	    epoll_ctl(run->outer, EPOLL_CTL_ADD, epoll, &event) < 0 ||
	    epoll_ctl(run->outer, EPOLL_CTL_ADD, run->due, &event) < 0)
		return -errno;
	return 0;
}

int
run_init(struct informer *inf)
{
	struct run *run = inf->run;
	pthread_condattr_t attributes;

	run->alarm_at = UINT64_MAX;
	pthread_mutex_init(&run->wait_lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&run->wait_cond, &attributes);
	pthread_cond_init(&run->handler_cond, &attributes);
	pthread_cond_init(&run->run_idle, &attributes);
	pthread_condattr_destroy(&attributes);
	return make_descriptors(run, inf->epoll);
}

void
run_done(struct informer *inf, bool in_child)
{
	struct run *run = inf->run;
	const int fds[] = {run->kick, run->outer, run->due, run->alarm};

	while (run->handlers) {
		struct informer_handler *h = run->handlers;

		run->handlers = h->next;
		if (h->work) {
			ring_free(subscription_take(&h->work->sub), in_child);
			handler_work_free(inf, h->work, in_child);
		}
		memory_put(inf, h);
	}
	for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	/* A forked child leaves them: another thread of the parent may have held them. */
	if (!in_child) {
		pthread_cond_destroy(&run->run_idle);
		pthread_cond_destroy(&run->handler_cond);
		pthread_cond_destroy(&run->wait_cond);
		pthread_mutex_destroy(&run->wait_lock);
	}
}
