/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be asleep: the eventfds of the attached clients, and the rows of what each commit looks at.
 *
 * Invariant: the rows have no gaps, and a client's `sleeper` is its place in each of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/eventfd_signal.h"

int
waker_new(struct waker **ret_waker)
{
	struct waker *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fd < 0) {
		free(w);
		return -errno;
	}
	w->references = 1;
	*ret_waker = w;
	return 0;
}

void
waker_unref(struct waker *w)
{
	if (!w || --w->references > 0)
		return;
	close(w->fd);
	free(w);
}

int
wake_init(struct broker *b)
{
	struct wake *wake = &b->wake;

	wake->writing.wakers = calloc(b->options.max_readers, sizeof(struct waker *));
	wake->aside.wakers = calloc(1, sizeof(struct waker *));
	wake->fds = calloc(b->options.max_readers, sizeof(wake->fds[0]));
	wake->sleepers = calloc(b->options.max_readers, sizeof(struct client *));
	wake->armed = calloc(b->options.max_readers, sizeof(_Atomic uint32_t *));
	wake->queue_due = calloc(b->options.max_readers, sizeof(wake->queue_due[0]));
	if (!b->options.wake_by_writing && eventfd_signal_new(&wake->signal) < 0)
		log_info("the kernel cannot signal readers for us (asynchronous requests are refused): a "
			 "thread writes to their eventfds, which takes longer");
	if (wake->signal && eventfd_signal_new(&wake->aside.signal) < 0)
		wake->aside.signal = NULL; /* then it writes */
	return wake->writing.wakers && wake->aside.wakers && wake->fds && wake->sleepers && wake->armed &&
			       wake->queue_due
		       ? 0
		       : -ENOMEM;
}

void
wake_done(struct broker *b)
{
	eventfd_signal_free(b->wake.signal);
	eventfd_signal_free(b->wake.aside.signal);
	free(b->wake.writing.wakers);
	free(b->wake.aside.wakers);
	free(b->wake.fds);
	free(b->wake.sleepers);
	free(b->wake.armed);
	free(b->wake.queue_due);
}

/* max_readers are attached at most. */
void
wake_join(struct client *c)
{
	struct wake *wake = &c->broker->wake;

	c->waker->uid = c->peer.uid;
	c->sleeper = wake->sleeper_count++;
	wake->sleepers[c->sleeper] = c;
	wake->queue_due[c->sleeper] = false;
	wake->armed[c->sleeper] = &pins_page(c->pins, c->slot)->armed;
}

void
wake_leave(struct client *c)
{
	struct wake *wake = &c->broker->wake;
	size_t last = --wake->sleeper_count;

	wake->sleepers[c->sleeper] = wake->sleepers[last];
	wake->sleepers[c->sleeper]->sleeper = c->sleeper;
	wake->armed[c->sleeper] = wake->armed[last];
	wake->queue_due[c->sleeper] = wake->queue_due[last];
}
