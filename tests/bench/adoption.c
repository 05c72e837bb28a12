/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption: the writer of 100,000 pods is gone, the next one carries its arena into a new generation. And the
 * check of every tag that a reader may ask for.
 */
#include "tests/bench/bench.h"

#include "tests/bench/lookup_cost.h"
#include "tests/bench/world.h"

void
measure_adopt(struct bench *b, struct world *w)
{
	struct informer_options options = {.size = sizeof(options),
					   .flags = INFORMER_VERIFY,
					   .socket_path = w->socket,
					   .reader_name = "bench"};
	struct rounds verify = {0}, adopt = {0};
	struct informer_verify_counts counts;
	struct informer_snapshot s;
	struct informer *inf;

	bench_need(informer_attach(&options, &inf), "attach");
	bench_need(informer_wait_attached(inf, 10000), "attach");
	for (unsigned i = 0; i < (b->quick ? 1u : 3u); i++) {
		bench_need(informer_begin(inf, &s), "snapshot");

		uint64_t t = now_ns();

		bench_need(informer_verify(&s, NULL, NULL, &counts), "verify");
		rounds_add(&verify, ms_since(t));
		informer_end(&s);
	}
	informer_detach(inf);
	report_rounds(b->report, &verify, NULL, NULL, "verify_100k_ms");
	world_stop_serving(w);
	for (unsigned i = 0; i < (b->quick ? 2u : 5u); i++)
		rounds_add(&adopt, world_adopt(w));
	report_rounds(b->report, &adopt, NULL, NULL, "adopt_ms");
}
