/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a client of the broker ends: when it hangs up, dies, misbehaves, or lets a deadline pass. What it holds
 * goes at once: its queues, its place among the sleepers, its slot.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/consumers.h"
#include "writer/serve/fan_out.h"

#define CLOCK_MS  1000
#define LINES_MAX 20u	/* about refused connections, … */
#define LINES_MS  10000u	/* … in so many milliseconds */

/* ---- its queues ---- */

void
client_unsubscribe(struct reader_queue *queue)
{
	if (!queue->subscriber)
		return;
	consumers_leave(queue->seat);
	fan_out_unsubscribe(queue->subscriber);
	memset(queue, 0, sizeof(*queue));
}

void
client_unsubscribe_all(struct client *c)
{
	for (unsigned i = 0; c->queues && i < SLOT_QUEUES; i++)
		client_unsubscribe(&c->queues[i]);
	free(c->queues);
	c->queues = NULL;
	c->broker->wake.queue_due[c->sleeper] = false;
}

/* ---- the end ---- */

static void
on_closed(uv_handle_t *handle)
{
	struct client *c = handle->data;
	struct broker *b = c->broker;

	if (--c->open_handles > 0)
		return;
	free(c->report);
	free(c);
	broker_handle_closed(b);
}

void
client_drop(struct client *c)
{
	struct broker *b = c->broker;

	if (c->state == CLIENT_ATTACHED) {
		client_unsubscribe_all(c);
		wake_leave(c);
		pins_remove(c->pins, c->slot);
		b->stats.readers--;
	} else {
		b->pending--;
	}
	if (c->previous)
		c->previous->next = c->next;
	else
		b->clients = c->next;
	if (c->next)
		c->next->previous = c->previous;
	waker_unref(c->waker);
	c->waker = NULL;
	uv_close((uv_handle_t *)&c->poll, on_closed);
	close(c->fd);
	if (c->has_death) {
		uv_close((uv_handle_t *)&c->death, on_closed);
		close(c->pidfd);
	}
}

/*
 * Strangers may come as often as they like: a few lines now and then, else a count, so that nobody fills the
 * log.
 */
bool
broker_may_tell(struct broker *b)
{
	uint64_t now = uv_now(b->loop);

	if (now - b->lines_since_ms >= LINES_MS) {
		if (b->untold > 0)
			log_info("%" PRIu64 " more connections were refused or closed", b->untold);
		b->lines_since_ms = now;
		b->lines = 0;
		b->untold = 0;
	}
	if (b->lines < LINES_MAX) {
		b->lines++;
		return true;
	}
	b->untold++;
	return false;
}

void
client_drop_for(struct client *c, const char *why)
{
	if (broker_may_tell(c->broker))
		log_info("connection of pid %ld (uid %lu) closed: %s", (long)c->peer.pid,
			 (unsigned long)c->peer.uid, why);
	c->broker->stats.dropped++;
	client_drop(c);
}

/* ---- deadlines ---- */

static void
expire(struct broker *b)
{
	uint64_t now = uv_now(b->loop);
	struct client *next;

	for (struct client *c = b->clients; c; c = next) {
		next = c->next;
		if (c->deadline_ms && now >= c->deadline_ms)
			client_drop_for(c, c->state == CLIENT_GREETING ? "it did not greet"
								       : "it does not take what it is sent");
	}
}

static void
on_clock(uv_timer_t *timer)
{
	struct broker *b = timer->data;
	bool any = false;

	expire(b);
	for (const struct client *c = b->clients; c && !any; c = c->next)
		any = c->deadline_ms != 0;
	if (!any)
		uv_timer_stop(timer);
}

void
client_set_deadline(struct client *c)
{
	c->deadline_ms = uv_now(c->broker->loop) + BROKER_DEADLINE_MS;
	if (!uv_is_active((uv_handle_t *)&c->broker->clock))
		uv_timer_start(&c->broker->clock, on_clock, CLOCK_MS, CLOCK_MS);
}
