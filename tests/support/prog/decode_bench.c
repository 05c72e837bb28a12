/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_bench DIR [REPLICAS [ROUNDS]]: what decoding costs, in time and in arena bytes.
 *
 * Each *.json of DIR is one pod; of each, REPLICAS (60) are made with fresh names, UIDs, addresses, nodes,
 * container IDs and times. They are decoded as one list in 16 KiB pieces, in key order and in random order,
 * into an arena of their own; then again as watch events, each draft taking its predecessor's place, ROUNDS
 * (3) times, of which the fastest counts. Beside it stands cJSON_Parse + cJSON_Delete of the same bytes.
 */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm-layout/time_ns.h"
#include "tests/support/arena_fixture.h"
#include "writer/decode/decoder.h"
#include "writer/base/growing.h"
#include "writer/arena/intern.h"

#define CHUNK 16384u

/* ---- replicas ---- */

static uint64_t seed = 1;

static uint32_t
any(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % below);
}

static void
letters(char *to, size_t n, const char *alphabet)
{
	for (size_t i = 0; i < n; i++)
		to[i] = alphabet[any((uint32_t)strlen(alphabet))];
	to[n] = '\0';
}

static void
set_text(cJSON *object, const char *name, const char *text)
{
	cJSON *field = cJSON_GetObjectItemCaseSensitive(object, name);

	if (field)
		cJSON_SetValuestring(field, text);
}

static void
change_strings(cJSON *v, const char *time_prefix)
{
	char text[128];

	for (cJSON *c = v->child; c; c = c->next)
		change_strings(c, time_prefix);
	if (!cJSON_IsString(v))
		return;
	if (strlen(v->valuestring) == 20 && v->valuestring[4] == '-' && v->valuestring[10] == 'T') {
		snprintf(text, sizeof(text), "%s%02uZ", time_prefix, any(60));
		cJSON_SetValuestring(v, text);
	} else if (v->string && strcmp(v->string, "containerID") == 0) {
		memcpy(text, "cri-o://", 8);
		letters(text + 8, 64, "0123456789abcdef");
		cJSON_SetValuestring(v, text);
	}
}

