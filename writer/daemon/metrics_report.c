/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes /metrics: figures of the report (stat_report.c), each found by its path there, the API server's
 * answers under the names of Go clients' metrics, and the process' own figures.
 *
 * A resource is named as in "pods", "deployments.apps", with its namespace if only one is cached.
 */
#include "writer/daemon/daemon_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "writer/base/metrics_text.h"
#include "writer/base/process_metrics.h"

/*
 * A family. path leads to its samples in the report. "*" stands for each item of an array, and adds the
 * item's "labels"; an item without labels is left out. "*label" stands for each member of an object, and adds
 * a label with the member's name. The sample of an array is its length. The report has times in nanoseconds;
 * negative times give no sample.
 */
struct row {
	const char *name; /* …_total is a counter, else it is a gauge; …_seconds is a time */
	const char *help, *path;
};

static const struct row rows_at_any_time[] = {
	{"informer_connections_total", "Connections made to the API server.", "api_server/connections"},
	{"informer_dead_connections_total", "Of these, given up because nothing came any more.",
	 "api_server/dead_connections"},
	{"informer_requests_active", "Requests under way, watches included.", "api_server/requests_active"},
	{"informer_config_reloads_total",
	 "Times that the configuration was read again (SIGHUP), by what came of it.",
	 "reload/results/*result"},
	{"informer_config_last_reload_successful", "0 when the last reload was refused, 1 else.",
	 "reload/successful"},
	{"informer_config_last_reload_success_timestamp_seconds",
	 "When the configuration in force was read, Unix time.", "reload/read_wall_ns"},
};

