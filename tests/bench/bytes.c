/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a pod in the arena, with all built-in indexes, and in the writer's private memory. */
#include "tests/bench/bench.h"

#include <malloc.h>

#include "tests/bench/world.h"

static double
heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return (double)m.uordblks + (double)m.hblkhd;
}

/* Arena bytes in use, a pod. */
static double
arena_bytes(struct world *w, size_t pods)
{
	struct store_stats stats;

	store_reclaim(w->store);
	store_stats(w->store, &stats);
	return (double)(stats.used_bytes - stats.retired_bytes) / (double)pods;
}

void
measure_bytes(struct bench *b, size_t n)
{
	double heap = heap_bytes(), json = 0, client_go = b->report->client_go_heap;
	size_t pods = pods_count(b->pods) * (pods_count(b->pods) > 500 ? 1 : 60);
	struct bytes text = {0};
	struct world *w = world_new(b);

	(void)n;
	world_load(w, b, PODS_CROWDED, pods);
	heap = (heap_bytes() - heap) / (double)pods;
	for (size_t i = 0; i < pods; i++) {
		text.length = 0;
		pods_make(b->pods, PODS_CROWDED, i, pods, 0, &text);
		json += (double)text.length / (double)pods;
	}
	bytes_done(&text);
	report_value(b->report, arena_bytes(w, pods), NULL, json, "bytes_per_pod");
	if (client_go > 0)
		report_value(b->report, arena_bytes(w, pods), NULL, client_go, "bytes_per_pod_client_go");
	world_free(w);
	report_value(b->report, heap, NULL, client_go, "writer_private_bytes_per_pod");
}
