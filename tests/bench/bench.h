/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench: what the cache costs, beside what else does the work, in one run on one machine.
 *
 * Each measurement alternates rounds of ours and the peer's, takes the median of each, and reports the ratio
 * of the two; a round's noise hits both. Nothing here passes or fails: figures are reported, and marked
 * against what the project wants to reach.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "shm-layout/time_ns.h"
#include "tests/bench/pods.h"
#include "tests/bench/report.h"

#ifndef _cleanup_
#define _cleanup_(f) __attribute__((cleanup(f)))
#endif

/*
 * quick        fewer and shorter rounds
 * build        where the real binaries lie
 * self         this program's own file
 * client_go    the peer program; NULL: why_no_client_go says what is missing
 * wire, upstream_pods  what --wire and --upstream-pods say
 * directory    a folder of this run's own, on tmpfs, removed at the end whatever happens
 * pods         of pods_directory: real ones, or generated ones (pods_note says which)
 */
struct bench {
	bool quick;
	const char *build;
	const char *self;
	const char *pods_directory;
	const char *client_go;
	const char *why_no_client_go;
	const char *wire;          /* informerd's --wire; NULL: what it is without */
	const char *upstream_pods; /* "10000,50000": of how many each on upstream's server */
	char directory[64];
	char pods_note[96];
	double client_go_heap;	/* bytes a pod, once measured */
	double client_go_pss;	/* of a process with an informer for 10k pods, once measured */
	struct pods *pods;
	struct report *report;
};

/* informerd's --wire, as a word. */
static inline const char *
bench_wire(const struct bench *b)
{
	return b->wire ? b->wire : "auto";
}

/* ---- the measurements, each in a file of its own; what cannot be measured is reported as skipped ---- */

struct world;
struct lookup_reader;
struct questions;
struct process;

void measure_lookups(struct bench *b);	/* get_*, by_index_*; and while its stores stand, the next three */
/*
 * get_10k_with_writer_10k_per_s, worst_get_10k_with_writer_us; go may be NULL, idle_ns is the figure without
 * a writer
 */
void measure_with_writer(struct bench *b, struct world *w, struct lookup_reader *reader,
			 const struct questions *q, struct process *go, double idle_ns);
/* reader_private_bytes, attach_us */
void measure_reader(struct bench *b, struct world *w, const struct questions *q);
/* adopt_ms, verify_100k_ms; the world's writer dies on the way */
void measure_adopt(struct bench *b, struct world *w);

void measure_decode(struct bench *b);	/* decode_commit_us, update_commit_us */
void measure_bytes(struct bench *b);	/* bytes_per_pod*, writer_private_bytes_per_pod */
void measure_list(struct bench *b);	/* list_peak_bytes, restart_100k_ms */

void measure_first_list(struct bench *b); /* first_list_*_us */

void measure_events(struct bench *b);           /* event_latency_*, commit_to_handler_*, events_sustained,
						   writer_cpu_per_event_us */
void measure_fan_out(struct bench *b);          /* commit_*_readers, commit_64_other_namespace,
						   wake_64_cpu_per_event_us, stopped_reader_bytes */
void measure_agents(struct bench *b);		/* eight_readers_pss, restart_requests */

void measure_sync(struct bench *b);	/* sync_10k_*, sync_50k_* */
void measure_traffic(struct bench *b);	/* traffic_* */
void measure_upstream(struct bench *b); /* upstream_* */
/* gateway_*; on demand alone: those of list, get, watch, node and herd that are named; "": all */
void measure_gateway(struct bench *b, const char *which);

/* `bench reader SOCKET KEYS ROUNDS`: the process that measure_reader() looks at. */
int reader_main(int argc, char **argv);

/* ---- time and rounds ---- */

static inline uint64_t
now_ns(void)
{
	return time_ns(CLOCK_MONOTONIC);
}

/*
 * CPU time of this thread: what a round of lookups or of decoding took, however busy the machine is
 * otherwise. On a quiet one it is the same as now_ns().
 */
static inline uint64_t
cpu_ns(void)
{
	return time_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The clock that events are stamped with. */
static inline uint64_t
wall_ns(void)
{
	return time_ns(CLOCK_REALTIME);
}

#define ROUNDS_MAX 63

struct rounds {
	unsigned count;
	double value[ROUNDS_MAX];
};

void rounds_add(struct rounds *r, double value);
double rounds_median(const struct rounds *r);	/* 0 without any */
double rounds_min(const struct rounds *r);
double rounds_max(const struct rounds *r);

#endif
