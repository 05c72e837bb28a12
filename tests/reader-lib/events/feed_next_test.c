/* SPDX-License-Identifier: Apache-2.0 */
/* A turn of the feed with a ring that lags behind its root, and with false entries. */
#include "reader-lib/events/handler.h"
#include "tests/room.h"
#include "tests/support/test_clock.h"
#include "tests/support/recorder_world.h"
#include "tests/support/writers_queue.h"

#define ENTRIES 128
#define MANY (2 * FEED_BATCH)	/* objects: more than one turn tells */

SET_UP(set_up, recorder_world_new("a1 b1", false))

/* ---- a ring behind its root ---- */

/* Hide one change: the state between publishing a root and pushing its entry. */
static void
hide_newest_entry(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
	atomic_fetch_sub(&writers_queue(ENTRIES)->head, 1);
}

/* At the first event of the walk, change the object that the walk visits last. */
static void
change_the_last(struct recorder *r)
{
	struct recorder_world *w = r->context;

	r->each = NULL;
	recorder_change(w->fx, "last2");
	broker_fixture_do(w->fx, hide_newest_entry, NULL);
}

#define TEST(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* A change before the walk reaches its object is told before SYNCED, even if its entry is pushed later. */
TEST(a_change_pushed_late_is_told_before_synced)
{
	char *text, *last;

	recorder_world_many(w, MANY, 1);
	recorder_change(w->fx, "last1");
	w->r->options.queue_entries = ENTRIES;
	w->r->context = w;
	w->r->each = change_the_last;
	recorder_add(w->r);
	DISPATCH_UNTIL(w->inf, w->r->calls >= MANY + 2);
	dispatch_all(w->inf);
	assert_int_equal(w->r->calls, MANY + 2);
	/* the next commit's entry follows the hidden one */
	recorder_change(w->fx, "b2");
	DISPATCH_UNTIL(w->inf, informer_handler_has_synced(w->r->handler));
	text = recorder_text(w->r, false);
	last = strstr(text, "last");
	assert_non_null(last);
	assert_string_equal(last, "last2* b1>b2 SYNCED");
	free(text);
}

/* ---- garbage ---- */

static void
spoil_head(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
	atomic_fetch_add(&writers_queue(ENTRIES)->head, 100000);
}

static void
spoil_state(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
	atomic_store(&writers_queue(ENTRIES)->state, 77);
	atomic_fetch_add(&writers_queue(ENTRIES)->head, 1);
}

static void
spoil_base(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
	atomic_store(&writers_queue(ENTRIES)->base, UINT64_MAX);
	atomic_fetch_add(&writers_queue(ENTRIES)->openings, 1);
}

/*
 * A false entry. "z" is in namespace x, and the newest change is z's. All others are in "default" and older.
 *
 * ahead, seq  its seq is this far beyond the newest change's; or, if seq is not 0, seq
 * names       the objects its refs lead to; NULL: the refs are given
 * resource    its number; 0: that of pods
 */
struct lie {
	enum queue_kind kind;
	const char *old_name, *new_name;
	uint32_t old_ref, new_ref;
	uint64_t ahead, seq;
	unsigned resource;
};

static uint32_t
ref_of(struct broker_fixture *fx, const char *name, uint32_t other)
{
	return name ? store_fixture_find(fx->store, *name == 'z' ? "x" : "default", name) : other;
}

static void
push_lie(struct broker_fixture *fx, void *context)
{
	const struct lie *l = context;
	struct queue *q = writers_queue(ENTRIES);
	uint64_t head = atomic_load(&q->head);
	const struct object *newest = object_at(&fx->store->arena->view, ref_of(fx, "z", 0));

	assert_non_null(newest);
	queue_ring(q)[head % ENTRIES] = (struct queue_entry){
		.seq = l->seq ? l->seq : newest->seq + l->ahead,
		.kind = (uint16_t)l->kind,
		.resource = (uint16_t)(l->resource ? l->resource : fx->store->pods),
		.old_ref = ref_of(fx, l->old_name, l->old_ref),
		.new_ref = ref_of(fx, l->new_name, l->new_ref),
	};
	atomic_store(&q->head, head + 1);
}

/* The reader reports a senseless ring, drops it, and gets a new one. It tells no false entry. */
static void
survives(struct recorder_world *w, void (*spoil)(struct broker_fixture *fx, void *context), void *context)
{
	char text[300] = "", *told;

	broker_fixture_do(w->fx, spoil, context);
	DISPATCH_UNTIL(w->inf, informer_error_text(INFORMER_E_CORRUPT, text, sizeof(text)) > 0 &&
				       strstr(text, "the events of pods make no sense"));
	test_clock_move(1000); /* the reader asks for the next ring after that time */
	recorder_change(w->fx, "c1");
	told = recorder_text(w->r, false);
	while (!strstr(told, "+c1")) {
		free(told);
		dispatch_turn(w->inf);
		told = recorder_text(w->r, false);
	}
	free(told);
	free(recorder_text(w->r, true));
	recorder_change(w->fx, "-c");
	recorder_expect(w->r, "-c1");
	error_set(0, "%s", "");
}

TEST(a_senseless_ring_is_reported_and_replaced)
{
	struct lie lies[] = {
		{.kind = QUEUE_RESET, .ahead = 1},
		{.kind = QUEUE_ADDED, .new_name = "a"},
		{.kind = QUEUE_DELETED, .old_name = "z"},
		{.kind = QUEUE_UPDATED, .old_name = "a", .new_name = "z"},
		{.kind = QUEUE_ADDED, .new_ref = 5, .seq = UINT64_MAX},
		{.kind = (enum queue_kind)99},
		{.kind = QUEUE_ADDED},
		{.kind = QUEUE_UPDATED, .old_ref = 1, .new_ref = 0x7fffffff},
		{.kind = QUEUE_DELETED, .old_ref = 513},
		{.kind = QUEUE_STATUS, .new_ref = 12345},
		{.kind = QUEUE_STATUS, .resource = 200},
		{.kind = QUEUE_SYNCED, .resource = 200},
	};

	w->r->options.queue_entries = ENTRIES;
	w->r->options.namespace_ = "default";
	PLAY(w, "", "+a1* +b1* SYNCED");
	survives(w, spoil_head, NULL);
	survives(w, spoil_state, NULL);
	survives(w, spoil_base, NULL);
	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		char change[16];

		snprintf(change, sizeof(change), "x/z%u", i + 1);
		recorder_change(w->fx, change);
		survives(w, push_lie, &lies[i]);
	}
}
