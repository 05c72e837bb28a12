/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of decisions: a hash table and two lists; see decision_memo.h. */
#include "tools/informer-gateway/access/decision_memo.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

/* ---- decisions ---- */

struct gw_decision *
gw_decision_new(enum gw_outcome outcome, struct gw_identity *identity, const char *reason, uint64_t now_ms)
{
	size_t size = strlen(reason) + 1;
	struct gw_decision *decision = api_alloc(sizeof(*decision) + size);

	*decision = (struct gw_decision){
		.refs = 1,
		.outcome = outcome,
		.identity = identity,
		.reason = memcpy(decision + 1, reason, size),
		.made_ms = now_ms,
	};
	return decision;
}

struct gw_decision *
gw_decision_ref(struct gw_decision *decision)
{
	decision->refs++;
	return decision;
}

void
gw_decision_unref(struct gw_decision *decision)
{
	if (!decision || --decision->refs > 0)
		return;
	gw_identity_unref(decision->identity);
	free(decision);
}

/* ---- entries ---- */

LIST_HEAD(waiters, gw_waiter);

/*
 * asking: a review is in flight. decision: cached; the entry is in `allowed` or `refused`, most recently used
 * first. Both: the cached decision still answers checks that accept its age.
 */
struct entry {
	LIST_ENTRY(entry) chain;
	TAILQ_ENTRY(entry) use;
	uint8_t digest[GW_DIGEST];
	struct gw_decision *decision;
	uint64_t until_ms;
	bool asking;
	struct waiters waiters;
};

TAILQ_HEAD(uses, entry);

struct kept {
	struct uses uses;
	unsigned count, most;
};

LIST_HEAD(bucket, entry);

struct gw_memo {
	struct kept allowed, refused;
	unsigned mask;
	struct bucket *buckets;
};

struct gw_memo *
gw_memo_new(unsigned entries)
{
	struct gw_memo *memo = api_alloc(sizeof(*memo));
	unsigned buckets = 16;

	while (buckets < entries)
		buckets *= 2;
	*memo = (struct gw_memo){.mask = buckets - 1};
	memo->refused.most = entries / 4 > 0 ? entries / 4 : 1;
	memo->allowed.most = entries > memo->refused.most ? entries - memo->refused.most : 1;
	TAILQ_INIT(&memo->allowed.uses);
	TAILQ_INIT(&memo->refused.uses);
	memo->buckets = api_alloc(buckets * sizeof(*memo->buckets));
	for (unsigned i = 0; i < buckets; i++)
		LIST_INIT(&memo->buckets[i]);
	return memo;
}

static struct bucket *
bucket_of(const struct gw_memo *memo, const uint8_t digest[GW_DIGEST])
{
	uint32_t hash;

	memcpy(&hash, digest, sizeof(hash)); /* a keyed hash: clients cannot choose buckets */
	return &memo->buckets[hash & memo->mask];
}

static struct entry *
find(const struct gw_memo *memo, const uint8_t digest[GW_DIGEST])
{
	struct entry *entry;

	LIST_FOREACH(entry, bucket_of(memo, digest), chain)
		if (memcmp(entry->digest, digest, GW_DIGEST) == 0)
			return entry;
	return NULL;
}

static struct entry *
entry_for(struct gw_memo *memo, const uint8_t digest[GW_DIGEST])
{
	struct entry *entry = find(memo, digest);

	if (entry)
		return entry;
	entry = api_alloc(sizeof(*entry));
	*entry = (struct entry){0};
	memcpy(entry->digest, digest, GW_DIGEST);
	LIST_INSERT_HEAD(bucket_of(memo, digest), entry, chain);
	return entry;
}

static struct kept *
kept_with(struct gw_memo *memo, const struct entry *entry)
{
	return entry->decision->outcome == GW_ACCESS_ALLOWED ? &memo->allowed : &memo->refused;
}

