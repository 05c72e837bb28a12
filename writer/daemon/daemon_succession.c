/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon between a predecessor and a successor (succession.h): what it finds out before it asks the one
 * to end, and what it keeps for the other. The loop runs while one waits, for the signals' sake.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/base/log.h"
#include "writer/base/notify.h"
#include "writer/daemon/daemon_internal.h"

#define FORESEE_MS 10000u /* for the API server to say what the names mean */
#define EXTEND_NS 5000000000ull

static void
on_waited(uv_timer_t *timer)
{
	uv_stop(timer->loop); /* before it polls, when the time was over by then */
}

/* The heart does not beat yet, so its timer is free. */
static bool
wait_some(void *context, unsigned ms)
{
	struct daemon *d = context;
	uint64_t now = time_ns(CLOCK_BOOTTIME);

	if (now - d->extended_ns >= EXTEND_NS) {
		d->extended_ns = now;
		notify("EXTEND_TIMEOUT_USEC=30000000");
	}
	uv_timer_start(&d->heartbeat, on_waited, ms, 0);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_timer_stop(&d->heartbeat);
	return !d->stopping;
}

/*
 * A predecessor serves, and goes on doing so until we ask it to end: so what its readers would miss is found
 * out before. A name that the server does not know ends us; a server that is away is no obstacle, as it is
 * none at any start.
 */
static int
foresee(void *context)
{
	struct daemon *d = context;
	uint64_t end = time_ns(CLOCK_MONOTONIC) + FORESEE_MS * 1000000ull;

	daemon_discover(d);
	while (!d->stopping && daemon_is_discovering(d) && time_ns(CLOCK_MONOTONIC) < end)
		wait_some(d, 50);
	clock_clear(&d->clock.clock, &d->discovery_retry);
	return d->stopping ? -ECANCELED : 0;
}

int
daemon_succeed(struct daemon *d, char **ret_error)
{
	struct succession succession = {
		.socket = d->config->socket,
		.takeover = d->options->takeover,
		.prepare = foresee,
		.wait = wait_some,
		.context = d,
	};

	return d->inherited.lock.fd > 0 ? 0 : succession_begin(&succession, &d->inherited, ret_error);
}

int
daemon_pass_on(void *context, int connection, const char *version)
{
	struct daemon *d = context;
	int lock = lock_share(&d->local.lock), to = fcntl(connection, F_DUPFD_CLOEXEC, 0), listener = -1;

	if (d->stopping)
		listener = -EBUSY;
	else if (lock < 0 || to < 0)
		listener = -EMFILE;
	else
		listener = broker_pass_on(d->broker);
	if (listener < 0) {
		if (lock >= 0)
			close(lock);
		if (to >= 0)
			close(to);
		return listener;
	}
	d->left = (struct inheritance){{lock}, listener};
	d->successor = to;
	d->again = false;
	log_info("informerd %s takes over: finishing", version);
	daemon_stop(d, DAEMON_OK);
	return 0;
}

void
daemon_keep(struct daemon *d)
{
	int lock = lock_share(&d->local.lock), listener = d->broker ? broker_pass_on(d->broker) : -1;

	/* without one of them they are made anew */
	d->left = (struct inheritance){{lock < 0 ? 0 : lock}, listener < 0 ? 0 : listener};
}

bool
daemon_give(struct daemon *d)
{
	bool again = d->again;

	if (d->successor) {
		again = !succession_give(d->successor, &d->left);
		close(d->successor);
		if (again)
			log_warning("who wanted to take over is gone: going on");
		else
			log_info("handed over");
	}
	again &= d->exit_code == DAEMON_OK;
	if (!again)
		inheritance_release(&d->left);
	return again;
}
