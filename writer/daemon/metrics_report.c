/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /metrics shows: the figures of stat_report.c as Prometheus reads them, by tables of families; and what
 * the API server answered, under the names that Go clients give it.
 *
 * A resource is named as in "pods", "deployments.apps", with its namespace where it is cached from one alone.
 */
#include "writer/daemon/daemon_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/metrics_text.h"
#include "shm-layout/time_ns.h"
#include "writer/reflect/request_result.h"

#define SECONDS(ns) ((double)(ns) / 1e9)

/* A resource and what is known about it at the moment. */
struct view {
	const struct cached_resource *c;
	const struct resource *known;
	struct reflector_status status;
	struct tombstone_stats tombstones;
	uint64_t now_ns;
	double age_seconds;	/* NAN: never heard */
};

static struct view
view_of(const struct daemon *d, const struct cached_resource *c, uint64_t now_ns)
{
	struct header *header = d->local.arena.header;
	uint64_t contact = atomic_load_explicit(&header->contact_boot_ns[c->id], memory_order_relaxed);
	struct view v = {
		.c = c, .known = store_resource(d->local.store, c->id), .now_ns = now_ns, .age_seconds = NAN};

	reflector_get_status(c->reflector, &v.status);
	store_tombstone_stats(d->local.store, c->id, &v.tombstones);
	if (contact)
		v.age_seconds = now_ns > contact ? SECONDS(now_ns - contact) : 0;
	return v;
}

/* ---- per resource ---- */

static double objects(const struct view *v) { return (double)v->known->object_count; }
static double synced(const struct view *v) { return cached_resource_is_synced(v->c); }
static double was_synced(const struct view *v) { return v->c->was_synced; }
static double age(const struct view *v) { return v->age_seconds; }
static double
queued(const struct view *v)
{
	return (double)(delta_fifo_queued(v->c->fifo) + delta_fifo_waiting(v->c->fifo));
}
static double lists(const struct view *v) { return (double)v->status.lists; }
static double watch_lists(const struct view *v) { return (double)v->status.watch_lists; }
static double watches(const struct view *v) { return (double)v->status.watches; }
static double events(const struct view *v) { return (double)v->status.events; }
static double bookmarks(const struct view *v) { return (double)v->status.bookmarks; }
static double bad_events(const struct view *v) { return (double)v->status.bad_events; }
static double failures(const struct view *v) { return (double)v->status.failures; }
static double
fallbacks(const struct view *v)
{
	return (double)v->c->wire.fallbacks;
}
static double tombstones(const struct view *v) { return (double)v->tombstones.count; }
static double tombstone_bytes(const struct view *v) { return (double)v->tombstones.bytes; }

static double
tombstone_age(const struct view *v)
{
	return v->tombstones.count && v->now_ns > v->tombstones.oldest_boot_ns
		       ? SECONDS(v->now_ns - v->tombstones.oldest_boot_ns)
		       : 0;
}

static const struct {
	const char *name, *type, *help;
	double (*value)(const struct view *v);	/* NAN: there is none */
} resource_rows[] = {
	{"informer_objects", "gauge", "Objects in the cache.", objects},
	{"informer_resource_synced", "gauge", "1 when the content is whole, 0 while a list is taken in.",
	 synced},
	{"informer_resource_synced_once", "gauge",
	 "1 when the content was whole once since informerd started.", was_synced},
	{"informer_resource_age_seconds", "gauge", "Time since the API server was last heard about it.", age},
	{"informer_queued_deltas", "gauge", "Changes that were heard and not yet put into the cache.",
	 queued},
	{"informer_lists_total", "counter", "LIST requests begun, the first one included.", lists},
	{"informer_watch_lists_total", "counter", "WATCH requests begun that bring the state first.",
	 watch_lists},
	{"informer_watches_total", "counter", "WATCH requests begun.", watches},
	{"informer_watch_events_total", "counter", "Events heard, without bookmarks.", events},
	{"informer_watch_bookmarks_total", "counter", "Bookmarks heard.", bookmarks},
	{"informer_bad_events_total", "counter", "Events and list items that could not be kept.", bad_events},
	{"informer_failures_total", "counter", "LISTs and WATCHes that failed.", failures},
	{"informer_wire_fallbacks_total", "counter",
	 "Times that protobuf was given up for JSON: a field or kind that is not known, 406, unreadable.",
	 fallbacks},
	{"informer_tombstones", "gauge", "Deletions that are remembered.", tombstones},
	{"informer_tombstone_bytes", "gauge", "What they hold in the arena.", tombstone_bytes},
	{"informer_tombstone_oldest_seconds", "gauge", "Age of the oldest one.", tombstone_age},
};

