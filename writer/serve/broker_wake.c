/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waking readers.
 *
 * An eventfd's O_NONBLOCK belongs to the open file, which its reader shares: it can clear the flag and fill
 * the counter, and then a write blocks. So the kernel is asked to signal eventfds in a way that never waits
 * (eventfd_signal.h), from the loop.
 *
 * Where there is no such way (a kernel without it, a filter of system calls) they are written on the thread
 * pool, and a watchdog in the loop sets a write that hangs free by reading the counter (without waiting), and
 * has the reader dropped. Honest readers behind it wait 40 ms at most, once.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "writer/serve/broker_internal.h"
#include "writer/serve/eventfd_signal.h"
#include "writer/base/log.h"

#define WATCHDOG_MS 20

static void wake_start(struct broker *b);

/* On the thread pool. EAGAIN: the counter is full, so the reader has its signal already. */
static void
write_all(uv_work_t *work)
{
	struct wake *wake = work->data;
	uint64_t one = 1;

	for (size_t i = 0; i < wake->count; i++) {
		/*
		 * Meets look_after()'s acquire load, on the loop's thread: before it tells of the next
		 * reader, the write to the one before is over. Without it the watchdog would look at the
		 * wrong one for one round.
		 */
		atomic_store_explicit(&wake->at, i + 1, memory_order_release);
		while (write(wake->wakers[i]->fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
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
	struct wake *wake = timer->data;
	/* Meets write_all()'s release store. The list itself is this thread's own. */
	size_t at = atomic_load_explicit(&wake->at, memory_order_acquire);

	if (at > 0 && at == wake->last_at) {
		wake->wakers[at - 1]->stuck = true;
		set_free(wake->wakers[at - 1]->fd);
	}
	wake->last_at = at;
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
wake_close(struct broker *b)
{
	b->wake.watchdog.data = b;
	uv_close((uv_handle_t *)&b->wake.watchdog, broker_on_closed);
}

static void
written(uv_work_t *work, int status)
{
	struct wake *wake = work->data;
	struct broker *b = wake->broker;

	(void)status;
	uv_timer_stop(&wake->watchdog);
	b->stats.wakeups += wake->count;
	if (!b->closing)
		drop_hostile(b);
	for (size_t i = 0; i < wake->count; i++)
		waker_unref(wake->wakers[i]);
	wake->count = 0;
	wake->active = false;
	if (b->closing)
		wake_close(b);
	else if (wake->again)
		wake_start(b);
}

/* From here. What the kernel refused stays due, for a thread to write. */
static void
signal_all(struct broker *b)
{
	struct wake *wake = &b->wake;
	size_t count = 0, done;

	for (struct client *c = b->clients; c; c = c->next)
		if (c->due && c->waker && count < b->options.max_readers)
			wake->fds[count++] = c->waker->fd;
	done = eventfd_signal_all(wake->signal, wake->fds, count);
	b->stats.wakeups += done;
	for (struct client *c = b->clients; c && done > 0; c = c->next) {
		if (!c->due || !c->waker)
			continue;
		c->due = false;
		done--;
	}
}

static void
wake_start(struct broker *b)
{
	struct wake *wake = &b->wake;

	if (wake->signal)
		signal_all(b);
	if (wake->active) {
		wake->again = true;
		return;
	}
	wake->again = false;
	wake->count = 0;
	for (struct client *c = b->clients; c; c = c->next) {
		if (!c->due || !c->waker || wake->count == b->options.max_readers)
			continue;
		c->due = false;
		c->waker->references++;
		wake->wakers[wake->count++] = c->waker;
	}
	if (wake->count == 0)
		return;
	atomic_store_explicit(&wake->at, 0, memory_order_relaxed);
	wake->last_at = 0;
	wake->work.data = wake;
	wake->watchdog.data = wake;
	wake->active = true;
	if (uv_queue_work(b->loop, &wake->work, write_all, written) < 0) {
		wake->active = false;
		return;
	}
	uv_timer_start(&wake->watchdog, look_after, WATCHDOG_MS, WATCHDOG_MS);
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
		wake_start(b);
}
