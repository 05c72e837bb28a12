/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the report of `informerctl stat -o json`, schema 1. Fields are only ever added. metrics_report.c uses
 * the same figures.
 *
 *	{
 *	  "schema": 1, "version", "pid", "server",
 *	  "cluster",                       its id; "": hidden, or not known yet
 *	  "release",                       the server's, "1.36"; "": not known
 *	  "uptime_ns", "generation", "epoch", "seq", "commits", "synced",
 *	  "ready",                         every resource was synced once since the start
 *	  "trouble": "",                   why changes wait, or why there are no resources yet
 *	  "reload": {                      SIGHUP (daemon_reload.c)
 *	    "state": "none" | "ok" | "checking" | "refused" | "waiting",
 *	    "time",                        of the last decision, RFC 3339, or ""
 *	    "error",                       why the reload was refused or waits
 *	    "succeeded", "refused"},       numbers of reloads
 *	  "arena": {"file", "bytes", "used_bytes", "retired_bytes", "free_bytes", "present_bytes",
 *	            "buried_bytes", "absent_bytes", "limit_bytes", "private_bytes", "shared_blocks",
 *	            "leaked_blocks"},
 *	  "api_server": {"connections", "dead_connections", "requests_active"},
 *	  "resources": [{
 *	    "resource": "pods", "group", "version", "kind", "namespace", "labelSelector", "fieldSelector",
 *	    "metadataOnly", "onDemand",
 *	    "state": "synced" | "listing" | "backing-off" | "refused" | "idle" (on demand) | "waiting",
 *	    "synced_once",                                       since the start
 *	    "activity": "listing" | "watching" | "backing-off" | "refused" | "idle",
 *	    "progress": {"items", "remaining", "bytes"} or null, of the current list; remaining -1: unknown
 *	    "objects", "rv", "age_ns",                           age: since the server was heard; -1: never
 *	    "tombstones": {"count", "bytes", "oldest_age_ns", "floor"},
 *	    "queued", "last_error", "last_reason", "last_code", "retry_in_ms",
 *	    "consistency": {"checks", "inconclusive", "missing", "extra", "different",
 *	                    "last"},                             check_schedule.h; last: RFC 3339, or ""
 *	    "wire": "protobuf" | "json" | "",                    of the last answer; "": none yet
 *	    "wire_fallbacks", "wire_why",                        times protobuf was given up; the last reason
 *	    "lists", "watch_lists", "watches", "events", "bookmarks", "bad_events", "failures",
 *	    "relists": {"expired": 1, …}}],                      all lists but the first, by reason
 *	  "readers": […],                                        broker.h
 *	  "revoked",                                             readers, since the start
 *	  "connections": {"pending", "attached", "refused", "denied", "dropped", "wakes_refused", "wakeups"},
 *	                                                         pending: now; the rest since the start
 *	  "queue_overflows": {"pods": 0, …},                     by resource, ended queues included
 *	  "queue_memory": {"bytes", "limit_bytes", "refused"},   limit: now; refused: queues
 *	  "consumers": [{"name", "uid", "seq", "lag", "attached", "lastSeen"}]   lag -1: of another lineage
 *	}
 *
 * "state" is what readers see: a synced resource stays synced while its Reflector backs off. "activity" is
 * what the Reflector does.
 */
#include "writer/daemon/daemon_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"

const char *
stat_word(const struct cached_resource *c)
{
	struct reflector_status status;

	reflector_get_status(c->reflector, &status);
	if (cached_resource_is_synced(c))
		return "synced";
	if (!c->started)
		return "idle";
	if (status.state == REFLECTOR_REFUSED || status.state == REFLECTOR_BACKING_OFF)
		return reflector_state_name(status.state);
	return "listing";
}

static void
number(cJSON *object, const char *name, uint64_t value)
{
	cJSON_AddNumberToObject(object, name, (double)value);
}

static void
text(cJSON *object, const char *name, const char *value)
{
	cJSON_AddStringToObject(object, name, value ? value : "");
}

