/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's turns of the loop: events of connections and processes, and the clock that looks at clients.
 *
 * Listener, connections and processes are in one level-triggered epoll instance, which is all that the loop
 * polls for the broker. A turn handles one event after another until TURN_NS have passed. Then the loop hears
 * the API server, commits and wakes.
 *
 * A turn costs SHARE times the time that it took. Elapsed time pays for it, up to BURST_NS in advance. So
 * readers that all connect after a restart of informerd are served without delay. While a turn is not paid
 * for, the broker pauses. So a flood gets a tenth of the loop's time, and the loop can sleep.
 *
 * The kernel puts a descriptor that it has reported behind all others that are ready. So a client that sends
 * without pause takes turns with the other clients and the listener. Each event is fetched alone, because its
 * handler may end any client.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/serve/broker_internal.h"

#define TURN_NS 100000u
#define SHARE 10u
#define BURST_NS 500000000u
#define PAUSE_MS 2u /* at least 1 ms, since the loop's time is in whole milliseconds */
#define CLOCK_MS 1000u

/* ---- descriptors ---- */

static int
control(struct broker *b, int operation, int fd, uint32_t events, struct heard *heard)
{
	struct epoll_event event = {.events = events, .data.ptr = heard};

	return epoll_ctl(b->turn.epoll, operation, fd, &event) < 0 ? -errno : 0;
}

int
turn_add(struct broker *b, int fd, uint32_t events, struct heard *heard)
{
	return control(b, EPOLL_CTL_ADD, fd, events, heard);
}

void
turn_change(struct broker *b, int fd, uint32_t events, struct heard *heard)
{
	control(b, EPOLL_CTL_MOD, fd, events, heard);
}

/* A child process before its execve() may have a copy of fd: then close() alone does not end the watch. */
void
turn_close_fd(struct broker *b, int fd)
{
	if (fd < 0)
		return;
	control(b, EPOLL_CTL_DEL, fd, 0, NULL);
	close(fd);
}

void
client_listen(struct client *c, uint32_t events)
{
	turn_change(c->broker, c->fd, events | EPOLLRDHUP, &c->connection);
}

/* ---- turns ---- */

bool
turn_has_room(const struct broker *b)
{
	return time_ns(CLOCK_MONOTONIC) < b->turn.until_ns;
}

static void on_ready(uv_poll_t *poll, int status, int events);

static void
on_pause_over(uv_timer_t *pause)
{
	struct broker *b = pause->data;

	uv_poll_start(&b->turn.poll, UV_READABLE, on_ready);
}

/* Charge the turn. What elapsed time does not pay, a pause pays. */
static void
pay(struct turn *turn, uint64_t began)
{
	uint64_t now = time_ns(CLOCK_MONOTONIC);

	if (turn->paid_ns + BURST_NS < began)
		turn->paid_ns = began - BURST_NS;
	turn->paid_ns += SHARE * (now - began);
	if (turn->paid_ns <= now)
		return;
	turn->paid_ns = now;
	uv_poll_stop(&turn->poll);
	uv_timer_start(&turn->pause, on_pause_over, PAUSE_MS, 0);
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct broker *b = poll->data;
	uint64_t began = time_ns(CLOCK_MONOTONIC);
	struct epoll_event event;

	(void)status;
	(void)events;
	b->turn.until_ns = began + TURN_NS;
	while (epoll_wait(b->turn.epoll, &event, 1, 0) > 0) {
		const struct heard *heard = event.data.ptr;

		heard->on_event(heard->owner, event.events);
		if (!turn_has_room(b))
			break;
	}
	pay(&b->turn, began);
}

/* ---- the timer ---- */

void
broker_look_later(struct broker *b)
{
	if (!uv_is_active((uv_handle_t *)&b->clock))
		uv_timer_start(&b->clock, b->on_clock, CLOCK_MS, CLOCK_MS);
}

void
broker_look_at_clients(struct broker *b)
{
	uv_timer_start(&b->clock, b->on_clock, 0, CLOCK_MS);
}

void
client_set_deadline(struct client *c)
{
	c->deadline_ms = uv_now(c->broker->loop) + BROKER_DEADLINE_MS;
	broker_look_later(c->broker);
}

/* ---- opening ---- */

int
turn_open(struct broker *b)
{
	int r;

	b->turn.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (b->turn.epoll < 0)
		return -errno;
	r = turn_add(b, b->fd, EPOLLIN, &b->listener);
	if (r == 0)
		r = uv_poll_init(b->loop, &b->turn.poll, b->turn.epoll);
	if (r < 0)
		return r;
	uv_timer_init(b->loop, &b->turn.pause);
	uv_timer_init(b->loop, &b->clock);
	b->turn.poll.data = b->turn.pause.data = b->clock.data = b;
	uv_poll_start(&b->turn.poll, UV_READABLE, on_ready);
	return 0;
}
