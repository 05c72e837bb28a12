/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader looks objects up by key through the shortcut while the writer changes them (PROTOCOLS.md,
 * Shortcut). It finds the object as the pinned root has it, the same when it looks twice.
 */
#include "reader-lib/attach/snapshot.h"
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"

static struct informer_resource *pods;
static uint64_t seq_of_first;

/* Each change is one commit, so a root's seq tells the pod's version. */
static void
change(void)
{
	steps_replace("first", 2);
	steps_replace("first", 3);
}

static void
look(const struct informer_snapshot *snap, uint64_t expected)
{
	struct informer_object o;
	unsigned version;
	int r = informer_get_z(snap, pods, "default", "first", &o);

	explorer_claim(r == 0, "the look-up says %s", informer_error_name(r));
	version = steps_version(&o);
	explorer_claim(version == expected, "version %u in the root of version %u", version,
		       (unsigned)expected);
}

static void
look_twice(void)
{
	struct informer_snapshot snap;
	uint64_t expected;
	int r = informer_begin(pair.inf, &snap);

	explorer_claim(r == 0, "begin says %s", informer_error_name(r));
	expected = snapshot_of(&snap)->root->seq - seq_of_first + 1;
	look(&snap, expected);
	look(&snap, expected);
	informer_end(&snap);
}

static const struct explorer_program looking_up = {
	.name = "look up and change",
	.threads = {{"reader", look_twice}, {"writer", change}},
	.preemptions = 2,
	.old_values = 1,
};

static int
set_up(void **state)
{
	struct informer_snapshot snap;

	(void)state;
	pair_begin();
	steps_put_many();
	steps_put("first", 1);
	if (informer_resource_open(pair.inf, "pods", &pods) < 0 || informer_begin(pair.inf, &snap) < 0)
		return -1;
	seq_of_first = snapshot_of(&snap)->root->seq;
	look(&snap, 1);
	informer_end(&snap);
	return 0;
}

#define TEST(name) TEST_CASE_IN(set_up, pair_tear_down, name)

TEST_GOOD(a_look_up_shows_the_pinned_root, looking_up)

TEST_FOUND(weaker_orders_are_found, looking_up,
	   {"C1: the cell relaxed", "change_key", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX},
	   {"S2: the cell loaded relaxed", "shortcut_by_key", NULL, EXPLORER_LOAD, 0, EXPLORER_RELAX},
	   {"C1: no cell", "change_key", NULL, EXPLORER_STORE, 0, EXPLORER_DROP},
	   {"W1 relaxed", "publish", NULL, EXPLORER_STORE, 0, EXPLORER_RELAX})
