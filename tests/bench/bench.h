/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench: what the cache costs beside its alternatives, in one run on one machine.
 *
 * Each measurement alternates rounds of ours and the peer's, takes the median of each, and reports their
 * ratio. A round's noise hits both. No figure passes or fails: each is marked against the project's targets.
 *
 * A measurement runs in its own process (main.c). bench_fail() ends that process and all processes that it
 * started, so no function here returns an error.
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

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * quick      fewer and shorter rounds
 * build      where the real binaries are
 * client_go  the peer program; NULL: why_no_client_go says what is missing
 * wire       informerd's --wire; NULL: none is given
 * parts      of the gateway's measurements: list, get, watch, node, herd; "": all
 * directory  the measurement's own folder, on tmpfs; main.c removes it
 */
struct bench {
	bool quick;
	const char *build, *pods_directory, *client_go, *why_no_client_go, *wire, *upstream_pods, *parts;
	char directory[64];
	struct pods *pods;
	struct report *report;
};

/* ---- the measurements; `n` is a number of pods ---- */

void measure_lookups(struct bench *b, size_t n);
void measure_bytes(struct bench *b, size_t n);
void measure_node(struct bench *b, size_t n);
void measure_decode(struct bench *b, size_t n);
void measure_list(struct bench *b, size_t n);
void measure_first_list(struct bench *b, size_t n);
void measure_events(struct bench *b, size_t n);
void measure_fan_out(struct bench *b, size_t n);
void measure_agents(struct bench *b, size_t n);
void measure_go_reader(struct bench *b, size_t n);
void measure_go_agents(struct bench *b, size_t n);
void measure_sync(struct bench *b, size_t n);
void measure_traffic(struct bench *b, size_t n);
void measure_upstream_start(struct bench *b, size_t n); /* the start alone */
void measure_upstream(struct bench *b, size_t n);       /* with agents and events */
void measure_gateway(struct bench *b, size_t n);
/* hostile_*; only on demand */
void measure_hostile(struct bench *b, size_t n);

/* `bench reader SOCKET KEYS ATTACHES` and `bench handler SOCKET NAMESPACE COUNT`. */
int reader_main(int argc, char **argv);
int handler_main(int argc, char **argv);

/* ---- ends of a measurement ---- */

/* End the measurement with an error. The bench goes on with the next one, and fails in the end. */
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* End the measurement because something is missing on this machine. The bench does not fail. */
void bench_skip(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Fails unless r >= 0: negative errno, or an informer_error. */
int bench_need(int r, const char *what);
/* Skips unless the machine has so much memory available. */
void bench_need_memory(double bytes);
/* Skips unless there is a client-go program. */
void bench_need_client_go(const struct bench *b);
/* calloc() that does not fail. */
void *bench_alloc(size_t count, size_t size);

/* ---- time ---- */

static inline uint64_t
now_ns(void)
{
	return time_ns(CLOCK_MONOTONIC);
}

/* CPU time of this thread: a round's cost, also on a busy machine. On an idle one it equals now_ns(). */
static inline uint64_t
cpu_ns(void)
{
	return time_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The clock of events' times. */
static inline uint64_t
wall_ns(void)
{
	return time_ns(CLOCK_REALTIME);
}

static inline double
ms_since(uint64_t start_ns)
{
	return (double)(now_ns() - start_ns) / 1e6;
}

void sleep_ms(long ms);

#endif
