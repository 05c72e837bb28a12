/* SPDX-License-Identifier: Apache-2.0 */
/* Pings of silent connections; see transport_ping.h. */
#include "writer/kube/transport_ping.h"

#include <errno.h>
#include <stdlib.h>

#include "writer/base/log.h"

#define LAST_LOOK_MS 200u /* to read what has arrived, before a connection is cut */

static void on_due(uv_timer_t *timer);

static void
set(struct transport_ping *ping, uint64_t ms)
{
	uv_timer_start(&ping->timer, on_due, ms, 0);
}

static void
cut_silent(struct transport_ping *ping)
{
	uint64_t now = uv_now(ping->loop->loop);

	transport_loop_cut(ping->loop, now > ping->idle_ms ? now - ping->idle_ms : 0);
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return 0;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct transport_ping *ping = ctx;

	(void)message;
	ping->request = NULL;
	switch (result) {
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -EHOSTUNREACH:
	case -EPROTO:
	case -ETIMEDOUT:
		cut_silent(ping);
		break;
	default: /* an answer, or an error on our side */
		break;
	}
	set(ping, ping->idle_ms);
}

static void
ask(struct transport_ping *ping)
{
	static const struct transport_callbacks callbacks = {.on_data = on_data, .on_done = on_done};

	ping->last_look = false;
	if (ping->ways->get(ping->transport, TRANSPORT_PING_PATH, TRANSPORT_UNTIMED | TRANSPORT_AT_HAND,
			    &callbacks, ping, &ping->request) < 0)
		set(ping, ping->idle_ms);
}

/* Milliseconds until a ping is due; 0: now. Only while a request is active. */
static uint64_t
due_in(const struct transport_ping *ping, const struct transport_stats *stats)
{
	uint64_t now = uv_now(ping->loop->loop), heard = transport_loop_heard_ms(ping->loop), due;

	if (stats->requests_paused || heard == TRANSPORT_LOOP_NONE)
		return ping->idle_ms;
	due = heard + ping->idle_ms;
	if (ping->asked_ms + ping->idle_ms > due && ping->asked_ms)
		due = ping->asked_ms + ping->idle_ms;
	return due > now ? due - now : 0;
}

static void
on_due(uv_timer_t *timer)
{
	struct transport_ping *ping = timer->data;
	struct transport_stats stats;
	uint64_t wait;

	if (ping->request && !ping->last_look) {
		ping->last_look = true;
		set(ping, LAST_LOOK_MS);
		return;
	}
	if (ping->request) {
		ping->ways->cancel(ping->request);
		ping->request = NULL;
		cut_silent(ping);
		set(ping, ping->idle_ms);
		return;
	}
	ping->ways->stats(ping->transport, &stats);
	if (stats.requests_active == 0)
		return; /* the next request that starts sets this timer again */
	wait = due_in(ping, &stats);
	if (wait)
		set(ping, wait);
	else
		ask(ping);
}

void
transport_ping_started(struct transport_ping *ping, const struct transport_request *request)
{
	if (ping->idle_ms == 0)
		return;
	if (request == ping->request) {
		ping->asked_ms = uv_now(ping->loop->loop);
		set(ping, ping->wait_ms);
	} else if (!ping->request && !uv_is_active((uv_handle_t *)&ping->timer)) {
		set(ping, ping->idle_ms);
	}
}

/* Read a variable as client-go does. */
static uint64_t
seconds_of(const char *name, unsigned standard)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text || !*text)
		return standard;
	errno = 0;
	value = strtol(text, &end, 10);
	if (*end || errno || value < 0 || value > 86400) {
		log_warning("%s: '%s' is not a number of seconds; %u are used", name, text, standard);
		return standard;
	}
	return (uint64_t)value;
}

void
transport_ping_init(struct transport_ping *ping, struct transport *transport,
		    const struct transport_ping_ways *ways, struct transport_loop *loop)
{
	*ping = (struct transport_ping){.transport = transport, .ways = ways, .loop = loop};
	ping->idle_ms = seconds_of("HTTP2_READ_IDLE_TIMEOUT_SECONDS", TRANSPORT_PING_IDLE_S) * 1000;
	ping->wait_ms = seconds_of("HTTP2_PING_TIMEOUT_SECONDS", TRANSPORT_PING_WAIT_S) * 1000;
	uv_timer_init(loop->loop, &ping->timer);
	ping->timer.data = ping;
}

void
transport_ping_stop(struct transport_ping *ping)
{
	uv_timer_stop(&ping->timer);
}
