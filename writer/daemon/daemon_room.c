/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes room in the arena: sets the budget, revokes readers that hold back too much, and retries what waits
 * for room.
 *
 *	a change finds the arena full ──▶ make_room(): frees a generation that ours replaced (local_state.h),
 *	                                  else revokes the oldest pin if it is 1 s old; the change goes on.
 *	                                  Else the change is refused, and every 20 ms on_look() frees what
 *	                                  readers released, or have held for 1 s
 *	each heartbeat ─────────────────▶ daemon_look_after_room(): the budget; snapshots beyond their limits
 *
 * Invariant: no change waits longer than one look (20 ms) for memory that a reader released, or longer than a
 * second for memory that a reader holds.
 */
#include "writer/daemon/daemon_internal.h"

#include <stdio.h>

#include "shm-layout/huge_map.h"
#include "shm-layout/time_ns.h"
#include "writer/base/log.h"
#include "writer/daemon/limits.h"

#define LOOK_MS 20u
/* The server is asked again when budget / ASK_AGAIN_SHARE bytes came free. */
#define ASK_AGAIN_SHARE 16u
/* Bounded steps of store_reclaim() per heartbeat, at most, for memory of revoked snapshots. */
#define BURIED_ROUNDS 8u
/* Less free address space than this counts as none. */
#define ADDRESS_SPACE_MIN HUGE_PAGE_BYTES
/* What waits does so for the arena's size if less than budget / FULL_SHARE is free, else for other memory. */
#define FULL_SHARE 8u

/* While changes find no room: a snapshot that is a second old may hold back nothing. */
static const struct snapshot_limit when_full = { .bytes = 1, .ns = 1000000000u };
#define FULL "; the arena is full"
/* While what snapshots hold back keeps the next informerd from copying the arena: it would list anew. */
static const struct snapshot_limit when_held_up = { .bytes = 1, .ns = 5000000000u };
#define HELD_UP "; a restart would find no room to copy the arena"

/* ---- waiting work ---------------------------------------------------------------- */

static bool
something_waits(const struct daemon *d)
{
	if (d->foreseen || (d->applier && applier_trouble(d->applier)[0]))
		return true;
	for (size_t i = 0; d->cached && i < d->cached_count; i++)
		if (d->cached[i] && reflector_waits_for_room(d->cached[i]->reflector))
			return true;
	return false;
}

/*
 * `bytes` came free. The next turn retries queued changes. The server is asked again when enough came free
 * (ASK_AGAIN_SHARE).
 */
static void
try_again(struct daemon *d, uint64_t bytes)
{
	d->room_gained += bytes;
	applier_retry(d->applier);
	if (d->foreseen)
		daemon_discover(d);
	if (d->room_gained < arena_budget(&d->local.arena) / ASK_AGAIN_SHARE)
		return;
	d->room_gained = 0;
	for (size_t i = 0; i < d->cached_count; i++)
		if (d->cached[i])
			reflector_retry(d->cached[i]->reflector);
}

/* ---- revoking readers ------------------------------------------------------------ */

static uint64_t
held_back(const struct daemon *d)
{
	struct store_stats stats;

	store_stats(d->local.store, &stats);
	return stats.retired_bytes - stats.retired_since_bytes;
}

/*
 * Revoke the oldest pin, if it exceeds the limits. False: it does not, or there is none. The reason ends the
 * message.
 */
static bool
revoke_oldest(struct daemon *d, const struct snapshot_limit *limits, const char *reason)
{
	uint64_t now = time_ns(CLOCK_BOOTTIME), bytes = held_back(d), ns;
	struct slot_stat oldest;
	int slot = pins_oldest(d->local.pins, &oldest);
	char why[128];

	if (slot < 0)
		return false;
	ns = now > oldest.oldest_since_ns ? now - oldest.oldest_since_ns : 0;
	if (!snapshot_limit_is_over(limits, bytes, ns))
		return false;
	store_revoke(d->local.store, (unsigned)slot);
	snprintf(why, sizeof(why), "it held a snapshot for %.1f s, and %.1f MiB waited for that%s",
		 (double)ns / 1e9, (double)bytes / (1 << 20), reason);
	broker_revoke(d->broker, (unsigned)slot, why);
	return true;
}

/* ---- the arena is full ----------------------------------------------------------- */

static void
on_look(uv_timer_t *timer)
{
	struct daemon *d = timer->data;
	struct store_stats before, after;

	store_stats(d->local.store, &before);
	store_reclaim(d->local.store);
	store_stats(d->local.store, &after);
	if (after.retired_bytes == before.retired_bytes && revoke_oldest(d, &when_full, FULL))
		store_stats(d->local.store, &after);
	if (after.retired_bytes < before.retired_bytes)
		try_again(d, before.retired_bytes - after.retired_bytes);
	if (!something_waits(d) || held_back(d) == 0) {
		d->room_gained = 0;
		uv_timer_stop(timer);
	}
}

