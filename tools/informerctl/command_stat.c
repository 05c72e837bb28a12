/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl stat: prints the daemon's report (schema 1), as tables or as it is.
 *
 * With --watch the handle stays attached; while the daemon is gone, the arena's own data is shown.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "tools/printer/age.h"
#include "tools/informerctl/cli.h"
#include "tools/informerctl/aligned_table.h"
#include "tools/printer/text.h"

#define ASK_MS 2000

static struct field
member(struct field object, const char *name)
{
	return field_get(object, name);
}

static void
add_size(struct text *text, int64_t bytes)
{
	if (bytes < 1 << 20)
		text_addf(text, "%.1f KiB", (double)bytes / 1024);
	else
		text_addf(text, "%.1f MiB", (double)bytes / 1048576);
}

/* Below 10 s in tenths of a second, above like other ages; negative: never. */
static void
cell_age(int64_t ns, struct cells *cells)
{
	char age[AGE_TEXT_MAX];

	if (ns < 0)
		cells_adds(cells, "never");
	else if (ns < 10 * NS_PER_S)
		cells_addf(cells, "%.1fs", (double)ns / 1e9);
	else
		cells_adds(cells, age_format(ns, age));
}

static void
cell_int(struct field number, struct cells *cells)
{
	cells_addf(cells, "%" PRId64, field_int(number));
}

/* "deployments.apps", with its namespace and selectors. */
static void
cell_resource(struct field resource, struct cells *cells)
{
	struct text *text = &cells->text;
	struct field_text part = field_string(member(resource, "resource"));
	static const char *const narrow[][2] = {
		{"namespace", "namespace"}, {"labelSelector", "labels"}, {"fieldSelector", "fields"}};

	text_add(text, part.data, part.length);
	part = field_string(member(resource, "group"));
	if (part.length > 0)
		text_addc(text, '.');
	text_add(text, part.data, part.length);
	for (size_t i = 0; i < 3; i++) {
		part = field_string(member(resource, narrow[i][0]));
		if (part.length == 0)
			continue;
		text_addf(text, " %s=", narrow[i][1]);
		text_add(text, part.data, part.length);
	}
	if (field_is_true(member(resource, "metadataOnly")))
		text_adds(text, " metadata only");
	cells_end(cells);
}

static void
cell_progress(struct field resource, struct cells *cells)
{
	struct field progress = member(resource, "progress");
	int64_t items = field_int(member(progress, "items")),
		remaining = field_int(member(progress, "remaining"));
	struct field_text activity = field_string(member(resource, "activity"));

	if (!field_is_set(progress))
		cells_add(cells, activity);
	else if (remaining >= 0)
		cells_addf(cells, "listing %" PRId64 "/%" PRId64, items, items + remaining);
	else
		cells_addf(cells, "listing %" PRId64, items);
}

static void
add_resources(struct field report, struct text *out)
{
	static const char *const heading[] = {"RESOURCE", "STATE", "ACTIVITY", "OBJECTS", "RV",
					      "HEARD",    "WIRE",  "LISTS",    "EVENTS"};
	struct cells cells = CELLS_INIT;
	struct field_iter it;

	for (size_t i = 0; i < 9; i++)
		cells_adds(&cells, heading[i]);
	field_iterate(member(report, "resources"), &it);
	while (field_next(&it)) {
		cell_resource(it.item, &cells);
		cells_add(&cells, field_string(member(it.item, "state")));
		cell_progress(it.item, &cells);
		cell_int(member(it.item, "objects"), &cells);
		cells_add_or(&cells, field_string(member(it.item, "rv")), "-");
		cell_age(field_int(member(it.item, "age_ns")), &cells);
		cells_add_or(&cells, field_string(member(it.item, "wire")), "-");
		cells_addf(&cells, "%" PRId64,
			   field_int(member(it.item, "lists")) + field_int(member(it.item, "watch_lists")));
		cell_int(member(it.item, "events"), &cells);
	}
	table_write(&cells, 9, out);
	cells_done(&cells);
}

/* The resources that fell back from protobuf to JSON, and why. */
static void
add_fallbacks(struct field report, struct text *out)
{
	struct field_iter it;

	field_iterate(member(report, "resources"), &it);
	while (field_next(&it)) {
		int64_t fallbacks = field_int(member(it.item, "wire_fallbacks"));
		struct field_text name = field_string(member(it.item, "resource")),
				  why = field_string(member(it.item, "wire_why"));

		if (fallbacks > 0)
			text_addf(out, "\n%.*s: protobuf was given up for JSON %" PRId64 " time%s: %.*s\n",
				  (int)name.length, name.data, fallbacks, fallbacks == 1 ? "" : "s",
				  (int)why.length, why.data);
	}
}

