/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/daemon/daemon_turn.h"

#include <stdio.h>
#include <string.h>

#include "shm-layout/time_ns.h"
#include "writer/base/log.h"
#include "writer/base/notify.h"
#include "writer/daemon/daemon_internal.h"
#include "writer/daemon/limits.h"

#define HEARTBEAT_MS 1000u
#define READY_BEATS 30u
#define GATHER_A_BEAT 8u /* steps; about 20 ms */

static void
tell_status(struct daemon *d)
{
	char summary[sizeof(d->status_text)];

	stat_summary(d, summary, sizeof(summary));
	if (strcmp(summary, d->status_text) == 0)
		return;
	snprintf(d->status_text, sizeof(d->status_text), "%s", summary);
	notify_format("STATUS=%s", summary);
}

/*
 * Numbers of resources.
 *
 * absent   the server does not have them, or discovery has not resolved them yet
 * missing  wanted, and not synced yet
 * refused  of the missing: the server refuses them until somebody grants access
 */
struct tally {
	size_t absent, missing, refused;
};

/* A resource that was synced once counts as synced, even if it is listed again. */
static struct tally
note_synced(struct daemon *d)
{
	struct tally tally = {0};
	bool all = d->discovered;

	for (size_t i = 0; i < d->cached_count; i++) {
		struct cached_resource *c = d->cached[i];
		struct reflector_status status;

		if (!c) {
			tally.absent++;
			all &= d->config->resources[i].optional;
			continue;
		}
		c->was_synced |= cached_resource_is_synced(c);
		if (c->was_synced || cached_resource_is_dormant(c))
			continue;
		reflector_get_status(c->reflector, &status);
		tally.missing++;
		tally.refused += status.state == REFLECTOR_REFUSED;
	}
	d->was_synced = all && tally.missing == 0;
	return tally;
}

static void idle_turn(uv_idle_t *idle);

/*
 * Runs before the poll phase, as timers may have queued changes, and after it, when all input is queued.
 * While changes are left (the rest of a list), the poll does not wait.
 */
static void
turn(struct daemon *d)
{
	bool more = applier_run(d->applier);
	struct tally tally;
	size_t known;

	if (more && !d->stopping)
		uv_idle_start(&d->idle, idle_turn);
	else
		uv_idle_stop(&d->idle);
	tally = note_synced(d);
	known = d->cached_count - tally.absent;
	if (!d->ready && d->was_synced) {
		d->ready = true;
		log_info("ready: %zu resource%s%s", known, known == 1 ? "" : "s",
			 tally.absent ? ", without those that the server does not have" : "");
		tell_status(d);
		notify("READY=1");
	}
	if (!d->ready && !d->refused_told && d->discovered && tally.missing == tally.refused) {
		d->refused_told = true;
		log_warning("%zu of %zu resources can be read; the others are refused by the server, see "
			    "above; ready when they are granted",
			    known - tally.missing, d->cached_count);
	}
}

static void
idle_turn(uv_idle_t *idle)
{
	(void)idle;
}

static void
prepare_turn(uv_prepare_t *prepare)
{
	turn(prepare->data);
}

static void
check_turn(uv_check_t *check)
{
	turn(check->data);
}

void
daemon_age_events(struct daemon *d)
{
	uint64_t now = time_ns(CLOCK_BOOTTIME);

	if (!d->fan_out || !d->consumers)
		return;
	store_expire_tombstones(d->local.store, now);
	fan_out_tick(d->fan_out, now);
	for (size_t i = 0; d->cached && i < d->cached_count; i++)
		if (d->cached[i])
			cached_resource_tell(d->cached[i]);
	consumers_poll(d->consumers, time_ns(CLOCK_REALTIME), time_ns(CLOCK_MONOTONIC));
	if (store_commit(d->local.store) < 0 && d->applier)
		applier_touch(d->applier); /* the applier commits when there is room */
}

/* A watch without changes is silent. An answer to a ping confirms that its resource is current. */
static void
hear_server(const struct daemon *d)
{
	uint64_t silent_ms = d->transport ? transport_silent_ms(d->transport) : UINT64_MAX;

	for (size_t i = 0; d->cached && i < d->cached_count; i++)
		if (d->cached[i])
			cached_resource_hear(d->cached[i], silent_ms);
}

/*
 * A restart would not help: ask systemd for more time. After a while its jobs go on all the same. Whoever
 * waits for informerd may read what there is, and waits for sync by itself.
 */
static void
tell_unready(struct daemon *d)
{
	if (++d->unready_beats < READY_BEATS)
		notify("EXTEND_TIMEOUT_USEC=30000000");
	else if (d->unready_beats == READY_BEATS)
		notify_format("STATUS=%s\nREADY=1", d->status_text);
}

void
daemon_beat(struct daemon *d)
{
	atomic_store_explicit(&d->local.arena.header->heartbeat_boot_ns, time_ns(CLOCK_BOOTTIME),
			      memory_order_relaxed);
	tell_status(d);
	if (!d->ready)
		tell_unready(d);
	hear_server(d);
	daemon_age_events(d);
	if (d->broker)
		daemon_look_after_room(d);
	local_state_expire(&d->local, limits_of_snapshots(d->config, 0).ns);
	daemon_ask_about_redefined(d);
	for (unsigned i = 0; i < GATHER_A_BEAT && arena_gather_pages(&d->local.arena); i++)
		;
}

static void
on_heartbeat(uv_timer_t *timer)
{
	daemon_beat(timer->data);
}

void
daemon_start_turns(struct daemon *d)
{
	uv_timer_start(&d->heartbeat, on_heartbeat, HEARTBEAT_MS, HEARTBEAT_MS);
	uv_prepare_start(&d->prepare, prepare_turn);
	uv_check_start(&d->check, check_turn);
}

/* ---- before the first turn ---- */

static void
on_waited(uv_timer_t *timer)
{
	uv_stop(timer->loop); /* if the time is over already, the loop does not poll */
}

bool
daemon_wait_some(struct daemon *d, unsigned ms)
{
	uv_timer_start(&d->heartbeat, on_waited, ms, 0);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_timer_stop(&d->heartbeat);
	return !d->stopping;
}
