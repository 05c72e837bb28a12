/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the server's bytes to a commit: real pods as a list, and as a watch's events. The peers are a parse
 * into cJSON's tree and its release, which is the least work for any program, and client-go's codecs.
 */
#include "tests/bench/bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tests/bench/managed_pods.h"
#include "tests/bench/servers.h"
#include "tests/bench/world.h"
#include "tools/schema/proto_schema.h"
#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/watch_line.h"

#define CHUNK 16384u /* what a read from the network returns */
#define REPLICAS 60u

enum syntax { JSON, PROTOBUF, SYNTAXES };

/* ---- pods in protobuf, by informer-sim's encoder, whose bytes are upstream's ---- */

enum { METADATA = 1, ITEMS, VERSION = 2 }; /* fields of a list, and of its metadata */

static void
append_buf(struct bytes *to, const struct api_buf *from)
{
	if (bytes_append(to, from->data, from->len) < 0)
		abort();
}

/* Append a PodList of `count` replicas as a document. */
static void
list_protobuf(const struct pods *p, size_t count, struct bytes *out)
{
	struct api_buf list = {0}, metadata = {0}, pod = {0}, document = {0};
	struct bytes text = {0};

	api_proto_text(&metadata, VERSION, "1");
	api_proto_bytes(&list, METADATA, metadata.data, metadata.len);
	for (size_t i = 0; i < count; i++) {
		text.length = 0;
		api_buf_reset(&pod);
		pods_make(p, PODS_CROWDED, i, count, 0, &text);
		if (api_proto_json("v1", "Pod", (const char *)text.data, text.length, &pod) < 0)
			abort();
		api_proto_bytes(&list, ITEMS, pod.data, pod.len);
	}
	api_proto_wrap(&document, "v1", "PodList", &list);
	append_buf(out, &document);
	api_buf_done(&document);
	api_buf_done(&pod);
	api_buf_done(&metadata);
	api_buf_done(&list);
	bytes_done(&text);
}

/* Append a MODIFIED event of each pod in its version 1. */
static void
changes_protobuf(const struct pods *p, size_t count, struct bytes *out)
{
	struct api_buf document = {0}, frame = {0};
	struct bytes text = {0};

	for (size_t i = 0; i < count; i++) {
		text.length = 0;
		api_buf_reset(&document);
		api_buf_reset(&frame);
		pods_make(p, PODS_CROWDED, i, count, 1, &text);
		if (api_proto_document("v1", "Pod", (const char *)text.data, text.length, &document) < 0)
			abort();
		api_frame_put(&frame, "MODIFIED", &document);
		append_buf(out, &frame);
	}
	api_buf_done(&frame);
	api_buf_done(&document);
	bytes_done(&text);
}

/* ---- the input ---- */

/* All pods in one text, as a list and as a watch's events. */
struct stream {
	size_t count;
	struct bytes list[SYNTAXES], changes[SYNTAXES];
	size_t *starts; /* of each pod's text in list; and the end */
};

static void
append(struct bytes *b, const char *text)
{
	if (bytes_append(b, text, strlen(text)) < 0)
		abort();
}

