/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/report.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define GET_CLIENT_GO "client-go GetByKey"
#define EVENTS_CLIENT_GO "client-go protobuf informer"
#define EVENTS_MOST "client-go, the most it takes"
#define SERVER "upstream's API server"
#define NONE                                                                                                 \
	{                                                                                                    \
		.value = 0                                                                                   \
	} /* no target */

/* The first pattern that matches a row's name gives its unit, its peer and its targets. */
static const struct kind kinds[] = {
	{"get_100k_client_go", "ns", GET_CLIENT_GO, {.ratio = 1.5, .ratio_aim = 2}},
	{"get_*k_client_go", "ns", GET_CLIENT_GO, {.ratio = 1}},
	{"get_10k_with_writer_10k_per_s", "ns", GET_CLIENT_GO, NONE},
	{"worst_get_10k_with_writer_us", "us", GET_CLIENT_GO, {.value = 1000}},
	{"get_many_*k", "ns", "LMDB, one by one", {.ratio = 3, .ratio_aim = 4}},
	{"get_*k", "ns", "LMDB", {.ratio = 3, .ratio_aim = 5}},
	{"by_index_*k", "ns", "client-go ByIndex", {.ratio = 3}},
	{"reader_private_bytes", "bytes", "client-go's heap for 10k pods", {.value = 1 << 20}},
	{"attach_us", "us", NULL, {.value = 5000}},
	{"adopt_ms", "ms", NULL, {.value = 1000, .value_aim = 500}},

	{"node_preset_bytes_per_pod", "bytes", "pods alone", NONE},
	{"node_container_of_id", "ns", "its look-up alone", NONE},
	{"node_container_of_pid", "ns", "by its ID", {.value = 10000}},
	{"node_workload", "ns", "get alone", {.value = 1000}},
	{"node_by_address", "ns", "get alone", NONE},
	{"node_parked_update", "ns", NULL, {.value = 100}},
	{"node_parked_*", "ns", NULL, NONE},

	{"bytes_per_pod", "bytes", "their JSON", {.value = 2300, .value_aim = 1950}},
	{"bytes_per_pod_client_go", "bytes", "client-go's heap", NONE},
	{"writer_private_bytes_per_pod", "bytes", "client-go's heap", NONE},

	{"decode_commit_us", "us", "cJSON_Parse + cJSON_Delete", {.ratio = 2, .ratio_aim = 4}},
	{"managed_decode_commit_us", "us", "cJSON_Parse + cJSON_Delete", {.ratio = 2, .ratio_aim = 3}},
	{"*decode_commit_protobuf_us", "us", "ours from JSON", {.ratio = 1.3}},
	{"*decode_commit_protobuf_us_client_go",
	 "us",
	 "client-go protobuf codec",
	 {.ratio = 2.5, .ratio_aim = 3.5}},
	{"decode_commit_us_client_go_protobuf", "us", "client-go protobuf codec", NONE},
	{"decode_commit_us_client_go_json", "us", "client-go JSON codec", NONE},
	{"update_commit_us", "us", "cJSON_Parse + cJSON_Delete", NONE},
	{"update_commit_protobuf_us", "us", "ours from JSON", NONE},

	{"list_peak_*bytes", "bytes", "the response", {.value = 16 << 20}},
	{"list_100k_*ms", "ms", NULL, NONE},
	{"restart_100k_ms", "ms", NULL, {.value = 1000, .value_aim = 500}},
	{"first_list_*_us", "us", NULL, {.value = 8}},

	{"event_latency_100*_p50_us", "us", EVENTS_CLIENT_GO, {.ratio = 1, .value_aim = 100}},
	{"event_latency_100*_p99_us", "us", EVENTS_CLIENT_GO, {.ratio = 1, .value_aim = 1000}},
	{"event_latency_*_us", "us", EVENTS_CLIENT_GO, {.ratio = 1}},
	{"commit_to_handler_*_p50_us", "us", NULL, {.value_aim = 25}},
	{"events_sustained", "1/s", EVENTS_MOST, {.value = 15000}},
	{"events_closed_loop", "1/s", EVENTS_MOST, NONE},
	{"writer_cpu_per_event_us", "us", EVENTS_CLIENT_GO, {.value = 102, .value_aim = 51}},
	{"commit_*_readers", "us", NULL, NONE},
	{"commit_64_other_namespace", "x", NULL, {.value = 1.1}},
	{"wake_64_cpu_per_event_us", "us", "64 eventfds written, no more", {.ratio = 0.4}},
	{"eight_readers_pss", "bytes", "client-go protobuf informers, 8", {.value = 48 << 20}},
	{"go_get_100k", "ns", GET_CLIENT_GO, {.ratio = 1.5}},
	{"go_get_10k", "ns", GET_CLIENT_GO, {.ratio = 1}},
	{"go_typed_pod_of_35_*", "ns", "client-go protobuf codec", {.ratio = 2, .ratio_aim = 3}},
	{"go_typed_pod_of_512_*", "ns", "client-go protobuf codec", NONE},
	{"go_eight_agents_pss", "bytes", "client-go protobuf informers, 8", {.ratio = 8}},
	{"go_commit_to_handler_*_p50_us", "us", "a handler in C", {.ratio = 0.5}},
	{"clientgo_commit_to_handler_*_p50_us", "us", "a handler in C", NONE},
	{"restart_requests", "requests", NULL, {.value = 0.5}},

	{"sync_*_wall_ms_client_go_json", "ms", NULL, {.ratio = 1}},
	{"sync_*_cpu_ms_client_go_json", "ms", NULL, {.ratio = 7}},
	{"sync_*_ms", "ms", NULL, {.ratio = 1, .ratio_aim = 2}},
	{"traffic_*_requests", "requests", "client-go protobuf informers", NONE},
	{"traffic_*_bytes", "bytes", "client-go protobuf informers", NONE},

	{"upstream_1_agent_server_cpu_ms", "ms", NULL, {.ratio = 1 / 1.05}},
	{"upstream_8_agents_server_cpu_ms", "ms", NULL, {.ratio = 8 / 1.05}},
	{"upstream_event_*_us", "us", NULL, {.ratio = 1}},
	{"upstream_parked_*_us", "us", NULL, {.ratio = 1}},
	{"upstream_*_wall_ms", "ms", NULL, {.ratio = 1, .ratio_aim = 1 / 0.7}},
	{"upstream_*_server_cpu_ms", "ms", NULL, {.ratio = 1 / 1.05}},
	{"upstream_*_cpu_ms", "ms", NULL, {.ratio = 3, .ratio_aim = 5}},
	{"upstream_*_bytes", "bytes", NULL, {.ratio = 1}},

	{"hostile_*_p99_us", "us", NULL, {.ratio = 1.0 / 3}},

	{"gateway_list_*cpu_ms", "ms", SERVER, {.ratio = 5, .ratio_aim = 10}},
	{"gateway_get_p50_us", "us", SERVER, {.ratio = 3}},
	{"gateway_get_p99_us", "us", SERVER, NONE},
	{"gateway_event_*_cpu_us", "us", SERVER, {.ratio = 3}},
	{"gateway_event_100_p99_ms", "ms", SERVER, {.value = 50}},
	{"gateway_event_*_p99_ms", "ms", SERVER, NONE},
	{"gateway_nodes_cores", "cores", SERVER, {.value = 1}},
	{"gateway_nodes_worst_ms", "ms", SERVER, {.value = 1000}},
	{"gateway_nodes_watcher_bytes", "bytes", SERVER, {.value = 32 << 10}},
	{"gateway_herd_encoded", "times", SERVER, {.value = 10}},
	{"gateway_herd_client_cpu_ms", "ms", SERVER, NONE},
};

