/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a turn of the feed makes of a ring that is behind its root, and of entries that say what is not so.
 */
#include "reader-lib/events/handler.h"
#include "tests/room.h"
#include "tests/support/test_clock.h"
#include "tests/support/recorder_world.h"
#include "tests/support/writers_queue.h"

#define ENTRIES 128
#define MANY (2 * FEED_BATCH)	/* objects: more than a turn tells */

SET_UP(set_up, recorder_world_new("a1 b1", false))

/* ---- a ring behind its root ---- */

/* The writer between publishing a root and pushing what is new in it: one change. */
static void
hide_newest_entry(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
	atomic_fetch_sub(&writers_queue(ENTRIES)->head, 1);
}

/* With the first event of the walk: what it comes to last, changes. */
static void
change_the_last(struct recorder *r)
{
	struct recorder_world *w = r->context;

	r->each = NULL;
	recorder_change(w->fx, "last2");
	broker_fixture_do(w->fx, hide_newest_entry, NULL);
}

#define T(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* What changes before the walk comes to it is told before SYNCED, though it is pushed after the walk. */
T(what_is_still_to_be_pushed_is_told_before_synced)
{
	char changes[2048], *text = NULL, *last;
	size_t n = 0;

	for (unsigned i = 0; i < MANY; i++)
		n += (size_t)snprintf(changes + n, sizeof(changes) - n, "k%c%c1 ", (int)('a' + i / 26),
				      (int)('a' + i % 26));
	recorder_change(w->fx, changes);
	recorder_change(w->fx, "last1");
	w->r->options.queue_entries = ENTRIES;
	w->r->context = w;
	w->r->each = change_the_last;
	recorder_add(w->r);
	DISPATCH_UNTIL(w->inf, w->r->calls >= MANY + 2);
	dispatch_all(w->inf);
	assert_int_equal(w->r->calls, MANY + 2);
	/* the next commit's entry stands behind the one that was missing */
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
 * An entry that says what is not so: "z" is in namespace x, and the newest change is z's; others are in
 * "default" and older.
 *
 * ahead, seq  its seq is so far beyond the newest change's; or, if not 0, this one
 * names       what its refs are; NULL: these
 */
struct lie {
	enum queue_kind kind;
	const char *old_name, *new_name;
	uint32_t old_ref, new_ref;
	uint64_t ahead, seq;
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
		.resource = (uint16_t)fx->store->pods,
		.old_ref = ref_of(fx, l->old_name, l->old_ref),
		.new_ref = ref_of(fx, l->new_name, l->new_ref),
	};
	atomic_store(&q->head, head + 1);
}

/* Nonsense in a ring is said, drops it, and is mended by a new one; nothing of it is told. */
static void
survives(struct recorder_world *w, void (*spoil)(struct broker_fixture *fx, void *context), void *context)
{
	char text[300] = "", *told;

	broker_fixture_do(w->fx, spoil, context);
	DISPATCH_UNTIL(w->inf, informer_error_text(INFORMER_E_CORRUPT, text, sizeof(text)) > 0 &&
				       strstr(text, "the events of pods make no sense"));
	test_clock_move(1000); /* the next ring is asked for after that */
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

T(nonsense_in_a_ring_is_mended)
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
