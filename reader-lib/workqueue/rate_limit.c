/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts out how long a key has to wait, for the workqueue: its own backoff, and a token of the common
 * bucket.
 */
#include "reader-lib/workqueue/rate_limit.h"

/* What a wait is cut to: 292 years, Go's longest duration. */
#define LONGEST_NS ((uint64_t)INT64_MAX)
#define SECOND 1e9

uint64_t
backoff_delay(uint64_t base_ns, uint64_t max_ns, uint32_t failures)
{
	if (base_ns == 0)
		return 0;
	if (failures >= 64 || base_ns > max_ns >> failures)
		return max_ns;
	return base_ns << failures;
}

void
token_bucket_init(struct token_bucket *b, double qps, uint32_t burst, uint64_t now_ns)
{
	*b = (struct token_bucket){qps, burst, burst, now_ns};
}

uint64_t
token_bucket_reserve(struct token_bucket *b, uint64_t now_ns)
{
	double wait;

	if (b->qps <= 0)
		return 0;
	if (now_ns > b->last_ns) {
		b->tokens += (double)(now_ns - b->last_ns) / SECOND * b->qps;
		if (b->tokens > b->burst)
			b->tokens = b->burst;
		b->last_ns = now_ns;
	}
	b->tokens -= 1;
	if (b->tokens >= 0)
		return 0;
	wait = -b->tokens / b->qps * SECOND;
	return wait < (double)LONGEST_NS ? (uint64_t)wait : LONGEST_NS;
}