/* ---- rounds ---- */

void
rounds_add(struct rounds *r, double value)
{
	if (r->count < ROUNDS_MAX)
		r->value[r->count++] = value;
}

int
ascending_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct rounds
sorted(const struct rounds *r)
{
	struct rounds ret = *r;

	qsort(ret.value, ret.count, sizeof(ret.value[0]), ascending_doubles);
	return ret;
}

double
rounds_median(const struct rounds *r)
{
	struct rounds s = sorted(r);

	return s.count == 0 ? 0 : (s.value[(s.count - 1) / 2] + s.value[s.count / 2]) / 2;
}

/* ---- rows ---- */

static const struct kind *
kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (fnmatch(kinds[i].pattern, name, 0) == 0)
			return &kinds[i];
	fprintf(stderr, "bench: %s: no such row\n", name);
	abort();
}

/* 0: there is no peer. */
static double
ratio_of(const struct row *row)
{
	if (row->peer_value <= 0 || row->value <= 0)
		return 0;
	return strcmp(row->kind->unit, "1/s") == 0 ? row->value / row->peer_value
						   : row->peer_value / row->value;
}

/* A figure as people read it: 93.2 ns, 1.07 KB. */
static void
figure(double value, const char *unit, char text[32])
{
	static const struct {
		const char *unit, *shown;
		double from, by;
	} scales[] = {
		{"bytes", "MiB", 10e6, 1 << 20},
		{"bytes", "KiB", 100e3, 1 << 10},
		{"bytes", "B", 0, 1},
		{"us", "µs", 0, 1},
		{"ns", "ms", 1e6, 1e6},
		{"ns", "µs", 1e5, 1e3},
	};
	int digits;

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (strcmp(unit, scales[i].unit) == 0 && value >= scales[i].from) {
			value /= scales[i].by;
			unit = scales[i].shown;
			break;
		}
	digits = strcmp(unit, "requests") == 0 || value >= 1000 ? 0 : value < 10 ? 2 : 1;
	snprintf(text, 32, "%.*f %s", digits, value, unit);
}