static void
stream_init(struct stream *s, const struct bench *b)
{
	struct bytes *list = &s->list[JSON];

	*s = (struct stream){.count = pods_count(b->pods) * (pods_count(b->pods) > 500 ? 1 : REPLICAS)};
	s->starts = bench_alloc(s->count + 1, sizeof(*s->starts));
	append(list, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
	for (size_t i = 0; i < s->count; i++) {
		if (i > 0)
			append(list, ",");
		s->starts[i] = list->length;
		pods_make(b->pods, PODS_CROWDED, i, s->count, 0, list);
		world_event(b, PODS_CROWDED, i, s->count, 1, &s->changes[JSON]);
	}
	s->starts[s->count] = list->length + 1;
	append(list, "]}\n");
	list_protobuf(b->pods, s->count, &s->list[PROTOBUF]);
	changes_protobuf(b->pods, s->count, &s->changes[PROTOBUF]);
}

/* µs of CPU a pod. */
static double
feed(struct world *w, enum decoder_mode mode, const struct stream *s, const struct bytes *b)
{
	uint64_t t = cpu_ns();

	for (size_t at = 0; at < b->length; at += CHUNK)
		world_feed(w, mode, b->data + at, b->length - at < CHUNK ? b->length - at : CHUNK);
	world_synced(w);
	return (double)(cpu_ns() - t) / 1e3 / (double)s->count;
}

static double
round_cjson(const struct stream *s)
{
	uint64_t t = cpu_ns();

	for (size_t i = 0; i < s->count; i++) {
		cJSON *pod = cJSON_ParseWithLength((const char *)s->list[JSON].data + s->starts[i],
						   s->starts[i + 1] - s->starts[i] - 1);

		if (!pod)
			abort();
		cJSON_Delete(pod);
	}
	return (double)(cpu_ns() - t) / 1e3 / (double)s->count;
}

/* µs a pod, a value a round. */
struct figures {
	struct rounds list[SYNTAXES], change[SYNTAXES], cjson, go[SYNTAXES];
};

/* In each syntax: a new store, a list, then a change of each pod. */
static void
take_round(struct bench *b, const struct stream *s, struct process *go, struct figures *f)
{
	double answer[2];

	for (enum syntax i = 0; i < SYNTAXES; i++) {
		struct world *w = world_new(b);

		w->protobuf = i == PROTOBUF ? proto_schema_builtin() : NULL;
		rounds_add(&f->list[i], feed(w, DECODE_LIST, s, &s->list[i]));
		rounds_add(&f->change[i], feed(w, DECODE_WATCH, s, &s->changes[i]));
		if (w->stored != 2 * s->count)
			bench_fail("%llu pods were stored, not %zu", (unsigned long long)w->stored,
				   2 * s->count);
		world_free(w);
	}
	rounds_add(&f->cjson, round_cjson(s));
	if (!go->pid)
		return;
	process_ask(go, answer, 2, 60, "decode");
	rounds_add(&f->go[JSON], answer[0] / 1e3);
	rounds_add(&f->go[PROTOBUF], answer[1] / 1e3);
}

/* prefix: of the rows' names */
static void
measure_pods(struct bench *b, const char *prefix)
{
	struct report *report = b->report;
	struct figures f = {0};
	struct process go = {0};
	struct stream s;
	double heap;

	stream_init(&s, b);
	if (b->client_go)
		go = go_rounds_start(b, 100, NULL, &heap);
	for (unsigned i = 0; i < (b->quick ? 3u : 9u); i++)
		take_round(b, &s, &go, &f);
	process_end(&go, SIGKILL);
	report_rounds(report, &f.list[JSON], NULL, &f.cjson, "%sdecode_commit_us", prefix);
	report_rounds(report, &f.list[PROTOBUF], NULL, &f.list[JSON], "%sdecode_commit_protobuf_us", prefix);
	if (b->client_go)
		report_rounds(report, &f.list[PROTOBUF], NULL, &f.go[PROTOBUF],
			      "%sdecode_commit_protobuf_us_client_go", prefix);
	if (prefix[0])
		return;
	report_rounds(report, &f.change[JSON], NULL, &f.cjson, "update_commit_us");
	report_rounds(report, &f.change[PROTOBUF], NULL, &f.change[JSON], "update_commit_protobuf_us");
	if (!b->client_go)
		return;
	report_rounds(report, &f.list[JSON], NULL, &f.go[PROTOBUF], "decode_commit_us_client_go_protobuf");
	report_rounds(report, &f.list[JSON], NULL, &f.go[JSON], "decode_commit_us_client_go_json");
}

/* First captured pods, then those with managedFields as in clusters: dropped fields are sent too. */
void
measure_decode(struct bench *b, size_t n)
{
	struct bench managed = *b;
	char directory[sizeof(b->directory) + 16];

	(void)n;
	measure_pods(b, "");
	snprintf(directory, sizeof(directory), "%s/managed-pods", b->directory);
	managed.pods_directory = directory;
	bench_need(managed_pods_write(b->pods_directory, directory), directory);
	bench_need(pods_load(directory, &managed.pods), directory);
	measure_pods(&managed, "managed_");
}
