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
#include "tests/bench/world.h"

#define CHUNK 16384u	/* what a read from the network brings */
#define REPLICAS 60u

/* All pods' texts one behind the other, as a list and as a watch's events. */
struct stream {
	size_t count;
	struct bytes list, changes;
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
	*s = (struct stream){.count = pods_count(b->pods) * (pods_count(b->pods) > 500 ? 1 : REPLICAS)};
	s->starts = calloc(s->count + 1, sizeof(*s->starts));
	if (!s->starts)
		abort();
	append(&s->list, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
	for (size_t i = 0; i < s->count; i++) {
		if (i > 0)
			append(&s->list, ",");
		s->starts[i] = s->list.length;
		pods_make(b->pods, PODS_CROWDED, i, s->count, 0, &s->list);
		s->text_bytes += s->list.length - s->starts[i];
		append(&s->changes, "{\"type\":\"MODIFIED\",\"object\":");
		pods_make(b->pods, PODS_CROWDED, i, s->count, 1, &s->changes);
		append(&s->changes, "}\n");
	}
	s->starts[s->count] = s->list.length + 1;
	append(&s->list, "]}\n");
}

static void
stream_done(struct stream *s)
{
	bytes_done(&s->list);
	bytes_done(&s->changes);
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
round_ours(struct bench *b, const struct stream *s, double *ret_list, double *ret_change)
{
	struct world *w = world_new(b);
	uint64_t t;
	int r;

	if (!w)
		return -1;
	t = cpu_ns();
	r = feed(w, DECODE_LIST, &s->list);
	*ret_list = (double)(cpu_ns() - t) / 1e3 / (double)s->count;
	t = cpu_ns();
	if (r == 0)
		r = feed(w, DECODE_WATCH, &s->changes);
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
		cJSON *pod = cJSON_ParseWithLength((const char *)s->list.data + s->starts[i],
						   s->starts[i + 1] - s->starts[i] - 1);

		if (!pod)
			abort();
		cJSON_Delete(pod);
	}
	return (double)(cpu_ns() - t) / 1e3 / (double)s->count;
}

static void
client_go_rows(struct bench *b, const struct rounds *ours, const struct rounds *json,
	       const struct rounds *protobuf)
{
	if (json->count == 0) {
		report_skip(b->report, "decode_commit_us_client_go_protobuf", "us", "%s",
			    b->client_go ? "the client-go program failed" : b->why_no_client_go);
		report_skip(b->report, "decode_commit_us_client_go_json", "us", "see above");
		return;
	}
	report_add(b->report, "decode_commit_us_client_go_protobuf", "us", rounds_median(ours),
		   "client-go protobuf codec", rounds_median(protobuf),
		   "ours from JSON to a commit with all indexes; client-go: decoding alone, of the same real "
		   "pods; %u rounds in turn, "
		   "client-go %.1f–%.1f",
		   protobuf->count, rounds_min(protobuf), rounds_max(protobuf));
	report_add(b->report, "decode_commit_us_client_go_json", "us", rounds_median(ours),
		   "client-go JSON codec", rounds_median(json),
		   "the same with client-go's JSON codec; client-go %.0f–%.0f", rounds_min(json),
		   rounds_max(json));
}

void
measure_decode(struct bench *b)
{
	struct rounds list = {0}, change = {0}, cjson = {0}, go_json = {0}, go_protobuf = {0};
	struct process go = {0};
	struct stream s;
	double heap, json, us[2], answer[2];
	struct row *row;

	fprintf(stderr, "decode ...\n");
	stream_init(&s, b);
	if (b->client_go)
		go_rounds_start(b, &go, 100, &heap, &json);
	for (unsigned i = 0; i < (b->quick ? 3u : 9u); i++) {
		if (round_ours(b, &s, &us[0], &us[1]) < 0) {
			report_skip(b->report, "decode_commit_us", "us", "the store failed");
			goto out;
		}
		rounds_add(&list, us[0]);
		rounds_add(&change, us[1]);
		rounds_add(&cjson, round_cjson(&s));
		if (go.pid && process_ask(&go, "decode", answer, 2, 60) == 0) {
			rounds_add(&go_json, answer[0] / 1e3);
			rounds_add(&go_protobuf, answer[1] / 1e3);
		}
	}
	row = report_add(b->report, "decode_commit_us", "us", rounds_median(&list),
			 "cJSON_Parse + cJSON_Delete", rounds_median(&cjson),
			 "%zu pods (%s), %.0f bytes each, as a list in 16 KiB pieces, put and committed in "
			 "batches of %u with all built-in "
			 "indexes, managedFields dropped, one core; %u rounds in turn, ours %.1f–%.1f, cJSON "
			 "%.1f–%.1f",
			 s.count, b->pods_note, (double)s.text_bytes / (double)s.count, WORLD_BATCH,
			 list.count, rounds_min(&list), rounds_max(&list), rounds_min(&cjson),
			 rounds_max(&cjson));
	row->target = (struct target){.ratio = 2, .ratio_aim = 4};
	report_add(b->report, "update_commit_us", "us", rounds_median(&change), "cJSON_Parse + cJSON_Delete",
		   rounds_median(&cjson),
		   "the same pods again as watch events with other times and resourceVersion, committed in "
		   "batches of %u; ours %.1f–%.1f",
		   WORLD_BATCH, rounds_min(&change), rounds_max(&change));
	client_go_rows(b, &list, &go_json, &go_protobuf);
out:
	process_end(&go, SIGKILL);
	stream_done(&s);
}