static void
measured(struct report *r, const char *name, double ours, const char *peer, double theirs)
{
	struct row *row = &r->rows[r->count];
	char text[32];

	if (r->count++ == ROWS_MAX)
		abort();
	*row = (struct row){.kind = kind_of(name), .value = ours, .peer_value = theirs};
	snprintf(row->name, sizeof(row->name), "%s", name);
	if (theirs > 0)
		snprintf(row->peer, sizeof(row->peer), "%s", peer ? peer : row->kind->peer);
	figure(ours, row->kind->unit, text);
	fprintf(stderr, "  %-34s %s", name, text);
	if (theirs > 0)
		fprintf(stderr, "   %.2f x %s", ratio_of(row), row->peer);
}

void
report_value(struct report *r, double ours, const char *peer, double theirs, const char *name, ...)
{
	char text[56];
	va_list args;

	va_start(args, name);
	vsnprintf(text, sizeof(text), name, args);
	va_end(args);
	measured(r, text, ours, peer, theirs);
	fputc('\n', stderr);
}

void
report_rounds(struct report *r, const struct rounds *ours, const char *peer, const struct rounds *theirs,
	      const char *name, ...)
{
	struct rounds all = sorted(ours);
	char text[56];
	va_list args;

	va_start(args, name);
	vsnprintf(text, sizeof(text), name, args);
	va_end(args);
	measured(r, text, rounds_median(ours), peer, theirs ? rounds_median(theirs) : 0);
	if (all.count > 1)
		fprintf(stderr, "   (%u rounds, %.3g to %.3g)", all.count, all.value[0],
			all.value[all.count - 1]);
	fputc('\n', stderr);
}

/* ---- the table ---- */

static bool
falls_short(const struct row *row, double wanted)
{
	return strcmp(row->kind->unit, "1/s") == 0 ? row->value < wanted : row->value > wanted;
}