static void
forget(struct gw_memo *memo, struct entry *entry)
{
	struct kept *kept = kept_with(memo, entry);

	TAILQ_REMOVE(&kept->uses, entry, use);
	kept->count--;
	gw_decision_unref(entry->decision);
	entry->decision = NULL;
}

/* Free the entry unless it has a decision or a review in flight. */
static void
drop_empty(struct entry *entry)
{
	if (entry->asking || entry->decision)
		return;
	LIST_REMOVE(entry, chain);
	free(entry);
}

void
gw_memo_free(struct gw_memo *memo)
{
	struct entry *entry;

	if (!memo)
		return;
	for (unsigned i = 0; i <= memo->mask; i++) {
		while ((entry = LIST_FIRST(&memo->buckets[i]))) {
			LIST_REMOVE(entry, chain);
			gw_decision_unref(entry->decision);
			free(entry);
		}
	}
	free(memo->buckets);
	free(memo);
}

/* ---- lookup and waiting ---- */

struct gw_decision *
gw_memo_find(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], uint64_t now_ms, uint64_t since_ms)
{
	struct entry *entry = find(memo, digest);
	struct kept *kept;

	if (!entry || !entry->decision)
		return NULL;
	if (now_ms >= entry->until_ms) {
		forget(memo, entry);
		drop_empty(entry);
		return NULL;
	}
	if (entry->decision->made_ms < since_ms)
		return NULL;
	kept = kept_with(memo, entry);
	TAILQ_REMOVE(&kept->uses, entry, use);
	TAILQ_INSERT_HEAD(&kept->uses, entry, use);
	return entry->decision;
}

bool
gw_memo_wait(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_waiter *waiter)
{
	struct entry *entry = entry_for(memo, digest);
	bool asked = entry->asking;

	entry->asking = true;
	LIST_INSERT_HEAD(&entry->waiters, waiter, others);
	return asked;
}

void
gw_waiter_leave(struct gw_waiter *waiter)
{
	if (!waiter->others.le_prev)
		return;
	LIST_REMOVE(waiter, others);
	waiter->others.le_prev = NULL;
}

/* Replace the entry's decision, valid until until_ms. If that has passed, only remove the old decision. */
static void
keep(struct gw_memo *memo, struct entry *entry, struct gw_decision *decision, uint64_t until_ms,
     uint64_t now_ms)
{
	struct kept *kept;
	struct entry *oldest;

	if (entry->decision)
		forget(memo, entry);
	if (now_ms >= until_ms)
		return;
	entry->decision = gw_decision_ref(decision);
	entry->until_ms = until_ms;
	kept = kept_with(memo, entry);
	TAILQ_INSERT_HEAD(&kept->uses, entry, use);
	if (++kept->count > kept->most) {
		oldest = TAILQ_LAST(&kept->uses, uses);
		forget(memo, oldest);
		drop_empty(oldest);
	}
}

void
gw_memo_answer(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_decision *decision,
	       uint64_t until_ms, uint64_t now_ms)
{
	struct entry *entry = entry_for(memo, digest);
	struct waiters waiters = entry->waiters;
	struct gw_waiter *waiter = LIST_FIRST(&waiters);

	if (waiter)
		waiter->others.le_prev = &LIST_FIRST(&waiters);
	LIST_INIT(&entry->waiters);
	entry->asking = false;
	if (decision->outcome != GW_ACCESS_BUSY && decision->outcome != GW_ACCESS_UNAVAILABLE)
		keep(memo, entry, decision, until_ms, now_ms);
	drop_empty(entry);
	while ((waiter = LIST_FIRST(&waiters))) { /* told() may cancel other waiters and add new ones */
		gw_waiter_leave(waiter);
		waiter->told(waiter->ctx, decision);
	}
	gw_decision_unref(decision);
}

unsigned
gw_memo_count(const struct gw_memo *memo)
{
	return memo->allowed.count + memo->refused.count;
}