/* A sample of a resource, with a label of its own or NULL. */
static void
sample_of(struct metrics_text *m, const struct view *v, double value, const char *name, const char *label)
{
	metrics_sample(m, "", value,
		       LABELS("resource", v->c->spec->group_name, "namespace", v->c->entry->namespace_, name,
			      label));
}

static void
add_relists(struct metrics_text *m, const struct view *views, size_t count)
{
	metrics_family(m, "informer_relists_total", "counter",
		       "LISTs and WatchLists but the first, by what made them necessary (failed, refused, "
		       "throttled, unsupported: the try before was).");
	for (size_t i = 0; i < count; i++)
		for (int why = RESULT_OK + 1; why < RESULT_KINDS; why++)
			if (views[i].status.lists_for[why])
				sample_of(m, &views[i], (double)views[i].status.lists_for[why], "reason",
					  request_result_name((enum request_result_kind)why));
}

static void
add_checks(struct metrics_text *m, const struct view *views, size_t count)
{
	metrics_family(m, "informer_consistency_checks_total", "counter",
		       "Comparisons with the API server; an inconclusive one says nothing.");
	for (size_t i = 0; i < count; i++) {
		const struct check_schedule *checks = &views[i].c->checks;

		sample_of(m, &views[i], (double)(checks->checks - checks->inconclusive), "result",
			  "compared");
		sample_of(m, &views[i], (double)checks->inconclusive, "result", "inconclusive");
	}
	metrics_family(
		m, "informer_consistency_differences_total", "counter",
		"Objects that the cache lacked, had too much, or had in another state than the server.");
	for (size_t i = 0; i < count; i++) {
		const struct check_schedule *checks = &views[i].c->checks;

		sample_of(m, &views[i], (double)checks->missing, "kind", "missing");
		sample_of(m, &views[i], (double)checks->extra, "kind", "extra");
		sample_of(m, &views[i], (double)checks->different, "kind", "different");
	}
}

static void
add_states(struct metrics_text *m, const struct view *views, size_t count)
{
	metrics_family(m, "informer_reflector_state", "gauge",
		       "1 for what a resource's Reflector does at the moment, 0 for the others.");
	for (size_t i = 0; i < count; i++)
		for (int state = REFLECTOR_IDLE; state <= REFLECTOR_REFUSED; state++)
			sample_of(m, &views[i], (int)views[i].status.state == state, "state",
				  reflector_state_name((enum reflector_state)state));
}

/* What it comes in; before the first answer neither is 1. */
static void
add_wires(struct metrics_text *m, const struct view *views, size_t count)
{
	metrics_family(m, "informer_resource_wire", "gauge",
		       "1 for the syntax in which a resource came last, 0 for the other.");
	for (size_t i = 0; i < count; i++) {
		enum wire_syntax syntax = views[i].c->wire.syntax;

		sample_of(m, &views[i], syntax == WIRE_IS_JSON, "syntax", "json");
		sample_of(m, &views[i], syntax == WIRE_IS_PROTOBUF, "syntax", "protobuf");
	}
}

