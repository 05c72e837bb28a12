/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eventfds that a thread of libuv's pool signals, for broker_wake.c: one task at a time for each of its two
 * uses, so that two threads of the pool are taken at most.
 *
 * An eventfd's O_NONBLOCK belongs to the open file, which its reader shares: it can clear the flag and fill
 * the counter, and then a write blocks. So where eventfds have to be written, a watchdog in the loop sets a
 * write that hangs free by reading the counter (without waiting), and has the reader dropped. Honest readers
 * behind it wait 40 ms at most, once.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/eventfd_signal.h"

#define WATCHDOG_MS 20

/* On the thread pool. EAGAIN: the counter is full, so the reader has its signal already. */
static bool
signal_one(struct wake_task *task, struct waker *waker)
{
	uint64_t one = 1;

	if (task->signal)
		return eventfd_signal_all(task->signal, &waker->fd, 1) == 1;
	while (write(waker->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return true;
}

static void
signal_each(uv_work_t *work)
{
	struct wake_task *task = work->data;

	for (size_t i = 0; i < task->count; i++) {
		uint64_t start = time_ns(CLOCK_THREAD_CPUTIME_ID);

		/*
		 * Meets look_after()'s acquire load, on the loop's thread: before it tells of the next
		 * reader, the write to the one before is over. Without it the watchdog would look at the
		 * wrong one for one round.
		 */
		atomic_store_explicit(&task->at, i + 1, memory_order_release);
		task->wakers[i]->signalled = signal_one(task, task->wakers[i]);
		task->wakers[i]->task_ns = time_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	}
}

/* Empty a counter without ever waiting, whatever its reader does meanwhile. */
static void
set_free(int fd)
{
	uint64_t count;
	struct iovec io = {&count, sizeof(count)};

	if (preadv2(fd, &io, 1, -1, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP) {
		/*
		 * A kernel without RWF_NOWAIT on eventfds: a hostile reader may win this race, but has to win
		 * it each time.
		 */
		if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && read(fd, &count, sizeof(count)) < 0)
			return;
	}
}

static void
look_after(uv_timer_t *timer)
{
	struct wake_task *task = timer->data;
	/* Meets signal_each()'s release store. The list itself is this thread's own. */
	size_t at = atomic_load_explicit(&task->at, memory_order_acquire);

	if (at > 0 && at == task->last_at) {
		task->wakers[at - 1]->stuck = true;
		set_free(task->wakers[at - 1]->fd);
	}
	task->last_at = at;
}

/* Readers whose eventfd had to be set free tried to stop the daemon. */
static void
drop_hostile(struct broker *b)
{
	struct client *next;

	for (struct client *c = b->clients; c; c = next) {
		next = c->next;
		if (!c->waker || !c->waker->stuck)
			continue;
		log_warning("reader %s (pid %ld, uid %lu) blocked its wake-up and is dropped", c->name,
			    (long)c->peer.pid, (unsigned long)c->peer.uid);
		b->stats.dropped++;
		client_hang_up(c);
	}
}

void
wake_task_clear(struct wake_task *task)
{
	for (size_t i = 0; i < task->count; i++)
		waker_unref(task->wakers[i]);
	task->count = 0;
}

static void
close_timer(struct wake_task *task)
{
	task->timer.data = task->broker;
	uv_close((uv_handle_t *)&task->timer, broker_on_closed);
}

static void
ended(uv_work_t *work, int status)
{
	struct wake_task *task = work->data;
	struct broker *b = task->broker;

	(void)status;
	uv_timer_stop(&task->timer);
	task->active = false;
	b->stats.wakeups += task->count;
	for (size_t i = 0; i < task->count; i++)
		task->wakers[i]->cost_ns = task->wakers[i]->task_ns;
	if (b->closing) {
		wake_task_clear(task);
		close_timer(task);
		return;
	}
	drop_hostile(b);
	task->over(task);
}

void
wake_task_init(struct wake_task *task, struct broker *b, void (*over)(struct wake_task *task))
{
	task->broker = b;
	task->over = over;
	task->timer.data = task->work.data = task;
	uv_timer_init(b->loop, &task->timer);
	b->open_handles++;
}

void
wake_task_add(struct wake_task *task, struct waker *waker)
{
	waker->references++;
	task->wakers[task->count++] = waker;
}

void
wake_task_run(struct wake_task *task)
{
	atomic_store_explicit(&task->at, 0, memory_order_relaxed);
	task->last_at = 0;
	task->active = true;
	uv_queue_work(task->broker->loop, &task->work, signal_each,
		      ended); /* fails without a function only */
	if (!task->signal)
		uv_timer_start(&task->timer, look_after, WATCHDOG_MS, WATCHDOG_MS);
}

void
wake_task_close(struct wake_task *task)
{
	/* A write that hangs is still to be set free: the watchdog goes when the task has ended. */
	if (!task->active)
		close_timer(task);
}