/* The last errors, one line each, with the time of the next try. */
static void
add_errors(struct field report, struct text *out)
{
	struct field_text trouble = field_string(member(report, "trouble"));
	struct field_iter it;

	if (trouble.length > 0)
		text_addf(out, "\ntrouble: %.*s\n", (int)trouble.length, trouble.data);
	field_iterate(member(report, "resources"), &it);
	while (field_next(&it)) {
		int64_t retry_ms = field_int(member(it.item, "retry_in_ms"));
		struct field_text name = field_string(member(it.item, "resource")),
				  error = field_string(member(it.item, "last_error"));

		if (error.length == 0)
			continue;
		text_addf(out, "\n%.*s: %.*s", (int)name.length, name.data, (int)error.length, error.data);
		if (retry_ms > 0)
			text_addf(out, "; next try in %.1f s", (double)retry_ms / 1000);
		text_addc(out, '\n');
	}
}

static void
add_readers(struct field report, struct text *out)
{
	static const char *const heading[] = {"READER", "PID",        "UID", "GENERATION",
					      "PINS",   "OLDEST PIN", "LAG"};
	struct field readers = member(report, "readers");
	struct cells cells = CELLS_INIT;
	struct field_iter it;

	if (field_count(readers) == 0)
		return;
	for (size_t i = 0; i < 7; i++)
		cells_adds(&cells, heading[i]);
	field_iterate(readers, &it);
	while (field_next(&it)) {
		cells_add(&cells, field_string(member(it.item, "name")));
		cell_int(member(it.item, "pid"), &cells);
		cell_int(member(it.item, "uid"), &cells);
		cell_int(member(it.item, "generation"), &cells);
		cell_int(member(it.item, "pins"), &cells);
		if (field_int(member(it.item, "pins")) > 0)
			cell_age(field_int(member(it.item, "oldest_age_ns")), &cells);
		else
			cells_adds(&cells, "-");
		cells_addf(&cells, "%" PRId64 " epochs%s", field_int(member(it.item, "lag_epochs")),
			   field_is_true(member(it.item, "revoked"))   ? ", revoked"
			   : field_is_true(member(it.item, "dropped")) ? ", dropped"
								       : "");
	}
	text_addc(out, '\n');
	table_write(&cells, 7, out);
	cells_done(&cells);
}

/* The queues of all readers: unread events, and the bytes held for them. */
static void
add_queues(struct field report, struct text *out)
{
	static const char *const heading[] = {"QUEUE", "HANDLER", "READER", "PID",      "CONSUMER",
					      "STATE", "UNREAD",  "HELD",   "OVERFLOWS"};
	struct cells cells = CELLS_INIT;
	struct field_iter reader, queue;
	unsigned count = 0;

	for (size_t i = 0; i < 9; i++)
		cells_adds(&cells, heading[i]);
	field_iterate(member(report, "readers"), &reader);
	while (field_next(&reader)) {
		field_iterate(member(reader.item, "queues"), &queue);
		for (; field_next(&queue); count++) {
			cell_resource(queue.item, &cells);
			cells_add_or(&cells, field_string(member(queue.item, "name")), "-");
			cells_add(&cells, field_string(member(reader.item, "name")));
			cell_int(member(reader.item, "pid"), &cells);
			cells_add_or(&cells, field_string(member(queue.item, "consumer")), "-");
			cells_adds(&cells, field_is_true(member(queue.item, "open")) ? "open" : "overflowed");
			cells_addf(&cells, "%" PRId64 "/%" PRId64, field_int(member(queue.item, "unread")),
				   field_int(member(queue.item, "capacity")));
			add_size(&cells.text, field_int(member(queue.item, "held_bytes")));
			cells_end(&cells);
			cell_int(member(queue.item, "overflows"), &cells);
		}
	}
	if (count > 0) {
		text_addc(out, '\n');
		table_write(&cells, 9, out);
	}
	cells_done(&cells);
}