/* Called amid a change or a commit, when freeing what readers released was not enough. */
static bool
make_room(void *context)
{
	struct daemon *d = context;

	if (local_state_make_room(&d->local)) {
		local_state_fit_budget(&d->local, d->config->arena_max_bytes);
		return true;
	}
	if (revoke_oldest(d, &when_full, FULL))
		return true;
	if (!uv_is_active((uv_handle_t *)&d->look))
		uv_timer_start(&d->look, on_look, LOOK_MS, LOOK_MS);
	return false;
}

void
daemon_start_room(struct daemon *d)
{
	store_on_full(d->local.store, make_room, d);
}

void
daemon_stop_room(struct daemon *d)
{
	uv_timer_stop(&d->look);
	if (d->local.store)
		store_on_full(d->local.store, NULL, NULL);
}

/* ---- each heartbeat -------------------------------------------------------------- */

/*
 * True if revoked pins reserve so many addresses that none are left for new blocks, though memory is free.
 * Then the daemon goes on in another file.
 */
static bool
places_ran_out(const struct daemon *d)
{
	const struct arena *arena = &d->local.arena;
	struct store_stats stats;

	if (pins_revoked(d->local.pins) == 0)
		return false;
	store_stats(d->local.store, &stats);
	return stats.absent_bytes + (arena->max_bytes - stats.arena_bytes) < ADDRESS_SPACE_MIN &&
	       stats.present_bytes + ADDRESS_SPACE_MIN <= stats.budget_bytes;
}

/*
 * Free memory of revoked snapshots, which takes many bounded steps. Commits do these steps, too, but without
 * changes there are no commits. Returns the bytes that came free.
 */
static uint64_t
go_on_with_buried(struct daemon *d)
{
	struct store_stats before, after;
	uint64_t gained = 0;

	store_stats(d->local.store, &after);
	for (unsigned i = 0; i < BURIED_ROUNDS && after.buried_bytes > 0; i++) {
		before = after;
		store_reclaim(d->local.store);
		store_stats(d->local.store, &after);
		if (after.used_bytes == before.used_bytes && after.present_bytes == before.present_bytes &&
		    after.buried_bytes == before.buried_bytes)
			break;
		if (after.free_bytes > before.free_bytes)
			gained += after.free_bytes - before.free_bytes;
		if (after.present_bytes < before.present_bytes)
			gained += before.present_bytes - after.present_bytes;
	}
	return gained;
}

/* Free the values that decoders keep only for speed. Returns the bytes that came free. */
static uint64_t
give_back_values(struct daemon *d)
{
	struct store_stats before, after;

	store_stats(d->local.store, &before);
	for (size_t i = 0; i < d->cached_count; i++)
		if (d->cached[i])
			cached_resource_give_back(d->cached[i]);
	store_reclaim(d->local.store);
	store_stats(d->local.store, &after);
	return after.free_bytes > before.free_bytes ? after.free_bytes - before.free_bytes : 0;
}

/* Log what limits the arena: once, as long as something waits for room. */
static void
tell_full(struct daemon *d, bool waits)
{
	struct store_stats stats;
	char text[768];

	store_stats(d->local.store, &stats);
	if (waits && !d->full_told &&
	    stats.present_bytes >= stats.budget_bytes - stats.budget_bytes / FULL_SHARE) {
		local_state_explain_budget(&d->local, d->config, text, sizeof(text));
		log_error("%s", text);
		d->full_told = true;
	}
	d->full_told &= waits;
}

static void
revoke_costly(struct daemon *d)
{
	struct snapshot_limit limits = limits_of_snapshots(d->config, arena_budget(&d->local.arena));

	if (held_back(d) < limits.bytes && !local_state_is_held_up(&d->local, held_back(d)))
		return;
	store_reclaim(d->local.store); /* reads the pins again */
	while (local_state_is_held_up(&d->local, held_back(d)) && revoke_oldest(d, &when_held_up, HELD_UP))
		;
	while (revoke_oldest(d, &limits, ""))
		;
}

void
daemon_look_after_room(struct daemon *d)
{
	uint64_t before = arena_budget(&d->local.arena);
	bool waits = something_waits(d);
	uint64_t gained;

	if (local_state_fit_budget(&d->local, d->config->arena_max_bytes) && waits)
		try_again(d, arena_budget(&d->local.arena) - before);
	tell_full(d, waits);
	arena_punch_again(&d->local.arena);
	gained = go_on_with_buried(d);
	if (waits)
		gained += give_back_values(d);
	if (gained > 0 && waits)
		try_again(d, gained);
	revoke_costly(d);
	if (waits && !d->stopping && places_ran_out(d)) {
		log_warning("no address space is left, because readers have not ended their revoked "
			    "snapshots: moving to a new generation");
		d->again = true;
		daemon_stop(d, DAEMON_OK);
	}
}
