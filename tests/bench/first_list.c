/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first list applied: so many pods are staged, as a LIST brings them, and then go into an empty store with
 * all built-in indexes, until it is synced. What decoding costs is not in it (decode.c); what the loop is
 * busy with at a stretch is said beside it.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/child_process.h"
#include "tests/bench/world.h"
#include "writer/base/clock_uv.h"
#include "writer/fifo/apply.h"
#include "writer/fifo/staging.h"
#include "writer/resource/store_known.h"

static const struct size {
	size_t pods;
	unsigned rounds, quick_rounds;
	const char *label;
} sizes[] = {
	{10000, 7, 3, "10k"},
	{100000, 5, 1, "100k"},
	{300000, 5, 0, "300k"},
	{1000000, 1, 0, "1m"},
};

/* Of one list: µs a pod, commits, and how long the longest turn took. */
struct cost {
	double us, turn_ms;
	uint64_t commits;
};

static int
stage(void *context, const char *type, size_t type_length, struct draft d)
{
	(void)type;
	(void)type_length;
	return staging_add(context, d.ref);
}

static int
stage_pods(struct world *w, const struct bench *b, struct staging *staging, size_t total)
{
	static const struct decoder_events events = {
		.on_object = stage, .on_bad_object = world_bad_object, .on_list_end = world_list_end};
	struct decoder *decoder = decoder_new(DECODE_LIST, &w->arena, store_intern(w->store), w->schema,
					      &events, staging, 0);
	struct bytes text = {0};
	int r = decoder ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < total; i++) {
		text.length = 0;
		if (bytes_append(&text, i > 0 ? "," : "{\"items\":[", i > 0 ? 1 : 10) < 0)
			abort();
		pods_make(b->pods, PODS_SPREAD, i, total, 0, &text);
		r = decoder_feed(decoder, (const char *)text.data, text.length);
	}
	bytes_done(&text);
	decoder_free(decoder);
	return r < 0 ? r : 0;
}

/* From a list that is whole until it is synced. */
static int
apply_list(struct world *w, struct staging *staging, struct applier *applier, struct cost *ret)
{
	struct store_stats before, after;
	uint64_t start, last, now;
	size_t pods = staging->count;
	bool more = true;
	int r;

	store_stats(w->store, &before);
	start = last = cpu_ns();
	r = staging_replace(staging, "1");
	while (r == 0 && more) {
		more = applier_run(applier);
		now = cpu_ns();
		ret->turn_ms = (double)(now - last) / 1e6 > ret->turn_ms ? (double)(now - last) / 1e6
									 : ret->turn_ms;
		last = now;
	}
	ret->us = (double)(cpu_ns() - start) / 1e3 / (double)pods;
	store_stats(w->store, &after);
	ret->commits = after.commits - before.commits;
	if (r == 0 &&
	    (applier_trouble(applier)[0] || store_resource(w->store, w->pods)->object_count != pods ||
	     store_resource(w->store, w->pods)->state != RESOURCE_SYNCED))
		r = -EPROTO;
	return r;
}

static int
one_round(struct bench *b, size_t pods, struct cost *ret)
{
	struct world *w = world_new(b);
	struct store_known known = {0};
	struct known_objects objects = store_known_objects(&known);
	struct delta_fifo *fifo = delta_fifo_new(&objects);
	struct staging staging;
	struct clock_uv clock;
	struct applier *applier;
	int r;

	*ret = (struct cost){0};
	if (!w || !fifo) {
		delta_fifo_free(fifo);
		world_free(w);
		return -ENOMEM;
	}
	known = (struct store_known){w->store, w->pods};
	r = world_serve_events(w);
	if (r == 0) {
		clock_uv_init(&clock, &w->loop);
		applier = applier_new(w->store, &clock.clock);
		staging_init(&staging, fifo);
		r = applier ? applier_add(applier, w->pods, "pods", fifo, NULL, NULL) : -ENOMEM;
		if (r == 0)
			r = stage_pods(w, b, &staging, pods);
		if (r == 0)
			r = apply_list(w, &staging, applier, ret);
		staging_done(&staging);
		applier_free(applier);
		clock_uv_close(&clock); /* with the world's loop */
	}
	delta_fifo_free(fifo);
	world_free(w);
	return r;
}

static void
measure_size(struct bench *b, const struct size *size)
{
	unsigned wanted = b->quick ? size->quick_rounds : size->rounds;
	struct rounds us = {0}, turn = {0};
	struct cost cost;
	struct row *row;
	char name[48];
	int r = 0;

	snprintf(name, sizeof(name), "first_list_%s_us", size->label);
	if (wanted == 0) {
		report_skip(b->report, name, "us", "not in a quick run");
		return;
	}
	if (process_bytes(0, "../meminfo", "MemAvailable:") <
	    (int64_t)(size->pods * 6000) + ((int64_t)2 << 30)) {
		report_skip(b->report, name, "us", "the arena needs more memory than there is");
		return;
	}
	for (unsigned i = 0; r == 0 && i < wanted; i++) {
		r = one_round(b, size->pods, &cost);
		rounds_add(&us, cost.us);
		rounds_add(&turn, cost.turn_ms);
	}
	if (r < 0) {
		report_skip(b->report, name, "us", "the list was not applied: %s", strerror(-r));
		return;
	}
	row = report_add(b->report, name, "us", rounds_median(&us), NULL, 0,
			 "a pod: a list of %zu, decoded and staged, until an empty store with all built-in "
			 "indexes is synced, in %lu commits; CPU time; %u rounds, %.2f–%.2f; the longest "
			 "turn of the loop %.1f ms",
			 size->pods, (unsigned long)cost.commits, us.count, rounds_min(&us), rounds_max(&us),
			 rounds_max(&turn));
	row->target = (struct target){.value = 8};
}

void
measure_first_list(struct bench *b)
{
	fprintf(stderr, "first list ...\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		measure_size(b, &sizes[i]);
}