static void
add_activity(cJSON *object, const struct daemon *d, const struct cached_resource *c)
{
	struct reflector_status status;
	uint64_t now = d->clock.clock.now_ms((struct clock *)(uintptr_t)&d->clock.clock);
	cJSON *progress, *relists;

	reflector_get_status(c->reflector, &status);
	text(object, "activity", reflector_state_name(status.state));
	if (status.state == REFLECTOR_LISTING) {
		progress = cJSON_AddObjectToObject(object, "progress");
		number(progress, "items", status.list_items);
		cJSON_AddNumberToObject(progress, "remaining", (double)status.list_remaining);
		number(progress, "bytes", status.list_bytes);
	} else {
		cJSON_AddNullToObject(object, "progress");
	}
	text(object, "last_error", status.last_error);
	text(object, "last_reason", status.last_reason);
	cJSON_AddNumberToObject(object, "last_code", status.last_code);
	number(object, "retry_in_ms",
	       (status.state == REFLECTOR_BACKING_OFF || status.state == REFLECTOR_REFUSED) &&
			       status.next_try_ms > now
		       ? status.next_try_ms - now
		       : 0);
	number(object, "lists", status.lists);
	number(object, "watch_lists", status.watch_lists);
	number(object, "watches", status.watches);
	number(object, "events", status.events);
	number(object, "bookmarks", status.bookmarks);
	number(object, "bad_events", status.bad_events);
	number(object, "failures", status.failures);
	relists = cJSON_AddObjectToObject(object, "relists");
	for (int why = RESULT_OK + 1; why < RESULT_KINDS; why++)
		if (status.lists_for[why])
			number(relists, request_result_name((enum request_result_kind)why),
			       status.lists_for[why]);
}

static void
add_tombstones(cJSON *object, const struct store *store, unsigned id, uint64_t now)
{
	cJSON *tombstones = cJSON_AddObjectToObject(object, "tombstones");
	struct tombstone_stats stats;

	store_tombstone_stats(store, id, &stats);
	number(tombstones, "count", stats.count);
	number(tombstones, "bytes", stats.bytes);
	number(tombstones, "oldest_age_ns",
	       stats.count && now > stats.oldest_boot_ns ? now - stats.oldest_boot_ns : 0);
	number(tombstones, "floor", store_resource(store, id)->tombstone_floor);
}

static void
add_checks(cJSON *object, const struct check_schedule *checks)
{
	cJSON *consistency = cJSON_AddObjectToObject(object, "consistency");
	char last[CLOCK_TEXT_SIZE];

	number(consistency, "checks", checks->checks);
	number(consistency, "inconclusive", checks->inconclusive);
	number(consistency, "missing", checks->missing);
	number(consistency, "extra", checks->extra);
	number(consistency, "different", checks->different);
	text(consistency, "last", clock_text(checks->last_wall_ns, last));
}

static void
add_resource(cJSON *resources, const struct daemon *d, const struct cached_resource *c)
{
	const struct resource *known = store_resource(d->local.store, c->id);
	const struct header *header = d->local.arena.header;
	uint64_t contact = atomic_load_explicit(&((struct header *)(uintptr_t)header)->contact_boot_ns[c->id],
						memory_order_relaxed);
	uint64_t now = time_ns(CLOCK_BOOTTIME);
	char version[RESOURCE_VERSION_MAX + 1] = "";
	cJSON *object = cJSON_CreateObject();

	if (!object)
		return;
	cJSON_AddItemToArray(resources, object);
	memcpy(version, known->version, known->version_length);
	text(object, "resource", c->spec->kube.resource);
	text(object, "group", c->spec->kube.group);
	text(object, "version", c->spec->kube.version);
	text(object, "kind", c->spec->kube.kind);
	text(object, "namespace", c->entry->namespace_);
	text(object, "labelSelector", c->entry->label_selector);
	text(object, "fieldSelector", c->entry->field_selector);
	cJSON_AddBoolToObject(object, "metadataOnly", c->entry->metadata_only);
	cJSON_AddBoolToObject(object, "onDemand", c->entry->on_demand);
	text(object, "state", stat_word(c));
	cJSON_AddBoolToObject(object, "synced_once", c->was_synced);
	number(object, "objects", known->object_count);
	text(object, "rv", version);
	cJSON_AddNumberToObject(object, "age_ns", contact ? (double)(now > contact ? now - contact : 0) : -1);
	add_tombstones(object, d->local.store, c->id, now);
	number(object, "queued", delta_fifo_queued(c->fifo) + delta_fifo_waiting(c->fifo));
	text(object, "wire", wire_syntax_name(&c->wire));
	number(object, "wire_fallbacks", c->wire.fallbacks);
	text(object, "wire_why", c->wire.why);
	add_checks(object, &c->checks);
	add_activity(object, d, c);
}