static const struct row rows[] = {
	{"informer_uptime_seconds", "Time since this generation began.", "uptime_ns"},
	{"informer_ready", "1 when every resource was synced once.", "ready"},
	{"informer_resources", "Resources that are configured.", "resources"},
	{"informer_generation", "Number of the arena's file; a new one after each start.", "generation"},
	{"informer_epoch", "Number of the newest publication.", "epoch"},
	{"informer_commits_total", "Publications.", "commits"},
	{"informer_changes_total", "Changes of objects that were published in this lineage (seq).", "seq"},
	{"informer_arena_bytes", "Size of the arena's file.", "arena/bytes"},
	{"informer_arena_limit_bytes", "Up to which it may grow.", "arena/limit_bytes"},
	{"informer_arena_used_bytes", "In use, what waits for readers included.", "arena/used_bytes"},
	{"informer_arena_retired_bytes", "Of these, waiting for readers with older snapshots.",
	 "arena/retired_bytes"},
	{"informer_arena_free_bytes", "In the file, free.", "arena/free_bytes"},
	{"informer_arena_present_bytes", "Of the file, what has memory.", "arena/present_bytes"},
	{"informer_arena_buried_bytes", "Places that are used no more while a revoked reader may look there.",
	 "arena/buried_bytes"},
	{"informer_private_bytes", "The writer's own books about the arena.", "arena/private_bytes"},
	{"informer_arena_shared_blocks", "Values that are stored once for several objects.",
	 "arena/shared_blocks"},
	{"informer_arena_leaked_blocks", "Blocks given up until the next generation.", "arena/leaked_blocks"},

	{"informer_objects", "Objects in the cache.", "resources/*/objects"},
	{"informer_resource_synced", "1 when the content is whole, 0 while a list is taken in.",
	 "resources/*/synced"},
	{"informer_resource_synced_once", "1 when the content was whole once since informerd started.",
	 "resources/*/synced_once"},
	{"informer_resource_age_seconds", "Time since the API server was last heard about it.",
	 "resources/*/age_ns"},
	{"informer_queued_deltas", "Changes that were heard and not yet put into the cache.",
	 "resources/*/queued"},
	{"informer_lists_total", "LIST requests begun, the first one included.", "resources/*/lists"},
	{"informer_watch_lists_total", "WATCH requests begun that bring the state first.",
	 "resources/*/watch_lists"},
	{"informer_watches_total", "WATCH requests begun.", "resources/*/watches"},
	{"informer_watch_events_total", "Events heard, without bookmarks.", "resources/*/events"},
	{"informer_watch_bookmarks_total", "Bookmarks heard.", "resources/*/bookmarks"},
	{"informer_bad_events_total", "Events and list items that could not be kept.",
	 "resources/*/bad_events"},
	{"informer_failures_total", "LISTs and WATCHes that failed.", "resources/*/failures"},
	{"informer_wire_fallbacks_total",
	 "Times that protobuf was given up for JSON: a field or kind that is not known, 406, unreadable.",
	 "resources/*/wire_fallbacks"},
	{"informer_tombstones", "Deletions that are remembered.", "resources/*/tombstones/count"},
	{"informer_tombstone_bytes", "What they hold in the arena.", "resources/*/tombstones/bytes"},
	{"informer_tombstone_oldest_seconds", "Age of the oldest one.",
	 "resources/*/tombstones/oldest_age_ns"},
	{"informer_relists_total",
	 "LISTs and WatchLists but the first, by what made them necessary (failed, refused, throttled, "
	 "unsupported: the try before was).",
	 "resources/*/relists/*reason"},
	{"informer_consistency_checks_total",
	 "Comparisons with the API server; an inconclusive one says nothing.", "resources/*/results/*result"},
	{"informer_consistency_differences_total",
	 "Objects that the cache lacked, had too much, or had in another state than the server.",
	 "resources/*/differences/*kind"},
	{"informer_reflector_state",
	 "1 for what a resource's Reflector does at the moment, 0 for the others.",
	 "resources/*/states/*state"},
	{"informer_resource_wire", "1 for the syntax in which a resource came last, 0 for the other.",
	 "resources/*/wires/*syntax"},

	{"informer_readers", "Readers attached, by the name they gave.", "names/*name/count"},
	{"informer_reader_lag_epochs", "By how many publications the oldest open snapshot is behind.",
	 "names/*name/lag_epochs"},
	{"informer_reader_snapshot_seconds", "For how long the oldest open snapshot has been held.",
	 "names/*name/oldest_age_ns"},
	{"informer_readers_attached_total", "Readers that attached.", "connections/attached"},
	{"informer_readers_refused_total", "Connections that were refused.", "connections/refused"},
	{"informer_readers_denied_total", "Of these, connections of users who may not attach.",
	 "connections/denied"},
	{"informer_connections_pending", "Connections that have not attached.", "connections/pending"},
	{"informer_readers_dropped_total", "Readers cut off for what they did, or did not do.",
	 "connections/dropped"},
	{"informer_readers_revoked_total", "Readers cut off because their snapshots held back too much.",
	 "revoked"},
	{"informer_readers_wakes_refused_total",
	 "Readers cut off because their wake-ups took too long, or blocked.", "connections/wakes_refused"},
	{"informer_wakeups_total", "Times that a sleeping reader was woken.", "connections/wakeups"},
	{"informer_queues", "Event queues of readers.", "queues/count"},
	{"informer_queues_overflowed", "Of these, overflowed at the moment.", "queues/overflowed"},
	{"informer_queue_unread_events", "Events that stand unread in them.", "queues/unread"},
	{"informer_queue_held_bytes", "What the slowest one holds back in the arena.", "queues/held_bytes"},
	{"informer_queue_memory_bytes", "Memory of all event queues.", "queue_memory/bytes"},
	{"informer_queue_memory_limit_bytes", "What it may come to at the moment.",
	 "queue_memory/limit_bytes"},
	{"informer_queues_refused_total", "Queues that were refused for want of memory.",
	 "queue_memory/refused"},
	{"informer_queue_overflows_total",
	 "Overflows of the queues of a resource, those that are gone included.", "queue_overflows/*resource"},
	{"informer_handler_queues", "Event queues, by the name of their handler.", "handlers/*handler/count"},
	{"informer_handler_queues_overflowed",
	 "Of these, overflowed at the moment: the handler does not keep up.", "handlers/*handler/overflowed"},
	{"informer_handler_unread_events", "Events that stand unread in them.", "handlers/*handler/unread"},
	{"informer_handler_held_bytes", "What the slowest of them holds back in the arena.",
	 "handlers/*handler/held_bytes"},
	{"informer_consumer_lag_changes",
	 "Changes that a named consumer has not acknowledged; -1: of another lineage.", "consumers/*/lag"},
};

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static cJSON *
member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *
text_of(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(member(object, name));
}

static double
number_of(const cJSON *object, const char *name)
{
	const cJSON *value = member(object, name);

	return value ? value->valuedouble : 0;
}

/* ---- metric families ---- */

static bool
ends_with(const char *name, const char *end)
{
	return strcmp(strrchr(name, '_'), end) == 0;
}

static void
add_sample(struct metrics_text *m, const cJSON *figure, const char *const *labels)
{
	double value = cJSON_IsArray(figure)  ? cJSON_GetArraySize(figure)
		       : cJSON_IsBool(figure) ? cJSON_IsTrue(figure)
					      : figure->valuedouble;

	if (!ends_with(m->family, "_seconds"))
		metrics_sample(m, "", value, labels);
	else if (value >= 0)
		metrics_sample(m, "", value / 1e9, labels);
}

#define WORDS_MAX 8