static bool
add_resources(struct metrics_text *m, const struct daemon *d)
{
	struct view *views = calloc(d->cached_count + 1, sizeof(*views));
	uint64_t now_ns = time_ns(CLOCK_BOOTTIME);
	size_t count = 0;

	if (!views)
		return false;
	for (size_t i = 0; i < d->cached_count; i++)
		if (d->cached[i])
			views[count++] = view_of(d, d->cached[i], now_ns);
	for (size_t row = 0; row < sizeof(resource_rows) / sizeof(*resource_rows); row++) {
		metrics_family(m, resource_rows[row].name, resource_rows[row].type, resource_rows[row].help);
		for (size_t i = 0; i < count; i++) {
			double value = resource_rows[row].value(&views[i]);

			if (!isnan(value))
				sample_of(m, &views[i], value, NULL, NULL);
		}
	}
	add_relists(m, views, count);
	add_checks(m, views, count);
	add_states(m, views, count);
	add_wires(m, views, count);
	free(views);
	return true;
}

/* ---- the daemon ---- */

static void
add_one(struct metrics_text *m, const char *name, const char *type, const char *help, double value)
{
	metrics_family(m, name, type, help);
	metrics_sample(m, "", value, NULL);
}

static void
add_daemon(struct metrics_text *m, const struct daemon *d)
{
	struct store_stats s;

	store_stats(d->local.store, &s);
	metrics_family(m, "informer_build_info", "gauge", "1, with the version.");
	metrics_sample(m, "", 1, LABELS("version", INFORMER_VERSION));
	add_one(m, "informer_uptime_seconds", "gauge", "Time since this generation began.",
		SECONDS(time_ns(CLOCK_BOOTTIME) - d->started_boot_ns));
	add_one(m, "informer_ready", "gauge", "1 when every resource was synced once.", d->was_synced);
	add_one(m, "informer_resources", "gauge", "Resources that are configured.", (double)d->cached_count);
	add_one(m, "informer_generation", "gauge", "Number of the arena's file; a new one after each start.",
		(double)s.generation);
	add_one(m, "informer_epoch", "gauge", "Number of the newest publication.", (double)s.epoch);
	add_one(m, "informer_commits_total", "counter", "Publications.", (double)s.commits);
	add_one(m, "informer_changes_total", "counter",
		"Changes of objects that were published in this lineage (seq).", (double)s.seq);
	add_one(m, "informer_arena_bytes", "gauge", "Size of the arena's file.", (double)s.arena_bytes);
	add_one(m, "informer_arena_limit_bytes", "gauge", "Up to which it may grow.",
		(double)arena_budget(&d->local.arena));
	add_one(m, "informer_arena_used_bytes", "gauge", "In use, what waits for readers included.",
		(double)s.used_bytes);
	add_one(m, "informer_arena_retired_bytes", "gauge",
		"Of these, waiting for readers with older snapshots.", (double)s.retired_bytes);
	add_one(m, "informer_arena_free_bytes", "gauge", "In the file, free.", (double)s.free_bytes);
	add_one(m, "informer_arena_present_bytes", "gauge", "Of the file, what has memory.",
		(double)s.present_bytes);
	add_one(m, "informer_arena_buried_bytes", "gauge",
		"Places that are used no more while a revoked reader may look there.",
		(double)s.buried_bytes);
	add_one(m, "informer_private_bytes", "gauge", "The writer's own books about the arena.",
		(double)s.private_bytes);
	add_one(m, "informer_arena_shared_blocks", "gauge",
		"Values that are stored once for several objects.", (double)s.shared_blocks);
	add_one(m, "informer_arena_leaked_blocks", "gauge", "Blocks given up until the next generation.",
		(double)s.leaked_blocks);
}

static void
add_reloads(struct metrics_text *m, const struct daemon *d)
{
	const struct reload_record *record = &d->reloads;

	metrics_family(m, "informer_config_reloads_total", "counter",
		       "Times that the configuration was read again (SIGHUP), by what came of it.");
	metrics_sample(m, "", (double)record->succeeded, LABELS("result", "success"));
	metrics_sample(m, "", (double)record->refused, LABELS("result", "failure"));
	add_one(m, "informer_config_last_reload_successful", "gauge",
		"0 when the last reload was refused, 1 else.", d->reload.state != RELOAD_REFUSED);
	add_one(m, "informer_config_last_reload_success_timestamp_seconds", "gauge",
		"When the configuration in force was read, Unix time.", (double)d->read_wall_ns / 1e9);
}

