/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a client of the broker: when it hangs up, dies, misbehaves, or misses a deadline.
 *
 *	ATTACHED ──it hung up or died─────────────▶ gone: queues, place among the sleepers, slot
 *	   │                                         ▲
 *	   └──we hang up──▶ DROPPED ──it let go──────┘
 *
 * Invariant: a slot is given up only when no reader can read through it. The arena cannot be taken from a
 * reader that we hang up on. So its slot says CLOSED and still protects its pins, until its cells are free,
 * or it hangs up or dies (shm-layout/PROTOCOLS.md, Drop). Its queues end at once: blocks that only they kept
 * are retired, and stay while an earlier pin needs them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/consumers.h"
#include "writer/serve/fan_out.h"

#define LINES_MAX 20u /* log lines about refused connections … */
#define LINES_MS 10000u /* … in this many milliseconds */

/* ---- the client's queues ---- */

void
client_unsubscribe(struct client *c, struct reader_queue *queue, bool take_back)
{
	if (!queue->subscriber)
		return;
	consumers_leave(queue->seat);
	c->queue_bytes -= room_queue_cost(queue->entries);
	c->queue_count--;
	fan_out_unsubscribe(queue->subscriber, take_back);
	leftovers_add(c, queue->fd, (struct room_cost){.files = 1, .bytes = room_ended_queue_cost()});
	memset(queue, 0, sizeof(*queue));
}

void
client_unsubscribe_all(struct client *c, bool take_back)
{
	for (unsigned i = 0; c->queues && i < SLOT_QUEUES; i++)
		client_unsubscribe(c, &c->queues[i], take_back);
	free(c->queues);
	c->queues = NULL;
	c->broker->wake.queue_due[c->sleeper] = false;
}

/* ---- dropping ---- */

static void
on_closed(uv_fs_t *request)
{
	uv_fs_req_cleanup(request);
	free(request);
}

/*
 * If the reader's last wake-up was slow, a thread closes its eventfd. The last close visits every epoll entry
 * on the eventfd, which takes 0.1 s for a hundred thousand.
 */
static void
close_event(struct client *c)
{
	uv_fs_t *request = c->event_fd >= 0 && c->slow_wakes > 0 ? malloc(sizeof(*request)) : NULL;

	if (request)
		uv_fs_close(c->broker->loop, request, c->event_fd, on_closed);
	else if (c->event_fd >= 0)
		close(c->event_fd);
	c->event_fd = -1;
}

/* End the client's queues and wake-ups. */
static void
stop_serving(struct client *c)
{
	/* after the daemon's end, readers still read its last entries */
	client_unsubscribe_all(c, !c->broker->closing);
	wake_leave(c);
	close_event(c);
}

static void
give_up_slot(struct client *c)
{
	leftovers_add(c, file_open_again(c->slot_fd, O_RDONLY), (struct room_cost){.readers = 1});
	pins_remove(client_pins(c), c->slot);
}

void
client_drop(struct client *c)
{
	struct broker *b = c->broker;

	if (c->state == CLIENT_ATTACHED)
		stop_serving(c);
	if (client_has_slot(c)) {
		give_up_slot(c);
		b->stats.readers--;
	} else {
		room_leave(c);
	}
	if (c->previous)
		c->previous->next = c->next;
	else
		b->clients = c->next;
	if (c->next)
		c->next->previous = c->previous;
	close_event(c);
	turn_close_fd(b, c->fd);
	turn_close_fd(b, c->pidfd);
	free(c->report);
	free(c);
}

/* At most LINES_MAX lines in LINES_MS; more are only counted. So no client can fill the log. */
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

static void
tell_why(struct client *c, const char *why)
{
	if (broker_may_tell(c->broker))
		log_info("connection of pid %ld (uid %lu) closed: %s", (long)c->peer.pid,
			 (unsigned long)c->peer.uid, why);
	c->broker->stats.dropped++;
}

void
client_hang_up_for(struct client *c, const char *why)
{
	tell_why(c, why);
	client_hang_up(c);
}

/* ---- deadlines and dropped clients ---- */

bool
broker_drop_due(struct broker *b)
{
	uint64_t now = uv_now(b->loop);
	struct client *next;
	bool any = false;

	for (struct client *c = b->clients; c; c = next) {
		next = c->next;
		if (c->deadline_ms && now >= c->deadline_ms) {
			tell_why(c, c->state == CLIENT_GREETING ? "it did not greet"
								: "it does not take what it is sent");
			client_drop(c);
		} else if (c->state == CLIENT_DROPPED && pins_are_free(client_pins(c), c->slot)) {
			client_drop(c);
		} else {
			any |= c->deadline_ms != 0 || c->state == CLIENT_DROPPED;
		}
	}
	return any;
}

void
client_hang_up(struct client *c)
{
	if (c->state == CLIENT_ATTACHED) {
		pins_close(client_pins(c), c->slot);
		if (!pins_are_free(client_pins(c), c->slot)) {
			stop_serving(c);
			c->state = CLIENT_DROPPED;
			/* The client learns that we hung up; the broker still hears when the client does. */
			shutdown(c->fd, SHUT_WR);
			client_listen(c, 0);
			broker_look_later(c->broker);
			return;
		}
	}
	client_drop(c);
}