/* A figure that is absent in the report was lost for lack of memory. words: the labels so far, n words. */
static void
add_samples(struct metrics_text *m, const cJSON *at, const char *path, const char **words, size_t n)
{
	size_t length = strcspn(path, "/");
	const char *rest = path + length + (path[length] == '/');
	const cJSON *item, *label;
	char step[32];

	snprintf(step, sizeof(step), "%.*s", (int)length, path);
	words[n] = NULL;
	if (!at) {
		m->failed = true;
	} else if (!*path) {
		add_sample(m, at, words);
	} else if (*path != '*') {
		add_samples(m, member(at, step), rest, words, n);
	} else {
		cJSON_ArrayForEach (item, at) {
			const cJSON *labels = member(item, "labels");
			size_t more = n;

			if (step[1]) {
				words[more++] = step + 1;
				words[more++] = item->string;
			} else {
				cJSON_ArrayForEach (label, labels) {
					words[more++] = label->string;
					words[more++] = label->valuestring;
				}
			}
			if (more > n)
				add_samples(m, item, rest, words, more);
		}
	}
	words[n] = NULL; /* they point into `step` */
}

static void
add_families(struct metrics_text *m, const struct row *families, size_t count, const cJSON *report)
{
	for (const struct row *row = families; row < families + count; row++) {
		const char *words[WORDS_MAX + 1];

		metrics_family(m, row->name, ends_with(row->name, "_total") ? "counter" : "gauge", row->help);
		add_samples(m, report, row->path, words, 0);
	}
}

/* ---- converting the report for the rows ---- */

static bool
is(const cJSON *object, const char *name, const char *word)
{
	const char *text = text_of(object, name);

	return text && strcmp(text, word) == 0;
}

/* Add a value to a figure of a group. largest: take the maximum instead of the sum. */
static void
add_to(cJSON *group, const char *figure, double value, bool largest)
{
	cJSON *sum = member(group, figure);

	if (!sum)
		sum = cJSON_AddNumberToObject(group, figure, 0);
	if (sum)
		sum->valuedouble = largest ? fmax(sum->valuedouble, value) : sum->valuedouble + value;
}

/* queue NULL: begin the group with figures of 0. */
static void
add_queue(cJSON *group, const cJSON *queue)
{
	add_to(group, "count", queue != NULL, false);
	add_to(group, "overflowed", queue && !cJSON_IsTrue(member(queue, "open")), false);
	add_to(group, "unread", number_of(queue, "unread"), false);
	/* the maximum: queues hold the same bytes */
	add_to(group, "held_bytes", number_of(queue, "held_bytes"), true);
}

/*
 * Readers choose the names of handlers, one for each queue. So many names get a group each; the rest share a
 * group.
 */
#define HANDLER_NAMES_MAX 100
#define OTHER_HANDLERS "<other>"

static cJSON *
group_of(cJSON *groups, const char *name, int max)
{
	cJSON *group = member(groups, name);

	if (!group && max && cJSON_GetArraySize(groups) >= max)
		return group_of(groups, OTHER_HANDLERS, 0);
	return group ? group : cJSON_AddObjectToObject(groups, name);
}

static void
group_readers(cJSON *report)
{
	cJSON *names = cJSON_AddObjectToObject(report, "names"),
	      *handlers = cJSON_AddObjectToObject(report, "handlers"),
	      *queues = cJSON_AddObjectToObject(report, "queues");
	const cJSON *reader, *queue;

	add_queue(queues, NULL);
	cJSON_ArrayForEach (reader, member(report, "readers")) {
		cJSON *group = group_of(names, text_of(reader, "name"), 0);

		add_to(group, "count", 1, false);
		add_to(group, "lag_epochs", number_of(reader, "lag_epochs"), true);
		add_to(group, "oldest_age_ns", number_of(reader, "oldest_age_ns"), true);
		cJSON_ArrayForEach (queue, member(reader, "queues")) {
			add_queue(queues, queue);
			add_queue(group_of(handlers, text_of(queue, "name"), HANDLER_NAMES_MAX), queue);
		}
	}
}

/* The report has the reasons that occurred; a counter must be there before its first event. */
static void
add_other_reasons(cJSON *relists)
{
	for (int why = RESULT_OK + 1; why < RESULT_KINDS; why++) {
		const char *name = request_result_name((enum request_result_kind)why);

		if (!member(relists, name))
			cJSON_AddNumberToObject(relists, name, 0);
	}
}

