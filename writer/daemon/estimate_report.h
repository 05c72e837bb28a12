/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what `informerd --estimate` found out: a line for each resource, then sums and limits to set.
 */
#ifndef WRITER_DAEMON_ESTIMATE_REPORT_H
#define WRITER_DAEMON_ESTIMATE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "writer/resource/size_sample.h"

struct estimate_line {
	char *name;          /* "pods", "deployments.apps in team-a"; owned by the caller */
	const char *problem; /* a few words: why there are no figures; NULL: there are */
	struct size_estimate size;
	uint64_t lists, watch_lists, watches; /* requests of informerd's first start */
	bool on_demand; /* these requests, and this memory, come with the first reader */
	bool is_pods;   /* whole pods, of which client-go's cost was measured */
};

struct estimate {
	struct estimate_line *lines;
	size_t count;
	uint64_t base_bytes;      /* of the arena without objects */
	uint64_t private_bytes;   /* of this process, after the samples */
	uint64_t name_requests;   /* what the names and the cluster took to find out */
	uint64_t requests, bytes; /* of the estimate itself: names and samples; bytes of the samples */
	uint64_t configured;      /* arena.maxBytes; 0: not configured */
};

/*
 * informerd's private memory beyond that of the estimate, at most: for each object, and what first lists
 * leave in the heap. Both are measured, informer-scale(7).
 */
#define ESTIMATE_PRIVATE_BYTES 22u
#define ESTIMATE_HEAP_BYTES (UINT64_C(2) << 20)

/* Bytes of the arena with all objects. */
uint64_t estimate_arena(const struct estimate *e);
/* The arena.maxBytes to suggest: twice the arena, in steps of 64 MiB. */
uint64_t estimate_arena_max(const struct estimate *e);

void estimate_print(const struct estimate *e, FILE *out);

#endif
