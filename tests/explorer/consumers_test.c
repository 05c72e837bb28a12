/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A named consumer acknowledges events while the writer keeps its cursor (PROTOCOLS.md, Consumer). What the
 * writer keeps as done was done. The cursor never goes back, and never passes what was published.
 */
#include "shm-layout/consumer.h"
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"

#define COMMITS 3u

static unsigned told;
static bool done[COMMITS + 1];     /* of each version, as if the consumer kept it in a file */
static uint64_t seqs[COMMITS + 1]; /* of each version */
static uint64_t kept;

static uint64_t
kept_now(void)
{
	size_t count;
	const struct consumer *list = store_consumers(pair.store, &count);

	return count > 0 ? list[0].seq : 0;
}

static void
on_state(const struct informer_object *o)
{
	told = steps_version(o);
	explorer_note("told %u", told);
	done[told] = true;
}

/* The kept cursor says up to which version the consumer's work is done: check the work. */
static void
keep(void)
{
	uint64_t now;

	consumers_poll(pair.writer->consumers, 1, 1);
	now = kept_now();
	explorer_claim(now >= kept, "kept %llu after %llu", (unsigned long long)now,
		       (unsigned long long)kept);
	kept = now;
	for (unsigned version = 2; version <= COMMITS; version++)
		if (seqs[version] && now >= seqs[version])
			explorer_claim(done[version], "version %u is kept and not done", version);
}

static void
change_and_keep(void)
{
	for (unsigned version = 2; version <= COMMITS; version++) {
		seqs[version] = seqs[version - 1] + 1;
		steps_put("first", version);
		keep();
	}
}

static void
work(void)
{
	steps_hear(&told, COMMITS);
}

/* At the end everything is acknowledged, and the next poll finds it. */
static void
all_kept(void)
{
	keep();
	explorer_claim(kept == seqs[COMMITS], "%llu is kept of %llu", (unsigned long long)kept,
		       (unsigned long long)seqs[COMMITS]);
}

static const struct explorer_program keeping = {
	.name = "acknowledge and keep",
	.threads = {{"reader", work}, {"writer", change_and_keep}},
	.end = all_kept,
	.preemptions = 2,
	.old_values = 1,
};

static int
set_up(void **state)
{
	struct informer_handler_options options = {.consumer = "explored"};

	(void)state;
	steps_listen(&options, on_state);
	pair_begin();
	steps_put("first", 1);
	if (informer_add_handler(pair.inf, &options, NULL) < 0)
		return -1;
	pair_drain();
	consumers_poll(pair.writer->consumers, 1, 1);
	kept = kept_now();
	seqs[1] = kept;
	return told == 1 && kept > 0 ? 0 : -1;
}

#define TEST(name) TEST_CASE_IN(set_up, pair_tear_down, name)

TEST_GOOD(what_is_kept_was_done, keeping)

TEST_FOUND(weaker_orders_are_found, keeping,
	   {"K1: acknowledged relaxed", "acknowledge", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
	   {"K2: acknowledged loaded relaxed", "take_acknowledgement", NULL, EXPLORER_LOAD, 0,
	    EXPLORER_RELAX})