static void
add_forms(cJSON *resource, const struct cached_resource *c)
{
	cJSON *labels = cJSON_AddObjectToObject(resource, "labels"),
	      *results = cJSON_AddObjectToObject(resource, "results"),
	      *differences = cJSON_AddObjectToObject(resource, "differences"),
	      *states = cJSON_AddObjectToObject(resource, "states"),
	      *wires = cJSON_AddObjectToObject(resource, "wires"), *checks = member(resource, "consistency");
	static const char *const kinds[] = {"missing", "extra", "different"};

	cJSON_AddStringToObject(labels, "resource", c->spec->group_name);
	if (c->entry->namespace_)
		cJSON_AddStringToObject(labels, "namespace", c->entry->namespace_);
	cJSON_AddBoolToObject(resource, "synced", is(resource, "state", "synced"));
	cJSON_AddNumberToObject(results, "compared",
				number_of(checks, "checks") - number_of(checks, "inconclusive"));
	cJSON_AddNumberToObject(results, "inconclusive", number_of(checks, "inconclusive"));
	for (size_t i = 0; i < COUNT(kinds); i++)
		cJSON_AddNumberToObject(differences, kinds[i], number_of(checks, kinds[i]));
	for (int state = REFLECTOR_IDLE; state <= REFLECTOR_REFUSED; state++) {
		const char *name = reflector_state_name((enum reflector_state)state);

		cJSON_AddBoolToObject(states, name, is(resource, "activity", name));
	}
	add_other_reasons(member(resource, "relists"));
	/* before the first answer both are false */
	cJSON_AddBoolToObject(wires, "json", is(resource, "wire", "json"));
	cJSON_AddBoolToObject(wires, "protobuf", is(resource, "wire", "protobuf"));
}

static void
add_reload_forms(cJSON *report, const struct daemon *d)
{
	cJSON *reload = member(report, "reload"), *results = cJSON_AddObjectToObject(reload, "results");

	cJSON_AddNumberToObject(results, "success", number_of(reload, "succeeded"));
	cJSON_AddNumberToObject(results, "failure", number_of(reload, "refused"));
	cJSON_AddBoolToObject(reload, "successful", !is(reload, "state", "refused"));
	cJSON_AddNumberToObject(reload, "read_wall_ns", (double)d->read_wall_ns);
}

static void
add_whole(struct metrics_text *m, const struct daemon *d, cJSON *report)
{
	cJSON *item;
	size_t i = 0;

	cJSON_ArrayForEach (item, member(report, "resources")) {
		if (d->cached[i])
			add_forms(item, d->cached[i]);
		i++;
	}
	cJSON_ArrayForEach (item, member(report, "consumers")) {
		cJSON *labels = cJSON_AddObjectToObject(item, "labels");
		char uid[16];

		snprintf(uid, sizeof(uid), "%.0f", number_of(item, "uid"));
		cJSON_AddStringToObject(labels, "name", text_of(item, "name"));
		cJSON_AddStringToObject(labels, "uid", uid);
	}
	group_readers(report);
	add_families(m, rows, COUNT(rows), report);
}

/* ---- the API server ---- */

/* Host and port of a URL, as "10.0.0.1:6443". */
static void
host_of(const char *server, char *host, size_t size)
{
	const char *start = strstr(server, "://");

	start = start ? start + 3 : server;
	snprintf(host, size, "%.*s", (int)strcspn(start, "/"), start);
}

/*
 * Codes that an API server, or a proxy before it, usually answers LISTs and WATCHes with. They have a sample
 * from the start: increase() does not see a series' first value.
 */
static bool
is_usual(unsigned code)
{
	static const unsigned usual[] = {0, 200, 400, 401, 403, 404, 406, 410, 415, 429, 500, 502, 503, 504};

	for (size_t i = 0; i < COUNT(usual); i++)
		if (usual[i] == code)
			return true;
	return false;
}

static void
add_requests(struct metrics_text *m, const struct daemon *d)
{
	const struct request_stats *stats = transport_requests(d->transport);
	uint64_t below = 0;
	char host[256], text[32];

	host_of(d->kube.server, host, sizeof(host));
	metrics_family(m, "rest_client_requests_total", "counter",
		       "Answers of the API server, by status code; <error>: none came.");
	for (unsigned code = 0; code < REQUEST_CODES; code++) {
		if (!stats->codes[code] && !is_usual(code))
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
}

char *
metrics_report(const struct daemon *d, size_t *ret_length)
{
	cJSON *report = report_tree(d);
	struct metrics_text m = {0};

	metrics_family(&m, "informer_build_info", "gauge", "1, with the version.");
	metrics_sample(&m, "", 1, LABELS("version", INFORMER_VERSION));
	metrics_family(&m, "informer_standby", "gauge",
		       "1 while another informerd serves the socket, 0 else.");
	metrics_sample(&m, "", !d->local.store, NULL);
	add_reload_forms(report, d);
	add_families(&m, rows_at_any_time, COUNT(rows_at_any_time), report);
	if (d->local.store)
		add_whole(&m, d, report);
	add_requests(&m, d);
	process_metrics(&m);
	cJSON_Delete(report);
	return metrics_take(&m, ret_length);
}