static void
add_consumers(struct field report, struct text *out)
{
	static const char *const heading[] = {"CONSUMER", "UID", "SEQ", "BEHIND", "SEEN"};
	struct field consumers = member(report, "consumers");
	struct cells cells = CELLS_INIT;
	struct field_iter it;

	if (field_count(consumers) == 0)
		return;
	for (size_t i = 0; i < 5; i++)
		cells_adds(&cells, heading[i]);
	field_iterate(consumers, &it);
	while (field_next(&it)) {
		int64_t lag = field_int(member(it.item, "lag"));

		cells_add(&cells, field_string(member(it.item, "name")));
		cell_int(member(it.item, "uid"), &cells);
		cell_int(member(it.item, "seq"), &cells);
		if (lag >= 0)
			cells_addf(&cells, "%" PRId64, lag);
		else
			cells_adds(&cells, "of another count");
		if (field_is_true(member(it.item, "attached")))
			cells_adds(&cells, "attached");
		else
			cells_add(&cells, field_string(member(it.item, "lastSeen")));
	}
	text_addc(out, '\n');
	table_write(&cells, 5, out);
	cells_done(&cells);
}

/* The last SIGHUP, if there was one. */
static void
add_reload(struct field report, struct text *out)
{
	struct field reload = member(report, "reload");
	struct field_text state = field_string(member(reload, "state")),
			  time = field_string(member(reload, "time")),
			  error = field_string(member(reload, "error"));

	if (state.length == 0 || (state.length == 4 && memcmp(state.data, "none", 4) == 0))
		return;
	text_addf(out, "configuration reload: %.*s", (int)state.length, state.data);
	if (time.length > 0)
		text_addf(out, ", %.*s", (int)time.length, time.data);
	if (error.length > 0)
		text_addf(out, ": %.*s", (int)error.length, error.data);
	text_adds(out, "\n");
}

/* Memory of queues, refused queues and refused connections. */
static void
add_room(struct field report, struct text *out)
{
	struct field memory = member(report, "queue_memory"), connections = member(report, "connections");
	int64_t refused = field_int(member(memory, "refused")),
		denied = field_int(member(connections, "denied"));

	if (!field_is_set(memory))
		return;
	text_adds(out, "queues: ");
	add_size(out, field_int(member(memory, "bytes")));
	text_adds(out, " of ");
	add_size(out, field_int(member(memory, "limit_bytes")));
	if (refused > 0)
		text_addf(out, ", %" PRId64 " refused", refused);
	if (denied > 0)
		text_addf(out, "; %" PRId64 " connections of users who may not attach", denied);
	text_addc(out, '\n');
}

static void
add_daemon(struct field report, struct text *out)
{
	struct field arena = member(report, "arena");
	struct field_text version = field_string(member(report, "version")),
			  server = field_string(member(report, "server")),
			  file = field_string(member(arena, "file"));
	char age[AGE_TEXT_MAX];

	text_addf(out, "informerd %.*s, pid %" PRId64 ", up %s, server %.*s\n", (int)version.length,
		  version.data, field_int(member(report, "pid")),
		  age_format(field_int(member(report, "uptime_ns")), age), (int)server.length, server.data);
	text_addf(out, "arena %.*s: generation %" PRId64 ", epoch %" PRId64 ", seq %" PRId64 ", ",
		  (int)file.length, file.data, field_int(member(report, "generation")),
		  field_int(member(report, "epoch")), field_int(member(report, "seq")));
	add_size(out, field_int(member(arena, "bytes")));
	text_adds(out, " (");
	add_size(out, field_int(member(arena, "used_bytes")));
	text_adds(out, " used, ");
	add_size(out, field_int(member(arena, "retired_bytes")));
	text_adds(out, " retired, ");
	add_size(out, field_int(member(arena, "free_bytes")));
	text_adds(out, " free), writer's own ");
	add_size(out, field_int(member(arena, "private_bytes")));
	text_addc(out, '\n');
	add_room(report, out);
	add_reload(report, out);
	text_addc(out, '\n');
}

/* The report as tables. */
static int
add_report(const char *json, size_t length, struct text *out)
{
	cJSON *root = cJSON_ParseWithLength(json, length);
	struct field report = field_of_cjson(root);
	int64_t schema = field_int(field_get(report, "schema"));

	if (!root || schema < 1) {
		cJSON_Delete(root);
		return cli_fail("informerd's report is not understood; are informerd and informerctl of one "
				"release?");
	}
	add_daemon(report, out);
	add_resources(report, out);
	add_errors(report, out);
	add_fallbacks(report, out);
	add_readers(report, out);
	add_queues(report, out);
	add_consumers(report, out);
	cJSON_Delete(root);
	return -1;
}

