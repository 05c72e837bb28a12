/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a key waits before its next try, by the rules that the queue's options describe
 * (struct informer_rate_limit). The rules keep nothing by key: a key's failures are counted by the queue.
 *
 * Source: client-go's util/workqueue/default_rate_limiters.go; golang.org/x/time/rate for the bucket.
 */
#ifndef READER_LIB_WORKQUEUE_RATE_LIMIT_H
#define READER_LIB_WORKQUEUE_RATE_LIMIT_H

#include "reader-lib/base/allocator.h"
#include "reader-lib/informer-workqueue.h"

/*
 * Full at first; filled again at qps tokens a second, up to burst.
 *
 * tokens  below zero: so many are promised already
 */
struct token_bucket {
	double qps;
	double burst;
	double tokens;
	uint64_t last_ns;
};

/*
 * One rule. A tree of them stands in an array, each before those that it is made of.
 *
 * span  it and all that it is made of
 */
struct rate_rule {
	struct informer_rate_limit limit;	/* its `limits` are not looked at any more */
	struct token_bucket bucket;
	size_t span;
};

struct rate_limiter {
	struct allocator memory;
	struct rate_rule *rules;
	size_t count;
};

/* Copy a description. Returns 0, -ENOMEM, or -EINVAL: it makes no sense. */
int rate_limiter_init(struct rate_limiter *l, const struct informer_rate_limit *limit,
		      const struct allocator *memory);
/* All zero is fine. */
void rate_limiter_done(struct rate_limiter *l);

/*
 * The wait for a key that has failed so often before; takes a token of each bucket, and each one that comes
 * waits behind those before it.
 */
uint64_t rate_limiter_when(struct rate_limiter *l, const char *key, size_t length, uint32_t failures,
			   uint64_t now_ns);
/* Tell the caller's own rules. */
void rate_limiter_forget(const struct rate_limiter *l, const char *key, size_t length);

#endif