/* "✓✓" aim, "✓" minimum, "✗" neither, "" no target. */
static const char *
mark(const struct row *row)
{
	const struct target *t = &row->kind->target;
	double ratio = ratio_of(row);
	bool wanted = t->ratio > 0 || t->value > 0;

	if ((!wanted && t->value_aim <= 0) || (t->ratio > 0 && row->peer_value <= 0))
		return "";
	if ((t->ratio > 0 && ratio < t->ratio) || (t->value > 0 && falls_short(row, t->value)))
		return "✗";
	if ((t->ratio_aim > 0 && ratio < t->ratio_aim) ||
	    (t->value_aim > 0 && falls_short(row, t->value_aim)))
		return wanted ? "✓" : "";
	return t->ratio_aim > 0 || t->value_aim > 0 ? "✓✓" : "✓";
}

/* What a mark is measured against. */
static void
target_text(const struct row *row, char text[96])
{
	const struct target *t = &row->kind->target;
	const char *unit = row->kind->unit, *sign = strcmp(unit, "1/s") == 0 ? "≥" : "≤";
	char least[40] = "", aim[32] = "", value[32];

	if (t->ratio > 0) {
		snprintf(least, sizeof(least), "≥ %.3g x", t->ratio);
	} else if (t->value > 0) {
		figure(t->value, unit, value);
		snprintf(least, sizeof(least), "%s %s", sign, value);
	}
	if (t->ratio_aim > t->ratio)
		snprintf(aim, sizeof(aim), "%.3g", t->ratio_aim);
	else if (t->value_aim > 0)
		figure(t->value_aim, unit, aim);
	snprintf(text, 96, "%s%s%s%s", least, least[0] && aim[0] ? ", " : "", aim[0] ? "aim " : "", aim);
}

/* Pad by characters, not bytes. A negative width: on the right. */
static void
column(const char *text, int width)
{
	int length = 0;

	for (const char *p = text; *p; p++)
		length += (*p & 0xc0) != 0x80;
	printf("%*s%s%*s", width > length ? width - length : 0, "", text,
	       -width > length ? -width - length : 0, "");
}

void
report_table(const struct report *r)
{
	printf("\n%-44s%12s%12s%12s   %-34swanted\n", "name", "ours", "peer's", "ratio", "peer");
	for (size_t i = 0; i < r->count; i++) {
		const struct row *row = &r->rows[i];
		char ours[32], theirs[32] = "-", ratio[32] = "-", target[96];

		figure(row->value, row->kind->unit, ours);
		if (row->peer_value > 0) {
			figure(row->peer_value, row->kind->unit, theirs);
			snprintf(ratio, sizeof(ratio), "%.2f x", ratio_of(row));
		}
		target_text(row, target);
		column(row->name, -44);
		column(ours, 12);
		column(theirs, 12);
		column(ratio, 12);
		printf("   ");
		column(row->peer, -34);
		printf("%s%s%s\n", mark(row), target[0] ? " " : "", target);
	}
	printf("\n✓✓ aim reached   ✓ minimum reached   ✗ not reached   (ratio > 1: ours is better)\n");
}

static void
add_number(cJSON *o, const char *name, bool known, double value)
{
	cJSON_AddItemToObject(o, name, known ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

int
report_json(const struct report *r, const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	fputs("[\n", f);
	for (size_t i = 0; i < r->count; i++) {
		const struct row *row = &r->rows[i];
		cJSON *o = cJSON_CreateObject();
		char *text;

		cJSON_AddStringToObject(o, "name", row->name);
		add_number(o, "value", true, row->value);
		cJSON_AddStringToObject(o, "unit", row->kind->unit);
		cJSON_AddItemToObject(o, "peer",
				      row->peer[0] ? cJSON_CreateString(row->peer) : cJSON_CreateNull());
		add_number(o, "peer_value", row->peer_value > 0, row->peer_value);
		add_number(o, "ratio", row->peer_value > 0, ratio_of(row));
		text = cJSON_PrintUnformatted(o);
		fprintf(f, "%s%s\n", text, i + 1 < r->count ? "," : "");
		free(text);
		cJSON_Delete(o);
	}
	fputs("]\n", f);
	return fclose(f) == 0 ? 0 : -errno;
}
