/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pod costs in the arena, all built-in indexes included, and in the writer's private memory.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/sim.h"
#include "tests/bench/world.h"

struct sizes {
	size_t pods;
	double json, used, file, books, heap, shared_blocks;
};

static double
heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return (double)m.uordblks + (double)m.hblkhd;
}

static void
look(struct world *w, struct sizes *s)
{
	struct store_stats stats;

	store_reclaim(w->store);
	store_stats(w->store, &stats);
	s->used = (double)(stats.used_bytes - stats.retired_bytes) / (double)s->pods;
	s->file = (double)stats.arena_bytes / (double)s->pods;
	s->books = (double)stats.private_bytes / (double)s->pods;
	s->shared_blocks = (double)stats.shared_blocks / (double)s->pods;
}

/* Each real pod `replicas` times. */
static int
of_replicas(struct bench *b, size_t replicas, struct sizes *ret)
{
	struct bytes text = {0};
	double heap = heap_bytes();
	struct world *w = world_new(b);
	int r;

	*ret = (struct sizes){.pods = pods_count(b->pods) * replicas};
	r = w ? world_load(w, b, PODS_CROWDED, ret->pods) : -1;
	if (r == 0) {
		look(w, ret);
		ret->heap = (heap_bytes() - heap) / (double)ret->pods;
		for (size_t i = 0; i < ret->pods; i++) {
			text.length = 0;
			pods_make(b->pods, PODS_CROWDED, i, ret->pods, 0, &text);
			ret->json += (double)text.length / (double)ret->pods;
		}
	}
	bytes_done(&text);
	world_free(w);
	return r;
}

struct loading {
	struct world *world;
	double bytes;
};

static int
on_bytes(void *context, const char *bytes, size_t length)
{
	struct loading *l = context;

	l->bytes += (double)length;
	return world_feed(l->world, DECODE_LIST, bytes, length);
}

/* informer-sim's cluster, as it serves it. */
static int
of_generated(struct bench *b, struct sizes *ret)
{
	struct sim sim = {0};
	struct loading l = {.world = world_new(b)};
	int r = l.world ? sim_start(b, NULL, 0, 200, &sim) : -ENOSPC;

	if (r == 0)
		r = sim_fetch(&sim, "/api/v1/pods?resourceVersion=0", on_bytes, &l);
	if (r == 0)
		r = world_synced(l.world, "1");
	if (r == 0 && l.world->stored == 0)
		r = -EPROTO;
	if (r == 0) {
		*ret = (struct sizes){.pods = l.world->stored};
		ret->json = l.bytes / (double)ret->pods;
		look(l.world, ret);
	}
	sim_end(&sim);
	world_free(l.world);
	return r;
}

static void
add(struct bench *b, const char *name, const struct sizes *s, const char *what, struct target target)
{
	struct row *row = report_add(b->report, name, "bytes", s->used, "their JSON", s->json,
				     "%zu pods: %s; all built-in indexes, managedFields dropped; arena bytes "
				     "in use; the file has %.0f a pod; "
				     "%.1f shared blocks a pod",
				     s->pods, what, s->file, s->shared_blocks);

	row->target = target;
}

void
measure_bytes(struct bench *b)
{
	struct sizes s;
	char what[256];
	size_t replicas = pods_count(b->pods) > 500 ? 1 : 60;

	fprintf(stderr, "bytes ...\n");
	if (of_replicas(b, replicas, &s) < 0) {
		report_skip(b->report, "bytes_per_pod", "bytes", "the store failed");
		return;
	}
	snprintf(what, sizeof(what),
		 "%s, each %zu times with names, UIDs, addresses, nodes, container IDs and times of its own",
		 b->pods_note, replicas);
	add(b, "bytes_per_pod", &s, what, (struct target){.value = 2300, .value_aim = 1950});
	if (b->client_go_heap > 0)
		report_add(
			b->report, "bytes_per_pod_client_go", "bytes", s.used, "client-go's heap",
			b->client_go_heap,
			"ours once a node, for all readers; client-go's in each process, with two indexes");
	else
		report_skip(b->report, "bytes_per_pod_client_go", "bytes", "%s",
			    b->client_go ? "client-go was not measured" : b->why_no_client_go);
	report_add(b->report, "writer_private_bytes_per_pod", "bytes", s.heap,
		   b->client_go_heap > 0 ? "client-go's heap" : NULL, b->client_go_heap,
		   "%zu pods; malloc'ed by store, allocator's books, intern table, decoder and its schema; "
		   "the books by their own count: %.0f",
		   s.pods, s.books);
	if (replicas > 1 && of_replicas(b, 1, &s) == 0)
		add(b, "bytes_per_pod_unreplicated", &s, b->pods_note, (struct target){0});
	if (of_generated(b, &s) == 0)
		add(b, "bytes_per_pod_generated", &s, "informer-sim's generated cluster, 200 nodes",
		    (struct target){0});
	else
		report_skip(b->report, "bytes_per_pod_generated", "bytes",
			    "informer-sim could not be listed");
}