/* The arena's own data, if informerd does not answer. Returns -1, or the exit code. */
static int
add_arena(struct informer *inf, struct text *out)
{
	static const char *const heading[] = {"RESOURCE", "STATE", "OBJECTS", "RV", "HEARD"};
	struct informer_status status = {.size = sizeof(status)};
	struct informer_moment moment = {0};
	struct informer_snapshot snap;
	struct cells cells = CELLS_INIT;
	int r = informer_begin(inf, &snap);

	if (r < 0)
		return cli_fail_code(r, "cannot read the arena");
	informer_status(inf, &status);
	informer_snapshot_moment(&snap, &moment);
	text_addf(out,
		  "informerd does not answer: %s\narena: generation %" PRIu64 ", epoch %" PRIu64
		  ", seq %" PRIu64 "\n\n",
		  *status.reason ? status.reason : "no sign of life", moment.generation, moment.epoch,
		  moment.seq);
	for (size_t i = 0; i < 5; i++)
		cells_adds(&cells, heading[i]);
	for (uint32_t i = 0; i < informer_resource_count(&snap); i++) {
		struct informer_resource_info info = {.size = sizeof(info)};

		if (informer_resource_info_at(&snap, i, &info) != 0)
			continue;
		cells_add(&cells, (struct field_text){info.resource, info.resource_length});
		cells_adds(&cells, info.synced ? "synced" : "listing");
		cells_addf(&cells, "%" PRIu64, info.object_count);
		cells_add_or(&cells, (struct field_text){info.resource_version, info.resource_version_length},
			     "-");
		cell_age(info.age_ns == UINT64_MAX ? -1 : (int64_t)info.age_ns, &cells);
	}
	table_write(&cells, 5, out);
	cells_done(&cells);
	informer_end(&snap);
	return -1;
}

/* Print once. Returns -1, or the exit code. */
static int
look(struct informer *inf, const struct cli_args *args, bool json, struct text *out)
{
	struct informer_status status = {.size = sizeof(status)};
	size_t length;
	char *report;
	int r = informer_stat_json(inf, ASK_MS, &report, &length);

	informer_status(inf, &status);
	if (r < 0 && status.attached && !json)
		return add_arena(inf, out);
	if (r < 0) {
		r = cli_ask(inf, args, &report, &length);
		if (r >= 0)
			return r;
	}
	if (json) {
		text_add(out, report, length);
		text_addc(out, '\n');
		r = -1;
	} else {
		r = add_report(report, length, out);
	}
	informer_free(inf, report);
	return r;
}

static int
show(struct informer *inf, const struct cli_args *args, bool json, bool watch)
{
	const struct timespec pause = {.tv_sec = 1};
	struct text out = TEXT_INIT(1);
	int r = look(inf, args, json, &out);

	while (r < 0 && watch && text_flush(&out) == 0) {
		nanosleep(&pause, NULL);
		informer_dispatch(inf);
		if (!json)
			text_addc(&out, '\n');
		r = look(inf, args, json, &out);
	}
	if (r < 0)
		r = cli_finish(&out);
	text_done(&out);
	return r;
}

/* The command line. */
struct request {
	struct cli_args args;
	const char *output;
	bool watch;
};

static const struct flag flags[] = {
	{"output", 'o', "FORMAT",
	 "table (default), or json: the report, whose form is stable (\"schema\": 1)",
	 FLAG_TEXT(struct request, output)},
	{"watch", 'w', NULL, "again each second; while informerd is gone, what its arena still tells",
	 FLAG_ON(struct request, watch)},
	CLI_START_FLAG(""),
	CLI_FLAGS,
};

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.output = "table"};
	struct cli_args *args = &request.args;
	struct informer *inf = NULL;
	int r = cli_parse_flags(command, argc, argv, args);

	if (r >= 0)
		goto out;
	r = EXIT_USAGE;
	if (strcmp(request.output, "json") != 0 && strcmp(request.output, "table") != 0) {
		cli_fail("-o %s is not known; there are table and json", request.output);
		goto out;
	}
	inf = cli_attach(args, 0);
	if (inf)
		r = show(inf, args, strcmp(request.output, "json") == 0, request.watch);
out:
	informer_detach(inf);
	free(args->items);
	return r;
}

const struct cli_command command_stat = {
	.name = "stat",
	.summary = "informerd's state: resources, arena, readers",
	.usage = "informerctl stat [-o table|json] [--watch]",
	.details = "STATE is what readers get; ACTIVITY is what informerd does at the moment; HEARD is how "
		   "long ago the API server\n"
		   "was heard of on the resource; WIRE is what it came in last, protobuf or JSON. LAG is how "
		   "many\n"
		   "versions a reader's oldest open snapshot lies behind.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
