/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long to wait before the next try: an item's exponential backoff, and a bucket of tokens that all items
 * share.
 *
 * Source: client-go's DefaultTypedControllerRateLimiter; golang.org/x/time/rate for the bucket.
 */
#ifndef READER_LIB_WORKQUEUE_RATE_LIMIT_H
#define READER_LIB_WORKQUEUE_RATE_LIMIT_H

#include <stdint.h>

/* base · 2^failures, at most max. */
uint64_t backoff_delay(uint64_t base_ns, uint64_t max_ns, uint32_t failures);

/*
 * Full at first; filled again at qps tokens a second, up to burst.
 *
 * qps  not above zero: there is no limit
 */
struct token_bucket {
	double qps;
	double burst;
	double tokens;		/* below zero: so many are promised already */
	uint64_t last_ns;
};

void token_bucket_init(struct token_bucket *b, double qps, uint32_t burst, uint64_t now_ns);
/*
 * Take one token, and say how long to wait until it is there: each one that comes waits behind those before
 * it.
 */
uint64_t token_bucket_reserve(struct token_bucket *b, uint64_t now_ns);

#endif
