/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the server's bytes to a commit: real pods as a list arrives, and as a watch tells of changes. Beside
 * it stand the least that any program does with such bytes, a parse into cJSON's tree and its release, and
 * client-go's codecs.
 */
#include "tests/bench/bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tests/bench/managed_pods.h"
#include "tests/bench/pod_protobuf.h"
#include "tests/bench/servers.h"
#include "tests/bench/world.h"
#include "tools/schema/proto_schema.h"

#define CHUNK 16384u	/* what a read from the network brings */
#define REPLICAS 60u

enum syntax { JSON, PROTOBUF, SYNTAXES };

/* All pods one behind the other, as a list and as a watch's events. */
struct stream {
	size_t count;
	struct bytes list[SYNTAXES], changes[SYNTAXES];
	size_t *starts; /* of each pod's text in list; one more than there are */
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
	pod_protobuf_list(b->pods, PODS_CROWDED, s->count, &s->list[PROTOBUF]);
	pod_protobuf_changes(b->pods, PODS_CROWDED, s->count, &s->changes[PROTOBUF]);
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

/* µs a pod, a round each. */
struct figures {
	struct rounds list[SYNTAXES], change[SYNTAXES], cjson, go[SYNTAXES];
};

/* In each syntax a new store, a list, then a change of each pod. */
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
		go = go_rounds_start(b, 100, &heap);
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

/* The second time with the pods as clusters have them: what is dropped comes over the wire all the same. */
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