/* ---- readers ---- */

static double
number_of(const cJSON *object, const char *name)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

static const char *
text_of(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* One sample a name that readers gave themselves: how many, or the largest figure among them. */
static void
add_by_name(struct metrics_text *m, const cJSON *readers, const char *figure, double scale)
{
	for (const cJSON *reader = readers ? readers->child : NULL; reader; reader = reader->next) {
		const char *name = text_of(reader, "name");
		double value = 0;
		bool first = true;

		for (const cJSON *other = readers->child; other && name; other = other->next) {
			const char *its = text_of(other, "name");
			double that = figure ? number_of(other, figure) * scale : 0;

			if (!its || strcmp(its, name) != 0)
				continue;
			if (first && other != reader)
				break; /* told with an earlier one */
			first = false;
			value = figure ? fmax(value, that) : value + 1;
		}
		if (!first)
			metrics_sample(m, "", value, LABELS("name", name));
	}
}

struct queue_sums {
	double count, closed, unread, held;
};

static void
add_to_sums(struct queue_sums *sums, const cJSON *queue)
{
	sums->count++;
	sums->closed += !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(queue, "open"));
	sums->unread += number_of(queue, "unread");
	/* two queues hold the same bytes */
	sums->held = fmax(sums->held, number_of(queue, "held_bytes"));
}

static struct queue_sums
sum_queues(const cJSON *readers)
{
	struct queue_sums sums = {0};
	const cJSON *reader, *queue;

	cJSON_ArrayForEach(reader, readers)
		cJSON_ArrayForEach(queue, cJSON_GetObjectItemCaseSensitive(reader, "queues"))
			add_to_sums(&sums, queue);
	return sums;
}

/*
 * Names of handlers are what readers like to give, and as many as there are queues: so many are told of by
 * themselves, the others together.
 */
#define HANDLER_NAMES_MAX 100
#define OTHER_HANDLERS "<other>"

struct handler_sums {
	const char *name;
	struct queue_sums sums;
};

/* HANDLER_NAMES_MAX names, in the order in which their handlers came, and the others; NULL: not so many. */
static struct handler_sums *
sum_handlers(const cJSON *readers)
{
	struct handler_sums *handlers = calloc(HANDLER_NAMES_MAX + 1, sizeof(*handlers));
	const cJSON *reader, *queue;

	if (!handlers)
		return NULL;
	cJSON_ArrayForEach(reader, readers)
		cJSON_ArrayForEach(queue, cJSON_GetObjectItemCaseSensitive(reader, "queues")) {
		const char *name = text_of(queue, "name");
		size_t i = 0;

		if (!name || strcmp(name, OTHER_HANDLERS) == 0)
			i = HANDLER_NAMES_MAX;
		while (i < HANDLER_NAMES_MAX && handlers[i].name && strcmp(handlers[i].name, name) != 0)
			i++;
		handlers[i].name = i < HANDLER_NAMES_MAX ? name : OTHER_HANDLERS;
		add_to_sums(&handlers[i].sums, queue);
		}
		return handlers;
}

static double
handler_queues(const struct queue_sums *sums)
{
	return sums->count;
}
static double
handler_overflowed(const struct queue_sums *sums)
{
	return sums->closed;
}
static double
handler_unread(const struct queue_sums *sums)
{
	return sums->unread;
}
static double
handler_held(const struct queue_sums *sums)
{
	return sums->held;
}

