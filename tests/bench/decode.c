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

#include "tests/bench/client_go.h"
#include "tests/bench/managed_pods.h"
#include "tests/bench/pod_protobuf.h"
#include "tests/bench/world.h"
#include "tools/schema/proto_schema.h"

#define CHUNK 16384u	/* what a read from the network brings */
#define REPLICAS 60u

enum syntax { JSON, PROTOBUF, SYNTAXES };

/* All pods one behind the other, as a list and as a watch's events. */
struct stream {
	size_t count;
	struct bytes list[SYNTAXES], changes[SYNTAXES];
	size_t *starts;		/* of each pod's text in list; one more than there are */
	size_t text_bytes;
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
	struct bytes *list = &s->list[JSON], *changes = &s->changes[JSON];

	*s = (struct stream){.count = pods_count(b->pods) * (pods_count(b->pods) > 500 ? 1 : REPLICAS)};
	s->starts = calloc(s->count + 1, sizeof(*s->starts));
	if (!s->starts)
		abort();
	append(list, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
	for (size_t i = 0; i < s->count; i++) {
		if (i > 0)
			append(list, ",");
		s->starts[i] = list->length;
		pods_make(b->pods, PODS_CROWDED, i, s->count, 0, list);
		s->text_bytes += list->length - s->starts[i];
		append(changes, "{\"type\":\"MODIFIED\",\"object\":");
		pods_make(b->pods, PODS_CROWDED, i, s->count, 1, changes);
		append(changes, "}\n");
	}
	s->starts[s->count] = list->length + 1;
	append(list, "]}\n");
	pod_protobuf_list(b->pods, PODS_CROWDED, s->count, &s->list[PROTOBUF]);
	pod_protobuf_changes(b->pods, PODS_CROWDED, s->count, &s->changes[PROTOBUF]);
}

static void
stream_done(struct stream *s)
{
	for (unsigned i = 0; i < SYNTAXES; i++) {
		bytes_done(&s->list[i]);
		bytes_done(&s->changes[i]);
	}
	free(s->starts);
}

static int
feed(struct world *w, enum decoder_mode mode, const struct bytes *b)
{
	int r = 0;

	for (size_t at = 0; r == 0 && at < b->length; at += CHUNK)
		r = world_feed(w, mode, (const char *)b->data + at,
			       b->length - at < CHUNK ? b->length - at : CHUNK);
	return r < 0 ? r : world_synced(w, "1");
}

/* A new store, a list, then a change of each pod: µs a pod of either. */
static int
round_ours(struct bench *b, const struct stream *s, enum syntax syntax, double *ret_list, double *ret_change)
{
	struct world *w = world_new(b);
	uint64_t t;
	int r;

	if (!w)
		return -1;
	w->protobuf = syntax == PROTOBUF ? proto_schema_builtin() : NULL;
	t = cpu_ns();
	r = feed(w, DECODE_LIST, &s->list[syntax]);
	*ret_list = (double)(cpu_ns() - t) / 1e3 / (double)s->count;
	t = cpu_ns();
	if (r == 0)
		r = feed(w, DECODE_WATCH, &s->changes[syntax]);
	*ret_change = (double)(cpu_ns() - t) / 1e3 / (double)s->count;
	if (r == 0 && w->stored != 2 * s->count)
		r = -1;
	world_free(w);
	return r;
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

static int
take_round(struct bench *b, const struct stream *s, struct process *go, struct figures *f)
{
	double us[2], answer[2];

	for (enum syntax i = 0; i < SYNTAXES; i++) {
		if (round_ours(b, s, i, &us[0], &us[1]) < 0)
			return -1;
		rounds_add(&f->list[i], us[0]);
		rounds_add(&f->change[i], us[1]);
	}
	rounds_add(&f->cjson, round_cjson(s));
	if (go->pid && process_ask(go, "decode", answer, 2, 60) == 0) {
		rounds_add(&f->go[JSON], answer[0] / 1e3);
		rounds_add(&f->go[PROTOBUF], answer[1] / 1e3);
	}
	return 0;
}

static void
client_go_rows(struct bench *b, const struct figures *f)
{
	const struct rounds *json = &f->go[JSON], *protobuf = &f->go[PROTOBUF];
	struct row *row;

	if (json->count == 0) {
		report_skip(b->report, "decode_commit_protobuf_us_client_go", "us", "%s",
			    b->client_go ? "the client-go program failed" : b->why_no_client_go);
		report_skip(b->report, "decode_commit_us_client_go_protobuf", "us", "see above");
		report_skip(b->report, "decode_commit_us_client_go_json", "us", "see above");
		return;
	}
	row = report_add(
		b->report, "decode_commit_protobuf_us_client_go", "us", rounds_median(&f->list[PROTOBUF]),
		"client-go protobuf codec", rounds_median(protobuf),
		"ours from protobuf to a commit with all indexes; client-go: decoding alone, of the same "
		"pods; CPU time of one thread, without Go's collector; %u rounds in turn, client-go "
		"%.1f–%.1f",
		protobuf->count, rounds_min(protobuf), rounds_max(protobuf));
	row->target = (struct target){.ratio = 2.5, .ratio_aim = 3.5};
	report_add(b->report, "decode_commit_us_client_go_protobuf", "us", rounds_median(&f->list[JSON]),
		   "client-go protobuf codec", rounds_median(protobuf),
		   "ours from JSON, client-go from protobuf");
	report_add(b->report, "decode_commit_us_client_go_json", "us", rounds_median(&f->list[JSON]),
		   "client-go JSON codec", rounds_median(json),
		   "the same with client-go's JSON codec; client-go %.0f–%.0f", rounds_min(json),
		   rounds_max(json));
}

static void
our_rows(struct bench *b, const struct stream *s, const struct figures *f)
{
	const struct rounds *list = f->list, *change = f->change;
	struct row *row = report_add(
		b->report, "decode_commit_us", "us", rounds_median(&list[JSON]), "cJSON_Parse + cJSON_Delete",
		rounds_median(&f->cjson),
		"%zu pods (%s), %.0f bytes of JSON each, as a first list in 16 KiB pieces, put and committed "
		"in batches of %u with all built-in indexes, one core; %u rounds in turn, ours %.1f–%.1f, "
		"cJSON %.1f–%.1f",
		s->count, b->pods_note, (double)s->text_bytes / (double)s->count, WORLD_LIST_BATCH,
		list[JSON].count, rounds_min(&list[JSON]), rounds_max(&list[JSON]), rounds_min(&f->cjson),
		rounds_max(&f->cjson));

	row->target = (struct target){.ratio = 2, .ratio_aim = 4};
	row = report_add(b->report, "decode_commit_protobuf_us", "us", rounds_median(&list[PROTOBUF]),
			 "ours from JSON", rounds_median(&list[JSON]),
			 "the same list in protobuf, %.0f bytes a pod; ours %.1f–%.1f",
			 (double)s->list[PROTOBUF].length / (double)s->count, rounds_min(&list[PROTOBUF]),
			 rounds_max(&list[PROTOBUF]));
	row->target.ratio = 1.3;
	report_add(b->report, "update_commit_us", "us", rounds_median(&change[JSON]),
		   "cJSON_Parse + cJSON_Delete", rounds_median(&f->cjson),
		   "the same pods again as watch events with other times and resourceVersion, committed in "
		   "batches of %u; ours %.1f–%.1f",
		   WORLD_BATCH, rounds_min(&change[JSON]), rounds_max(&change[JSON]));
	report_add(b->report, "update_commit_protobuf_us", "us", rounds_median(&change[PROTOBUF]),
		   "ours from JSON", rounds_median(&change[JSON]),
		   "the same events in protobuf; ours %.1f–%.1f", rounds_min(&change[PROTOBUF]),
		   rounds_max(&change[PROTOBUF]));
}

static void
all_rows(struct bench *b, const struct stream *s, const struct figures *f)
{
	our_rows(b, s, f);
	client_go_rows(b, f);
}

/* The same pods as clusters have them: what is dropped comes over the wire all the same. */
static void
managed_rows(struct bench *b, const struct stream *s, const struct figures *f)
{
	const struct rounds *json = &f->list[JSON], *protobuf = &f->list[PROTOBUF];
	struct row *row = report_add(b->report, "managed_decode_commit_us", "us", rounds_median(json),
				     "cJSON_Parse + cJSON_Delete", rounds_median(&f->cjson),
				     "as decode_commit_us, of pods with managedFields as an API server keeps "
				     "them, %.0f bytes of JSON each, which ours drops as they arrive; ours "
				     "%.1f–%.1f",
				     (double)s->text_bytes / (double)s->count, rounds_min(json),
				     rounds_max(json));

	row->target = (struct target){.ratio = 2, .ratio_aim = 3};
	row = report_add(b->report, "managed_decode_commit_protobuf_us", "us", rounds_median(protobuf),
			 "ours from JSON", rounds_median(json), "the same list in protobuf, %.0f bytes a pod",
			 (double)s->list[PROTOBUF].length / (double)s->count);
	row->target.ratio = 1.3;
	if (f->go[PROTOBUF].count == 0) {
		report_skip(b->report, "managed_decode_commit_protobuf_us_client_go", "us", "see above");
		return;
	}
	row = report_add(
		b->report, "managed_decode_commit_protobuf_us_client_go", "us", rounds_median(protobuf),
		"client-go protobuf codec", rounds_median(&f->go[PROTOBUF]),
		"ours to a commit with all indexes; client-go: decoding alone, CPU time of one thread, "
		"without Go's collector; client-go %.1f–%.1f",
		rounds_min(&f->go[PROTOBUF]), rounds_max(&f->go[PROTOBUF]));
	row->target = (struct target){.ratio = 2.5, .ratio_aim = 3.5};
}

static void
measure_pods(struct bench *b, void (*rows)(struct bench *b, const struct stream *s, const struct figures *f))
{
	struct figures f = {0};
	struct process go = {0};
	struct stream s;
	double heap, json;
	int r = 0;

	stream_init(&s, b);
	if (b->client_go)
		go_rounds_start(b, &go, 100, &heap, &json);
	for (unsigned i = 0; r == 0 && i < (b->quick ? 3u : 9u); i++)
		r = take_round(b, &s, &go, &f);
	if (r == 0)
		rows(b, &s, &f);
	else
		report_skip(b->report, "decode_commit_us", "us", "the store failed");
	process_end(&go, SIGKILL);
	stream_done(&s);
}

void
measure_decode(struct bench *b)
{
	struct bench managed = *b;
	char directory[sizeof(b->directory) + 16];
	int r;

	fprintf(stderr, "decode ...\n");
	measure_pods(b, all_rows);
	snprintf(directory, sizeof(directory), "%s/managed-pods", b->directory);
	managed.pods_directory = directory;
	r = managed_pods_write(b->pods_directory, directory);
	if (r == 0)
		r = pods_load(directory, &managed.pods);
	if (r < 0) {
		report_skip(b->report, "managed_decode_commit_us", "us", "%s: %s", directory, strerror(-r));
		return;
	}
	measure_pods(&managed, managed_rows);
	pods_free(managed.pods);
}
