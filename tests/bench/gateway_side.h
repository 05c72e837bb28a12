/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerd and an informer-gateway before upstream's API server, both without TLS.
 */
#ifndef TESTS_BENCH_GATEWAY_SIDE_H
#define TESTS_BENCH_GATEWAY_SIDE_H

#include "tests/bench/daemon_side.h"
#include "tests/bench/upstream.h"

struct gateway_side {
	const struct bench *b;
	struct daemon daemon;
	struct process process; /* informer-gateway */
	char log[96], url[64];
};

/*
 * Until it is ready to serve all pods of the server. all_fields: informerd keeps managedFields, so that both
 * answer with the same bytes of an object. 0 or negative errno; afterwards end in any case.
 */
int gateway_side_start(const struct bench *b, const struct upstream *server, bool all_fields,
		       struct gateway_side *ret);
void gateway_side_end(struct gateway_side *g);

/* A figure of its /metrics, by name and labels; negative: it is not there. */
double gateway_side_metric(const struct gateway_side *g, const char *name);

#endif