static bool
add_handlers(struct metrics_text *m, const cJSON *readers)
{
	static const struct {
		const char *name, *help;
		double (*value)(const struct queue_sums *sums);
	} rows[] = {
		{"informer_handler_queues", "Event queues, by the name of their handler.", handler_queues},
		{"informer_handler_queues_overflowed",
		 "Of these, overflowed at the moment: the handler does not keep up.", handler_overflowed},
		{"informer_handler_unread_events", "Events that stand unread in them.", handler_unread},
		{"informer_handler_held_bytes", "What the slowest of them holds back in the arena.",
		 handler_held},
	};
	struct handler_sums *handlers = sum_handlers(readers);

	if (!handlers)
		return false;
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		metrics_family(m, rows[row].name, "gauge", rows[row].help);
		for (size_t i = 0; i <= HANDLER_NAMES_MAX; i++)
			if (handlers[i].name)
				metrics_sample(m, "", rows[row].value(&handlers[i].sums),
					       LABELS("handler", handlers[i].name));
	}
	free(handlers);
	return true;
}

/* Whether one of the resources before this one has its name, too. */
static bool
is_named_before(const struct daemon *d, size_t i, const char *group_name)
{
	while (i-- > 0) {
		const char *name = d->cached[i] ? d->cached[i]->spec->group_name : NULL;

		if (name && strcmp(name, group_name) == 0)
			return true;
	}
	return false;
}

/* Several namespaces of one resource are one resource to a queue. */
static void
add_overflows(struct metrics_text *m, const struct daemon *d)
{
	metrics_family(m, "informer_queue_overflows_total", "counter",
		       "Overflows of the queues of a resource, those that are gone included.");
	for (size_t i = 0; i < d->cached_count; i++) {
		const char *name = d->cached[i] ? d->cached[i]->spec->group_name : NULL;

		if (name && !is_named_before(d, i, name))
			metrics_sample(m, "", (double)fan_out_overflows(d->fan_out, name),
				       LABELS("resource", name));
	}
}

static bool
add_readers(struct metrics_text *m, const struct daemon *d)
{
	cJSON *readers = broker_readers_json(d->broker);
	struct queue_sums queues = sum_queues(readers);
	struct broker_stats stats;
	bool handlers;

	broker_stats(d->broker, &stats);
	metrics_family(m, "informer_readers", "gauge", "Readers attached, by the name they gave.");
	add_by_name(m, readers, NULL, 0);
	metrics_family(m, "informer_reader_lag_epochs", "gauge",
		       "By how many publications the oldest open snapshot is behind.");
	add_by_name(m, readers, "lag_epochs", 1);
	metrics_family(m, "informer_reader_snapshot_seconds", "gauge",
		       "For how long the oldest open snapshot has been held.");
	add_by_name(m, readers, "oldest_age_ns", 1e-9);
	add_one(m, "informer_readers_attached_total", "counter", "Readers that attached.",
		(double)stats.attached);
	add_one(m, "informer_readers_refused_total", "counter", "Connections that were refused.",
		(double)stats.refused);
	add_one(m, "informer_readers_denied_total", "counter",
		"Of these, connections of users who may not attach.", (double)stats.denied);
	add_one(m, "informer_connections_pending", "gauge", "Connections that have not attached.",
		stats.pending);
	add_one(m, "informer_readers_dropped_total", "counter",
		"Readers cut off for what they did, or did not do.", (double)stats.dropped);
	add_one(m, "informer_readers_revoked_total", "counter",
		"Readers cut off because their snapshots held back too much.", (double)stats.revoked);
	add_one(m, "informer_readers_wakes_refused_total", "counter",
		"Readers cut off because their wake-ups took too long, or blocked.",
		(double)stats.wakes_refused);
	add_one(m, "informer_wakeups_total", "counter", "Times that a sleeping reader was woken.",
		(double)stats.wakeups);
	add_one(m, "informer_queues", "gauge", "Event queues of readers.", queues.count);
	add_one(m, "informer_queues_overflowed", "gauge", "Of these, overflowed at the moment.",
		queues.closed);
	add_one(m, "informer_queue_unread_events", "gauge", "Events that stand unread in them.",
		queues.unread);
	add_one(m, "informer_queue_held_bytes", "gauge", "What the slowest one holds back in the arena.",
		queues.held);
	add_one(m, "informer_queue_memory_bytes", "gauge", "Memory of all event queues.",
		(double)stats.queue_bytes);
	add_one(m, "informer_queue_memory_limit_bytes", "gauge", "What it may come to at the moment.",
		(double)stats.queue_limit);
	add_one(m, "informer_queues_refused_total", "counter", "Queues that were refused for want of memory.",
		(double)stats.queues_refused);
	add_overflows(m, d);
	handlers = add_handlers(m, readers);
	cJSON_Delete(readers);
	return readers && handlers;
}

