/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate limits: how long a key waits before its next try, by the rules in the queue's options (struct
 * informer_rate_limit). The rules store nothing per key: the queue counts a key's failures.
 *
 * Source: client-go's util/workqueue/default_rate_limiters.go; golang.org/x/time/rate for the bucket.
 */
#ifndef READER_LIB_WORKQUEUE_RATE_LIMIT_H
#define READER_LIB_WORKQUEUE_RATE_LIMIT_H

#include "reader-lib/base/allocator.h"
#include "reader-lib/informer-workqueue.h"

/*
 * A bucket that begins full, and gains qps tokens a second, up to burst.
 *
 * tokens: below zero, this many tokens are promised already.
 */
struct token_bucket {
	double qps;
	double burst;
	double tokens;
	uint64_t last_ns;
};

/*
 * One rule. A tree of rules stands in an array, each rule before its parts.
 *
 * span: number of rules in this rule's subtree, itself included.
 */
struct rate_rule {
	struct informer_rate_limit limit; /* its `limits` are not used any more */
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
/* A zeroed one is fine. */
void rate_limiter_done(struct rate_limiter *l);

/*
 * The wait in ns for a key that has failed `failures` times. Takes a token of each bucket; a call waits
 * behind the calls before it.
 */
uint64_t rate_limiter_when(struct rate_limiter *l, const char *key, size_t length, uint32_t failures,
			   uint64_t now_ns);
/* Call the `forget` functions of the caller's own rules. */
void rate_limiter_forget(const struct rate_limiter *l, const char *key, size_t length);

#endif
