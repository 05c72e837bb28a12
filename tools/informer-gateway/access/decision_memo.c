/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided, for a while; see decision_memo.h. */
#include "tools/informer-gateway/access/decision_memo.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

/* ---- verdicts ---- */

struct gw_verdict *
gw_verdict_new(enum gw_verdict_kind kind, struct gw_identity *identity, const char *reason, uint64_t now_ms)
{
	struct gw_verdict *verdict = api_alloc(sizeof(*verdict));

	*verdict = (struct gw_verdict){.refs = 1, .kind = kind, .identity = identity, .made_ms = now_ms};
	verdict->reason = api_strndup(reason ? reason : "", reason ? strlen(reason) : 0);
	return verdict;
}

struct gw_verdict *
gw_verdict_ref(struct gw_verdict *verdict)
{
	verdict->refs++;
	return verdict;
}

void
gw_verdict_unref(struct gw_verdict *verdict)
{
	if (!verdict || --verdict->refs > 0)
		return;
	gw_identity_unref(verdict->identity);
	free(verdict->reason);
	free(verdict);
}

/* ---- entries ---- */

/*
 * An entry is asked about (asking), or kept (verdict; in one of the two lists, the most used first), or both:
 * then the old answer holds for who does not want a newer one.
 */
struct entry {
	struct entry *chain;
	struct entry *newer, *older; /* of its list */
	uint8_t digest[GW_DIGEST];
	struct gw_verdict *verdict;
	uint64_t until_ms;
	bool asking;
	struct gw_waiter *waiters;
};

struct list {
	struct entry *newest, *oldest;
	unsigned count, most;
};

struct gw_memo {
	struct list allowed, refused;
	unsigned asking;
	unsigned mask;
	struct entry **buckets;
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
	memo->buckets = api_alloc(buckets * sizeof(*memo->buckets));
	memset(memo->buckets, 0, buckets * sizeof(*memo->buckets));
	return memo;
}

static struct entry **
place_of(struct gw_memo *memo, const uint8_t digest[GW_DIGEST])
{
	struct entry **at;
	uint32_t hash;

	memcpy(&hash, digest, sizeof(hash)); /* it is one already, and nobody's to choose */
	for (at = &memo->buckets[hash & memo->mask]; *at; at = &(*at)->chain)
		if (memcmp((*at)->digest, digest, GW_DIGEST) == 0)
			break;
	return at;
}

static struct list *
list_of(struct gw_memo *memo, const struct entry *entry)
{
	return entry->verdict->kind == GW_VERDICT_YES ? &memo->allowed : &memo->refused;
}

static void
unlist(struct gw_memo *memo, struct entry *entry)
{
	struct list *list = list_of(memo, entry);

	*(entry->newer ? &entry->newer->older : &list->newest) = entry->older;
	*(entry->older ? &entry->older->newer : &list->oldest) = entry->newer;
	list->count--;
}

static void
enlist(struct gw_memo *memo, struct entry *entry)
{
	struct list *list = list_of(memo, entry);

	entry->newer = NULL;
	entry->older = list->newest;
	*(list->newest ? &list->newest->newer : &list->oldest) = entry;
	list->newest = entry;
	list->count++;
}

/* What nobody asks and nobody knows is no entry. */
static void
drop_empty(struct gw_memo *memo, struct entry *entry)
{
	if (entry->asking || entry->verdict)
		return;
	*place_of(memo, entry->digest) = entry->chain;
	free(entry);
}

static void
forget(struct gw_memo *memo, struct entry *entry)
{
	unlist(memo, entry);
	gw_verdict_unref(entry->verdict);
	entry->verdict = NULL;
	drop_empty(memo, entry);
}

static struct entry *
entry_for(struct gw_memo *memo, const uint8_t digest[GW_DIGEST])
{
	struct entry **place = place_of(memo, digest), *there = *place;

	if (there)
		return there;
	*place = api_alloc(sizeof(**place));
	**place = (struct entry){0};
	memcpy((*place)->digest, digest, GW_DIGEST);
	return *place;
}

void
gw_memo_free(struct gw_memo *memo)
{
	struct entry *entry, *next;

	if (!memo)
		return;
	for (unsigned i = 0; i <= memo->mask; i++) {
		for (entry = memo->buckets[i]; entry; entry = next) {
			next = entry->chain;
			gw_verdict_unref(entry->verdict);
			free(entry);
		}
	}
	free(memo->buckets);
	free(memo);
}

/* ---- asking ---- */

struct gw_verdict *
gw_memo_find(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], uint64_t now_ms, uint64_t since_ms)
{
	struct entry *entry = *place_of(memo, digest);

	if (!entry || !entry->verdict)
		return NULL;
	if (now_ms >= entry->until_ms) {
		forget(memo, entry);
		return NULL;
	}
	if (entry->verdict->made_ms < since_ms)
		return NULL;
	unlist(memo, entry);
	enlist(memo, entry);
	return entry->verdict;
}

bool
gw_memo_wait(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_waiter *waiter)
{
	struct entry *entry = entry_for(memo, digest);
	bool asked = entry->asking;

	if (!asked) {
		entry->asking = true;
		memo->asking++;
	}
	waiter->next = entry->waiters;
	waiter->link = &entry->waiters;
	if (waiter->next)
		waiter->next->link = &waiter->next;
	entry->waiters = waiter;
	return asked;
}

void
gw_waiter_leave(struct gw_waiter *waiter)
{
	if (!waiter->link)
		return;
	*waiter->link = waiter->next;
	if (waiter->next)
		waiter->next->link = waiter->link;
	waiter->link = NULL;
	waiter->next = NULL;
}

/* Each may leave, and make others leave, and ask anew. */
static void
tell(struct gw_waiter *waiters, struct gw_verdict *verdict)
{
	struct gw_waiter *head = waiters;

	if (head)
		head->link = &head;
	while (head) {
		struct gw_waiter *waiter = head;

		gw_waiter_leave(waiter);
		waiter->told(waiter->ctx, verdict);
	}
}

static bool
is_decision(const struct gw_verdict *verdict)
{
	return verdict->kind == GW_VERDICT_YES || verdict->kind == GW_VERDICT_NO;
}

/* In place of what was known; until 0: not to be known either. */
static void
keep(struct gw_memo *memo, struct entry *entry, struct gw_verdict *verdict, uint64_t until_ms)
{
	struct list *list;

	if (entry->verdict) {
		unlist(memo, entry);
		gw_verdict_unref(entry->verdict);
		entry->verdict = NULL;
	}
	if (until_ms == 0)
		return;
	entry->verdict = gw_verdict_ref(verdict);
	entry->until_ms = until_ms;
	enlist(memo, entry);
	list = list_of(memo, entry);
	if (list->count > list->most)
		forget(memo, list->oldest);
}

void
gw_memo_settle(struct gw_memo *memo, const uint8_t digest[GW_DIGEST], struct gw_verdict *verdict,
	       uint64_t until_ms, uint64_t now_ms)
{
	struct entry *entry = entry_for(memo, digest);
	struct gw_waiter *waiters = entry->waiters;

	memo->asking -= entry->asking;
	entry->asking = false;
	entry->waiters = NULL;
	if (is_decision(verdict))
		keep(memo, entry, verdict, now_ms < until_ms ? until_ms : 0);
	drop_empty(memo, entry);
	tell(waiters, verdict);
	gw_verdict_unref(verdict);
}

unsigned
gw_memo_count(const struct gw_memo *memo)
{
	return memo->allowed.count + memo->refused.count;
}
