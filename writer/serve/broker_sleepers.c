/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attached clients, in arrays that each commit looks through.
 *
 * Invariant: the arrays have no gaps, and a client's `sleeper` is its index in each of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "writer/serve/broker_internal.h"

int
wake_init(struct broker *b)
{
	struct wake *wake = &b->wake;

	wake->sleepers = calloc(b->options.max_readers, sizeof(struct client *));
	wake->armed = calloc(b->options.max_readers, sizeof(_Atomic uint32_t *));
	wake->queue_due = calloc(b->options.max_readers, sizeof(wake->queue_due[0]));
	if (!wake->sleepers || !wake->armed || !wake->queue_due)
		return -ENOMEM;
	wake->bound_ns = WAKE_BOUND_NS;
	return wake_guard_open(&wake->guard);
}

void
wake_done(struct broker *b)
{
	wake_guard_close(&b->wake.guard);
	free(b->wake.sleepers);
	free(b->wake.armed);
	free(b->wake.queue_due);
}

/* The arrays have room: at most max_readers are attached. */
void
wake_join(struct client *c)
{
	struct wake *wake = &c->broker->wake;

	c->wake_measured = true;
	c->sleeper = wake->sleeper_count++;
	wake->sleepers[c->sleeper] = c;
	wake->queue_due[c->sleeper] = false;
	wake->armed[c->sleeper] = &pins_page(client_pins(c), c->slot)->armed;
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
