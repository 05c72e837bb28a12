/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes how long a key has to wait: by its own failures, by the tokens of a bucket, by the caller's
 * function, or by the longest of several rules.
 */
#include <errno.h>

#include "reader-lib/workqueue/rate_limit.h"

/* The longest wait: 292 years, Go's longest duration. */
#define LONGEST_NS ((uint64_t)INT64_MAX)
#define SECOND 1e9
/* Also ends a description that contains itself. */
#define RULES_MAX 64u

/* ---- creating from a description ---- */

static bool
makes_sense(const struct informer_rate_limit *limit)
{
	switch (limit->kind) {
	case INFORMER_LIMIT_EXPONENTIAL:
		return limit->base_ns > 0;
	case INFORMER_LIMIT_BUCKET:
		return limit->qps > 0 && limit->burst > 0;
	case INFORMER_LIMIT_FAST_SLOW:
		return true;
	case INFORMER_LIMIT_LONGEST_OF:
		return limit->limits && limit->n_limits > 0;
	case INFORMER_LIMIT_OWN:
		return limit->when != NULL;
	}
	return false;
}

/* The number of rules in a description; 0: it makes no sense, or has more than `room`. */
static size_t
count_rules(const struct informer_rate_limit *limit, size_t room)
{
	size_t count = 1;

	if (room == 0 || !limit || !makes_sense(limit))
		return 0;
	for (size_t i = 0; limit->kind == INFORMER_LIMIT_LONGEST_OF && i < limit->n_limits; i++) {
		size_t n = count_rules(limit->limits[i], room - count);

		if (n == 0)
			return 0;
		count += n;
	}
	return count;
}

static size_t
copy_rules(struct rate_rule *rule, const struct informer_rate_limit *limit)
{
	rule->limit = *limit;
	rule->bucket = (struct token_bucket){limit->qps, limit->burst, limit->burst, 0};
	rule->span = 1;
	for (size_t i = 0; limit->kind == INFORMER_LIMIT_LONGEST_OF && i < limit->n_limits; i++)
		rule->span += copy_rules(rule + rule->span, limit->limits[i]);
	return rule->span;
}

int
rate_limiter_init(struct rate_limiter *l, const struct informer_rate_limit *limit,
		  const struct allocator *memory)
{
	size_t count = count_rules(limit, RULES_MAX);

	if (count == 0)
		return -EINVAL;
	l->memory = *memory;
	l->rules = allocator_get(memory, count * sizeof(l->rules[0]));
	if (!l->rules)
		return -ENOMEM;
	l->count = copy_rules(l->rules, limit);
	return 0;
}

void
rate_limiter_done(struct rate_limiter *l)
{
	if (l->rules)
		allocator_put(&l->memory, l->rules);
	*l = (struct rate_limiter){0};
}

/* ---- computing delays ---- */

/* base · 2^failures */
static uint64_t
backoff(uint64_t base_ns, uint32_t failures)
{
	return failures >= 63 || base_ns > LONGEST_NS >> failures ? LONGEST_NS : base_ns << failures;
}

static uint64_t
take_token(struct token_bucket *b, uint64_t now_ns)
{
	double wait;

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

struct
try {
	const char *key;
	size_t length;
	uint32_t failures;
	uint64_t now_ns;
};

static uint64_t
wait_by(struct rate_rule *rule, const struct try *t)
{
	const struct informer_rate_limit *limit = &rule->limit;
	uint64_t wait = 0;

	switch (limit->kind) {
	case INFORMER_LIMIT_EXPONENTIAL:
		wait = backoff(limit->base_ns, t->failures);
		break;
	case INFORMER_LIMIT_BUCKET:
		wait = take_token(&rule->bucket, t->now_ns);
		break;
	case INFORMER_LIMIT_FAST_SLOW:
		wait = t->failures < limit->fast_tries ? limit->fast_ns : limit->slow_ns;
		break;
	case INFORMER_LIMIT_LONGEST_OF:
		/* ask each: a bucket gives its token also when another wait is longer */
		for (size_t i = 1; i < rule->span; i += rule[i].span) {
			uint64_t one = wait_by(&rule[i], t);

			wait = one > wait ? one : wait;
		}
		break;
	case INFORMER_LIMIT_OWN:
		wait = limit->when(limit->context, t->key, t->length, t->failures, t->now_ns);
		break;
	}
	return limit->max_ns > 0 && wait > limit->max_ns ? limit->max_ns : wait;
}

uint64_t
rate_limiter_when(struct rate_limiter *l, const char *key, size_t length, uint32_t failures, uint64_t now_ns)
{
	return wait_by(l->rules, &(struct try){key, length, failures, now_ns});
}

void
rate_limiter_forget(const struct rate_limiter *l, const char *key, size_t length)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct informer_rate_limit *limit = &l->rules[i].limit;

		if (limit->kind == INFORMER_LIMIT_OWN && limit->forget)
			limit->forget(limit->context, key, length);
	}
}