static bool
add_consumers(struct metrics_text *m, const struct daemon *d)
{
	cJSON *consumers = consumers_json(d->consumers);
	const cJSON *consumer;

	metrics_family(m, "informer_consumer_lag_changes", "gauge",
		       "Changes that a named consumer has not acknowledged; -1: of another lineage.");
	cJSON_ArrayForEach(consumer, consumers) {
		char uid[16];

		snprintf(uid, sizeof(uid), "%.0f", number_of(consumer, "uid"));
		metrics_sample(m, "", number_of(consumer, "lag"),
			       LABELS("name", text_of(consumer, "name"), "uid", uid));
	}
	cJSON_Delete(consumers);
	return consumers != NULL;
}

/* ---- the API server ---- */

/* "10.0.0.1:6443", of its URL. */
static void
host_of(const char *server, char *host, size_t size)
{
	const char *start = strstr(server, "://");

	start = start ? start + 3 : server;
	snprintf(host, size, "%.*s", (int)strcspn(start, "/"), start);
}

static void
add_requests(struct metrics_text *m, const struct daemon *d)
{
	const struct request_stats *stats = transport_requests(d->transport);
	struct transport_stats transport;
	uint64_t below = 0;
	char host[256], text[32];

	host_of(d->kube.server, host, sizeof(host));
	metrics_family(m, "rest_client_requests_total", "counter",
		       "Answers of the API server, by status code; <error>: none came.");
	for (unsigned code = 0; code < REQUEST_CODES; code++) {
		if (!stats->codes[code])
			continue;
		snprintf(text, sizeof(text), "%u", code);
		metrics_sample(m, "", (double)stats->codes[code],
			       LABELS("code", code ? text : "<error>", "method", "GET", "host", host));
	}
	metrics_family(m, "rest_client_request_duration_seconds", "histogram",
		       "Duration of requests that came to their end; no watches.");
	for (size_t i = 0; i < REQUEST_BUCKETS; i++) {
		below += stats->buckets[i];
		snprintf(text, sizeof(text), "%g", request_buckets[i]);
		metrics_sample(m, "_bucket", (double)below, LABELS("verb", "GET", "host", host, "le", text));
	}
	metrics_sample(m, "_bucket", (double)stats->count, LABELS("verb", "GET", "host", host, "le", "+Inf"));
	metrics_sample(m, "_sum", stats->seconds, LABELS("verb", "GET", "host", host));
	metrics_sample(m, "_count", (double)stats->count, LABELS("verb", "GET", "host", host));
	transport_stats(d->transport, &transport);
	add_one(m, "informer_connections_total", "counter", "Connections made to the API server.",
		(double)transport.connections);
	add_one(m, "informer_dead_connections_total", "counter",
		"Of these, given up because nothing came any more.", (double)transport.dead_connections);
	add_one(m, "informer_requests_active", "gauge", "Requests under way, watches included.",
		(double)transport.requests_active);
}

char *
metrics_report(const struct daemon *d, size_t *ret_length)
{
	struct metrics_text m = {0};

	add_one(&m, "informer_standby", "gauge", "1 while another informerd serves the socket, 0 else.",
		!d->local.store);
	add_reloads(&m, d);
	if (d->local.store) {
		add_daemon(&m, d);
		if (!add_resources(&m, d) || !add_readers(&m, d) || !add_consumers(&m, d))
			m.failed = true;
	}
	add_requests(&m, d);
	return metrics_take(&m, ret_length);
}