/* Add an entry that discovery has not resolved yet. */
static void
add_unresolved(cJSON *resources, const struct config_resource *entry)
{
	cJSON *object = cJSON_CreateObject();

	if (!object)
		return;
	cJSON_AddItemToArray(resources, object);
	text(object, "resource", entry->resource);
	text(object, "namespace", entry->namespace_);
	text(object, "state", "waiting");
	text(object, "activity", "idle");
	cJSON_AddNullToObject(object, "progress");
	number(object, "objects", 0);
	text(object, "rv", "");
	cJSON_AddNumberToObject(object, "age_ns", -1);
	text(object, "last_error", "");
}

static const char *
reload_word(const struct daemon *d)
{
	switch (d->reload.state) {
	case RELOAD_CHECKS:
		return "checking";
	case RELOAD_WAITS:
		return "waiting";
	case RELOAD_REFUSED:
		return "refused";
	case RELOAD_NONE:
		break;
	}
	return d->reloads.last_wall_ns ? "ok" : "none";
}

static void
add_reload(cJSON *report, const struct daemon *d)
{
	cJSON *reload = cJSON_AddObjectToObject(report, "reload");
	char time[CLOCK_TEXT_SIZE];

	text(reload, "state", reload_word(d));
	text(reload, "time", clock_text(d->reloads.last_wall_ns, time));
	text(reload, "error", d->reload.why);
	number(reload, "succeeded", d->reloads.succeeded);
	number(reload, "refused", d->reloads.refused);
}

static void
add_arena(cJSON *report, const struct daemon *d, const struct store_stats *stats)
{
	cJSON *arena = cJSON_AddObjectToObject(report, "arena");

	text(arena, "file", d->local.arena.name);
	number(arena, "bytes", stats->arena_bytes);
	number(arena, "used_bytes", stats->used_bytes);
	number(arena, "retired_bytes", stats->retired_bytes);
	number(arena, "free_bytes", stats->free_bytes);
	number(arena, "present_bytes", stats->present_bytes);
	number(arena, "buried_bytes", stats->buried_bytes);
	number(arena, "absent_bytes", stats->absent_bytes);
	number(arena, "limit_bytes", arena_budget(&d->local.arena));
	number(arena, "private_bytes", stats->private_bytes);
	number(arena, "shared_blocks", stats->shared_blocks);
	number(arena, "leaked_blocks", stats->leaked_blocks);
}

static void
add_broker(cJSON *report, const struct daemon *d)
{
	cJSON *connections = cJSON_AddObjectToObject(report, "connections"),
	      *memory = cJSON_AddObjectToObject(report, "queue_memory");
	struct broker_stats stats = {0};

	broker_stats(d->broker, &stats);
	number(report, "revoked", stats.revoked);
	number(connections, "pending", stats.pending);
	number(connections, "attached", stats.attached);
	number(connections, "refused", stats.refused);
	number(connections, "denied", stats.denied);
	number(connections, "dropped", stats.dropped);
	number(connections, "wakes_refused", stats.wakes_refused);
	number(connections, "wakeups", stats.wakeups);
	number(memory, "bytes", stats.queue_bytes);
	number(memory, "limit_bytes", stats.queue_limit);
	number(memory, "refused", stats.queues_refused);
}

