/* SPDX-License-Identifier: Apache-2.0 */
/* Upstream's API server with a gateway before it, for the rows on informer-gateway. */
#ifndef TESTS_BENCH_GATEWAY_ROWS_H
#define TESTS_BENCH_GATEWAY_ROWS_H

#include "tests/bench/servers.h"

enum place { AT_GATEWAY, AT_UPSTREAM, PLACES };

struct gateway_world {
	struct bench *b;
	struct daemon daemon;
	struct server servers[PLACES];
};

void measure_gateway_watches(struct gateway_world *w); /* gateway_event_* */
void measure_gateway_nodes(struct gateway_world *w);   /* gateway_nodes_* */

#endif
