/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows on informer-gateway have in common: upstream's API server, and a gateway before it. */
#ifndef TESTS_BENCH_GATEWAY_ROWS_H
#define TESTS_BENCH_GATEWAY_ROWS_H

#include "tests/bench/gateway_watching.h"

struct gateway_world {
	struct bench *b;
	struct upstream server;
	struct gateway_side gateway;
};

#define GATEWAY_NODES 5000u /* the server's pods are spread over */

void measure_gateway_watches(struct gateway_world *w); /* gateway_event_* */
void measure_gateway_nodes(struct gateway_world *w);   /* gateway_nodes_* */

/* What a negative errno, or an informer_error, says. */
const char *gateway_reason(int r);

#endif
