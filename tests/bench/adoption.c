/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption: the writer of 100,000 pods is gone, the next one carries its arena into a new generation. And the
 * check of every tag that a reader may ask for.
 */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "tests/bench/world.h"

static void
measure_verify(struct bench *b, struct world *w)
{
	struct informer_options options = {.size = sizeof(options),
					   .flags = INFORMER_VERIFY,
					   .socket_path = w->socket,
					   .reader_name = "bench"};
	struct informer_verify_counts counts = {0};
	struct informer_snapshot s;
	struct informer *inf;
	struct rounds ms = {0};
	int r = informer_attach(&options, &inf);

	if (r == 0)
		r = informer_wait_attached(inf, 10000);
	for (unsigned i = 0; r == 0 && i < (b->quick ? 1u : 3u); i++) {
		r = informer_begin(inf, &s);
		if (r < 0)
			break;

		uint64_t t = now_ns();

		r = informer_verify(&s, NULL, NULL, &counts);
		rounds_add(&ms, (double)(now_ns() - t) / 1e6);
		informer_end(&s);
	}
	informer_detach(inf);
	if (r < 0)
		report_skip(b->report, "verify_100k_ms", "ms", "%s", informer_strerror(r));
	else
		report_add(b->report, "verify_100k_ms", "ms", rounds_median(&ms), NULL, 0,
			   "informer_verify: form, bounds and tag of all %.0f thousand blocks, %.0f MiB; %u "
			   "rounds, %.0f–%.0f",
			   (double)counts.blocks / 1e3, (double)counts.bytes / (1 << 20), ms.count,
			   rounds_min(&ms), rounds_max(&ms));
}

void
measure_adopt(struct bench *b, struct world *w)
{
	struct rounds ms = {0}, copy = {0}, verify = {0};
	struct row *row;
	uint64_t ns;
	int r = 0;

	measure_verify(b, w);
	world_stop_serving(w);
	for (unsigned i = 0; r == 0 && i < (b->quick ? 2u : 5u); i++) {
		r = world_adopt(w, &ns);
		if (r < 0)
			break;
		rounds_add(&ms, (double)ns / 1e6);
		rounds_add(&copy, (double)w->adoption.copy_ns / 1e6);
		rounds_add(&verify, (double)w->adoption.verify_ns / 1e6);
	}
	if (r < 0) {
		report_skip(b->report, "adopt_ms", "ms", "adoption failed: %s", w->adoption.message);
		return;
	}
	row = report_add(b->report, "adopt_ms", "ms", rounds_median(&ms), NULL, 0,
			 "100000 pods, until the new generation is published: %.0f MiB copied in %.0f ms, "
			 "%.0f thousand blocks verified and "
			 "booked in %.0f ms; %u rounds, %.0f–%.0f",
			 (double)w->adoption.bytes / (1 << 20), rounds_median(&copy),
			 (double)w->adoption.blocks / 1e3, rounds_median(&verify), ms.count, rounds_min(&ms),
			 rounds_max(&ms));
	row->target = (struct target){.value = 1000, .value_aim = 500};
}