static void
add_api_server(cJSON *report, const struct daemon *d)
{
	cJSON *server = cJSON_AddObjectToObject(report, "api_server");
	struct transport_stats stats;

	transport_stats(d->transport, &stats);
	number(server, "connections", stats.connections);
	number(server, "dead_connections", stats.dead_connections);
	number(server, "requests_active", stats.requests_active);
}

static void
add_resources(cJSON *report, const struct daemon *d)
{
	cJSON *resources = cJSON_AddArrayToObject(report, "resources"),
	      *overflows = cJSON_AddObjectToObject(report, "queue_overflows");
	bool synced = true;

	for (size_t i = 0; i < d->cached_count; i++) {
		const struct cached_resource *c = d->cached[i];
		const char *name = c ? c->spec->group_name : NULL;

		synced &= c && (cached_resource_is_synced(c) || !c->started);
		if (!c) {
			add_unresolved(resources, &d->config->resources[i]);
			continue;
		}
		add_resource(resources, d, c);
		/* a queue counts all namespaces of a resource together */
		if (!cJSON_HasObjectItem(overflows, name))
			number(overflows, name, fan_out_overflows(d->fan_out, name));
	}
	cJSON_AddBoolToObject(report, "synced", synced);
}

cJSON *
report_tree(const struct daemon *d)
{
	cJSON *report = cJSON_CreateObject();
	struct store_stats stats;
	char release[32] = "";

	if (!report)
		return NULL;
	add_reload(report, d);
	add_api_server(report, d);
	if (!d->local.store)
		return report;
	if (d->guard.release)
		snprintf(release, sizeof(release), "%u.%u", d->guard.release / 1000, d->guard.release % 1000);
	store_stats(d->local.store, &stats);
	number(report, "schema", 1);
	text(report, "version", INFORMER_VERSION);
	number(report, "pid", (uint64_t)getpid());
	text(report, "server", d->kube.server);
	text(report, "cluster", cluster_guard_id(&d->guard));
	text(report, "release", release);
	number(report, "uptime_ns", time_ns(CLOCK_BOOTTIME) - d->started_boot_ns);
	number(report, "generation", stats.generation);
	number(report, "epoch", stats.epoch);
	number(report, "seq", stats.seq);
	number(report, "commits", stats.commits);
	cJSON_AddBoolToObject(report, "ready", d->was_synced);
	text(report, "trouble", d->discovery_error ? d->discovery_error : applier_trouble(d->applier));
	add_arena(report, d, &stats);
	add_resources(report, d);
	add_broker(report, d);
	if (cJSON_AddItemToObject(report, "readers", broker_readers_json(d->broker)) &&
	    cJSON_AddItemToObject(report, "consumers", consumers_json(d->consumers)))
		return report;
	cJSON_Delete(report);
	return NULL;
}

char *
stat_report(void *daemon)
{
	cJSON *report = report_tree(daemon);
	char *json = report ? cJSON_PrintUnformatted(report) : NULL;

	cJSON_Delete(report);
	return json;
}

void
stat_summary(const struct daemon *d, char *summary, size_t size)
{
	size_t at = 0;

	summary[0] = '\0';
	if (d->discovery_error)
		at += (size_t)snprintf(summary, size, "waiting for the API server: %s", d->discovery_error);
	for (size_t i = 0; i < d->cached_count && at < size; i++) {
		const struct cached_resource *c = d->cached[i];

		if (!c)
			continue;
		at += (size_t)snprintf(summary + at, size - at, "%s%s: %s, %" PRIu64 " objects",
				       at ? "; " : "", c->spec->name, stat_word(c),
				       store_resource(d->local.store, c->id)->object_count);
	}
}