static char *
replica(const cJSON *pod, char nodes[200][64])
{
	cJSON *p = cJSON_Duplicate(pod, true), *metadata = cJSON_GetObjectItem(p, "metadata"),
	      *status = cJSON_GetObjectItem(p, "status"), *ips = cJSON_GetObjectItem(status, "podIPs");
	char text[512], uid[40], times[32], *out;
	const char *name = cJSON_GetObjectItem(metadata, "name")->valuestring;
	size_t n = strlen(name);

	if (n > 6 && name[n - 6] == '-')
		n -= 6;
	memcpy(text, name, n);
	text[n] = '-';
	letters(text + n + 1, 5, "bcdfghjklmnpqrstvwxz2456789");
	set_text(metadata, "name", text);
	letters(uid, 36, "0123456789abcdef");
	uid[8] = uid[13] = uid[18] = uid[23] = '-';
	set_text(metadata, "uid", uid);
	snprintf(text, sizeof(text), "%u", 1 + any(100000000));
	set_text(metadata, "resourceVersion", text);
	snprintf(times, sizeof(times), "2021-0%u-%02uT%02u:%02u:", 1 + any(9), 1 + any(28), any(24), any(60));
	change_strings(p, times);
	set_text(cJSON_GetObjectItem(p, "spec"), "nodeName", nodes[any(200)]);
	snprintf(text, sizeof(text), "10.%u.%u.%u", any(256), any(256), 1 + any(254));
	set_text(status, "podIP", text);
	if (ips && ips->child)
		set_text(ips->child, "ip", text);
	snprintf(text, sizeof(text), "10.0.%u.%u", any(256), any(256));
	set_text(status, "hostIP", text);
	out = cJSON_PrintUnformatted(p);
	cJSON_Delete(p);
	return out;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- decoding ---- */

static double
now_us(void)
{
	return (double)time_ns(CLOCK_MONOTONIC) / 1e3;
}

struct sink {
	struct arena *arena;
	struct intern *intern;
	struct draft *drafts;
	size_t count, next;
	bool replace;
};

static int
take(void *context, const char *type, size_t type_length, struct draft d)
{
	struct sink *s = context;

	(void)type;
	(void)type_length;
	if (s->replace)
		draft_discard(s->arena, s->intern, s->drafts[s->next]);
	s->drafts[s->next++] = d;
	return 0;
}

static int
bad(void *context, const char *why)
{
	(void)context;
	fprintf(stderr, "decode_bench: %s\n", why);
	return -1;
}

static const struct decoder_events events = {.on_object = take, .on_bad_object = bad};

static void
feed(struct decoder *d, const struct bytes *stream)
{
	for (size_t at = 0; at < stream->length; at += CHUNK) {
		size_t n = stream->length - at < CHUNK ? stream->length - at : CHUNK;

		if (decoder_feed(d, (const char *)stream->data + at, n) != 0) {
			fprintf(stderr, "decode_bench: %s\n", decoder_error(d, NULL));
			exit(1);
		}
	}
}

static void
text(struct bytes *b, const char *s)
{
	if (bytes_append(b, s, strlen(s)) < 0)
		abort();
}

static void
measure(const char *order, char **pods, size_t count, int rounds)
{
	const char *drops[] = {"metadata.managedFields"};
	struct arena *arena = arena_fixture_new();
	struct intern *in = intern_new(arena);
	struct decoder_schema *schema = decoder_schema_new(drops, 1, NULL);
	struct sink sink = {
		.arena = arena, .intern = in, .drafts = calloc(count, sizeof(struct draft)), .count = count};
	struct decoder *list = decoder_new(DECODE_LIST, arena, in, schema, &events, &sink, 0);
	struct decoder *watch = decoder_new(DECODE_WATCH, arena, in, schema, &events, &sink, 0);
	struct bytes stream = {0}, changes = {0};
	uint64_t objects = 0, shared;
	struct arena_stats stats;
	double t, list_us, watch_us;

	text(&stream, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
	for (size_t i = 0; i < count; i++) {
		text(&stream, i ? "," : "");
		text(&stream, pods[i]);
		text(&changes, "{\"type\":\"MODIFIED\",\"object\":");
		text(&changes, pods[i]);
		text(&changes, "}\n");
	}
	text(&stream, "]}\n");
	t = now_us();
	feed(list, &stream);
	list_us = (now_us() - t) / (double)count;
	for (size_t i = 0; i < count; i++)
		objects += block_footprint(block_length(arena_block(arena, sink.drafts[i].ref)));
	arena_stats(arena, &stats);
	shared = stats.used_bytes - stats.retired_bytes - objects;
	sink.replace = true;
	watch_us = 1e9;
	for (int i = 0; i < rounds; i++) {
		sink.next = 0;
		t = now_us();
		feed(watch, &changes);
		t = (now_us() - t) / (double)count;
		watch_us = t < watch_us ? t : watch_us;
		arena_reclaim(arena, UINT64_MAX);
	}
	printf("%-8s list %6.2f us/pod, watch %6.2f us/pod; %5.0f B/pod: objects %5.0f, shared %5.0f in %llu "
	       "blocks (%.1f/pod)\n",
	       order, list_us, watch_us, (double)(objects + shared) / (double)count,
	       (double)objects / (double)count, (double)shared / (double)count,
	       (unsigned long long)intern_count(in), (double)intern_count(in) / (double)count);
	for (size_t i = 0; i < count; i++)
		draft_discard(arena, in, sink.drafts[i]);
	bytes_done(&stream);
	bytes_done(&changes);
	decoder_free(list);
	decoder_free(watch);
	decoder_schema_free(schema);
	free(sink.drafts);
	intern_free(in);
	arena_fixture_free(arena);
}

static double
measure_cjson(char **pods, size_t count)
{
	double t = now_us();

	for (size_t i = 0; i < count; i++)
		cJSON_Delete(cJSON_Parse(pods[i]));
	return (now_us() - t) / (double)count;
}

static cJSON *
read_pod(const char *dir, const char *name)
{
	char path[4096], *data;
	cJSON *pod;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	data = calloc(1, 1 << 20);
	if (!f || !data)
		exit(2);
	n = fread(data, 1, (1 << 20) - 1, f);
	fclose(f);
	pod = n ? cJSON_Parse(data) : NULL;
	free(data);
	return pod;
}

int
main(int argc, char **argv)
{
	size_t replicas = argc > 2 ? (size_t)atoi(argv[2]) : 60, count = 0;
	int rounds = argc > 3 ? atoi(argv[3]) : 3;
	static char nodes[200][64];
	struct dirent **files;
	double bytes = 0, us;
	char **pods;
	int n = argc > 1 ? scandir(argv[1], &files, NULL, alphasort) : -1;

	if (n < 0 || replicas == 0 || rounds < 1) {
		fprintf(stderr, "usage: decode_bench DIR [REPLICAS [ROUNDS]]\n");
		return 2;
	}
	for (size_t i = 0; i < 200; i++)
		snprintf(nodes[i], sizeof(nodes[i]), "ip-10-0-%u-%u.us-east-2.compute.internal", 1 + any(250),
			 1 + any(250));
	pods = calloc((size_t)n * replicas, sizeof(*pods));
	for (int i = 0; i < n; i++) {
		const char *dot = strrchr(files[i]->d_name, '.');
		cJSON *pod = dot && strcmp(dot, ".json") == 0 ? read_pod(argv[1], files[i]->d_name) : NULL;

		for (size_t k = 0; pod && k < replicas; k++)
			pods[count++] = replica(pod, nodes);
		cJSON_Delete(pod);
		free(files[i]);
	}
	free(files);
	for (size_t i = 0; i < count; i++)
		bytes += (double)strlen(pods[i]) / (double)count;
	qsort(pods, count, sizeof(*pods), by_text);
	us = 1e9;
	for (int i = 0; i < rounds; i++) {
		double t = measure_cjson(pods, count);

		us = t < us ? t : us;
	}
	printf("%zu pods of %.0f bytes; cJSON_Parse + cJSON_Delete %.2f us/pod\n", count, bytes, us);
	measure("ordered", pods, count, rounds);
	for (size_t i = count; i > 1; i--) {
		size_t k = any((uint32_t)i);
		char *swap = pods[i - 1];

		pods[i - 1] = pods[k];
		pods[k] = swap;
	}
	measure("random", pods, count, rounds);
	for (size_t i = 0; i < count; i++)
		free(pods[i]);
	free(pods);
	return 0;
}
