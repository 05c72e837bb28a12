/* SPDX-License-Identifier: Apache-2.0 */
/* Adoption: the writer of 100,000 pods is gone, the next one carries its arena into a new generation. */
#include "tests/bench/bench.h"

#include "tests/bench/lookup_cost.h"
#include "tests/bench/world.h"

void
measure_adopt(struct bench *b, struct world *w)
{
	struct rounds adopt = {0};

	world_stop_serving(w);
	for (unsigned i = 0; i < (b->quick ? 2u : 5u); i++)
		rounds_add(&adopt, world_adopt(w));
	report_rounds(b->report, &adopt, NULL, NULL, "adopt_ms");
}
