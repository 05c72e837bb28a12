/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A named consumer acknowledges what it was told while the writer keeps its cursor (PROTOCOLS.md, Consumer):
 * what the writer keeps as done was done, it never goes back, and never beyond what was published.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shm-layout/consumer.h"
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"

#define COMMITS 3u

static struct pair pair;
static unsigned told;
static bool done[COMMITS + 1];     /* of each version: as if it stood in a file of the consumer's */
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

static void
on_add(void *context, const struct informer_object *o, bool initial)
{
	(void)context;
	(void)initial;
	on_state(o);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *o)
{
	(void)context;
	(void)old;
	on_state(o);
}

/* What the writer keeps says to which version the consumer's work is done: look at the work. */
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
		steps_put(&pair, "first", version);
		keep();
	}
}

static void
work(void)
{
	while (told < COMMITS) {
		struct pollfd p = {.fd = informer_fd(pair.inf), .events = POLLIN};

		if (!informer_dispatch(pair.inf) && told < COMMITS)
			poll(&p, 1, -1);
	}
}

/* All is acknowledged in the end, and the next look finds it. */
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
	static const char *const hints[] = {"peek_epoch", NULL};
	struct informer_handler_options options = {.size = sizeof(options),
						   .resource = "pods",
						   .consumer = "explored",
						   .on_add = on_add,
						   .on_update = on_update};

	(void)state;
	explorer_hints(hints);
	pair_begin(&pair);
	steps_put(&pair, "first", 1);
	if (informer_add_handler(pair.inf, &options, NULL) < 0)
		return -1;
	pair_settle(&pair);
	consumers_poll(pair.writer->consumers, 1, 1);
	kept = kept_now();
	seqs[1] = kept;
	return told == 1 && kept > 0 ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	pair_end(&pair);
	return 0;
}

static void
what_is_kept_was_done(void **state)
{
	(void)state;
	explorer_expect_good(&keeping);
}

static void
weaker_orders_are_found(void **state)
{
	static const struct explorer_fault faults[] = {
		{"K1: acknowledged relaxed", "acknowledge", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
		{"K2: acknowledged loaded relaxed", "take_acknowledgement", NULL, EXPLORER_LOAD, 0,
		 EXPLORER_RELAX},
		{0},
	};

	(void)state;
	explorer_expect_found(&keeping, faults);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_was_done),
		cmocka_unit_test(weaker_orders_are_found),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
