/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the daemon the writer: it inherits the lock, takes it, or waits for it. --check, --check-config
 * and --estimate end here. Meanwhile the loop runs for signals and discovery.
 *
 *	restarted     the lock is inherited (restart.h)
 *	free          the lock is taken
 *	held          retried for LOCK_PATIENCE_MS, as the holder may be ending; then an error
 *	--standby     if held: discovery runs, /readyz is served, and a thread waits for the lock
 */
#include "writer/daemon/daemon_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/notify.h"

#define LOCK_PATIENCE_MS 2000u
#define LOCK_LOOK_MS 20u
#define CHECK_MS 10000u /* for the API server to resolve the names */

/* ---- --check --------------------------------------------------------------------- */

static void
say_good(struct daemon *d, const char *what_else)
{
	printf("the configuration is good: %zu resource%s of %s%s\n", d->config->n_resources,
	       d->config->n_resources == 1 ? "" : "s", d->kube.server, what_else);
	daemon_stop(d, fflush(stdout) == 0 ? DAEMON_OK : DAEMON_RUNTIME);
}

/* An estimate goes on without the resources that the server lacks. */
static void
make_optional(struct config *config, bool was_optional[])
{
	for (size_t i = 0; i < config->n_resources; i++) {
		was_optional[i] = config->resources[i].optional;
		config->resources[i].optional = true;
	}
}

/* Always returns -ECANCELED; errors are logged and the exit code is set. */
static int
check(struct daemon *d)
{
	uint64_t end = time_ns(CLOCK_MONOTONIC) + CHECK_MS * 1000000ull;
	bool optional[CONFIG_MAX_RESOURCES];

	if (d->options->check_config) {
		say_good(d, ", which was not asked");
		return -ECANCELED;
	}
	if (d->options->estimate)
		make_optional(d->config, optional);
	daemon_discover(d);
	while (!d->stopping && !d->names_known && !d->discovery_error && time_ns(CLOCK_MONOTONIC) < end)
		daemon_wait_some(d, LOCK_LOOK_MS);
	if (d->stopping)
		return -ECANCELED;
	if (d->names_known && d->options->estimate) {
		daemon_estimate(d, optional);
	} else if (d->names_known) {
		say_good(d, "");
	} else {
		log_error("the API server does not say what the resources' names mean: %s",
			  d->discovery_error ? d->discovery_error : "it does not answer");
		daemon_stop(d, DAEMON_UNANSWERED);
	}
	return -ECANCELED;
}

/* ---- the lock -------------------------------------------------------------------- */

static void
on_lock(uv_async_t *async)
{
	uv_stop(async->loop);
}

/* The thread that waits for the lock, until it is cancelled. */
static void *
await_lock(void *context)
{
	struct daemon *d = context;

	d->awaited = lock_await(d->config->socket, &d->inherited.lock);
	uv_async_send(&d->lock_came);
	return NULL;
}

/* /readyz is ready when the names are resolved: then the informerd that serves may be ended. */
static int
stand_by(struct daemon *d, char **ret_error)
{
	_cleanup_(message_freep) char *error = NULL;
	pthread_t thread;
	int r = endpoints_start(d, &error);

	if (r == -EADDRINUSE) {
		log_info("%s is in use: it is served when this informerd has the lock",
			 d->config->metrics_address);
		r = 0;
	}
	if (r == 0)
		r = uv_async_init(&d->loop, &d->lock_came, on_lock);
	if (r < 0)
		return message_set(ret_error, r, "%s", error ? error : strerror(-r));
	d->awaited = -EAGAIN;
	r = -pthread_create(&thread, NULL, await_lock, d);
	if (r == 0) {
		log_info("standing by until pid %ld, which serves %s, ends", lock_holder(d->config->socket),
			 d->config->socket);
		notify("READY=1\nSTATUS=standing by");
		daemon_take_hangups(d);
		daemon_discover(d);
		if (!d->stopping)
			uv_run(&d->loop, UV_RUN_DEFAULT);
		pthread_cancel(thread); /* does nothing if the thread has ended */
		pthread_join(thread, NULL);
		r = d->stopping ? -ECANCELED : d->awaited;
	}
	uv_close((uv_handle_t *)&d->lock_came, NULL);
	if (r == 0)
		log_info("the informerd that served %s has ended: going on in its place", d->config->socket);
	else if (r != -ECANCELED)
		r = message_set(ret_error, r, "cannot wait for %s.lock: %s", d->config->socket, strerror(-r));
	return r;
}

static int
take_lock(struct daemon *d, char **ret_error)
{
	uint64_t end = time_ns(CLOCK_MONOTONIC) + LOCK_PATIENCE_MS * 1000000ull;
	_cleanup_(message_freep) char *error = NULL;
	int r;

	while ((r = lock_take(d->config->socket, &d->inherited.lock, &error)) == -EBUSY) {
		if (d->options->standby)
			return stand_by(d, ret_error);
		if (time_ns(CLOCK_MONOTONIC) >= end)
			break;
		if (!daemon_wait_some(d, LOCK_LOOK_MS))
			return -ECANCELED;
		message_freep(&error);
		error = NULL;
	}
	return r < 0 ? message_set(ret_error, r, "%s", error ? error : strerror(-r)) : 0;
}

int
daemon_begin(struct daemon *d, char **ret_error)
{
	int r;

	if (d->options->check)
		return check(d);
	if (d->inherited.lock.fd > 0) {
		r = lock_inherit(d->inherited.lock.fd, d->config->socket, &d->inherited.lock);
		if (r == 0)
			return 0;
		log_warning("what was inherited is not the lock of %s: %s", d->config->socket, strerror(-r));
		inheritance_release(&d->inherited);
	}
	return take_lock(d, ret_error);
}
