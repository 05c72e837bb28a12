/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first list applied: pods are staged as a LIST brings them, then put into an empty store with all built-in
 * indexes until it is synced. Decoding is not included (decode.c).
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/bench/world.h"
#include "writer/base/clock_uv.h"
#include "writer/fifo/apply.h"
#include "writer/fifo/staging.h"
#include "writer/fifo/delta_fifo.h"

static int
stage(void *context, const char *type, size_t type_length, struct draft d)
{
	(void)type;
	(void)type_length;
	return staging_add(context, d.ref);
}

static void
stage_pods(struct world *w, const struct bench *b, struct staging *staging, size_t total)
{
	static const struct decoder_events events = {
		.on_object = stage, .on_bad_object = world_bad_object, .on_list_end = world_list_end};
	struct decoder *decoder = decoder_new(DECODE_LIST, &w->arena, store_intern(w->store), w->schema,
					      &events, staging, 0);
	struct bytes text = {0};

	if (!decoder)
		abort();
	for (size_t i = 0; i < total; i++) {
		text.length = 0;
		if (bytes_append(&text, i > 0 ? "," : "{\"items\":[", i > 0 ? 1 : 10) < 0)
			abort();
		pods_make(b->pods, PODS_SPREAD, i, total, 0, &text);
		bench_need(decoder_feed(decoder, (const char *)text.data, text.length), "decode");
	}
	bytes_done(&text);
	decoder_free(decoder);
}

/* From the complete list until the store is synced: µs of CPU a pod. */
static double
apply_list(struct world *w, struct staging *staging, struct applier *applier)
{
	uint64_t start = cpu_ns();
	size_t pods = staging->count;
	uint64_t staged;
	const struct resource *resource;
	double us;

	bench_need(staging_replace(staging, "1", &staged), "replace");
	while (applier_run(applier))
		;
	us = (double)(cpu_ns() - start) / 1e3 / (double)pods;
	resource = store_resource(w->store, w->pods);
	if (applier_trouble(applier)[0] || resource->object_count != pods ||
	    resource->state != RESOURCE_SYNCED)
		bench_fail("the list was not applied: %s", applier_trouble(applier));
	return us;
}

static double
one_round(struct bench *b, size_t pods)
{
	struct world *w = world_new(b);
	struct delta_fifo *fifo = delta_fifo_new(w->store, w->pods);
	struct staging staging;
	struct clock_uv clock;
	struct applier *applier;
	double us;

	world_serve_events(w);
	clock_uv_init(&clock, &w->loop);
	applier = applier_new(w->store, &clock.clock);
	if (!fifo || !applier)
		abort();
	staging_init(&staging, fifo);
	bench_need(applier_add(applier, w->pods, fifo, NULL, NULL), "applier");
	stage_pods(w, b, &staging, pods);
	us = apply_list(w, &staging, applier);
	staging_done(&staging);
	applier_free(applier);
	clock_uv_close(&clock); /* with the world's loop */
	delta_fifo_free(fifo);
	world_free(w);
	return us;
}

void
measure_first_list(struct bench *b, size_t n)
{
	unsigned rounds = n == 1000000 || (b->quick && n > 10000) ? 1 : b->quick ? 3 : n > 10000 ? 5 : 7;
	struct rounds us = {0};

	bench_need_memory((double)n * 6000 + 2.0 * (1 << 30));
	while (us.count < rounds)
		rounds_add(&us, one_round(b, n));
	if (n < 1000000)
		report_rounds(b->report, &us, NULL, NULL, "first_list_%zuk_us", n / 1000);
	else
		report_rounds(b->report, &us, NULL, NULL, "first_list_1m_us");
}
