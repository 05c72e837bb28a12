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

static int
set_up(void **state)
{
	struct recorder_world *w = recorder_world_new("a1 b1", false);

	w->r->options.queue_entries = ENTRIES;
	*state = w;
	return 0;
}

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

/*
 * An object that moved on before the walk came to it is told before the word that all was told, also when the
 * walk is at its end before the writer has pushed the change.
 */
T(what_is_still_to_be_pushed_is_told_before_synced)
{
	char changes[2048], *text = NULL, *last;
	size_t n = 0;

	for (unsigned i = 0; i < MANY; i++)
		n += (size_t)snprintf(changes + n, sizeof(changes) - n, "k%c%c1 ", (int)('a' + i / 26),
				      (int)('a' + i % 26));
	recorder_change(w->fx, changes);
	recorder_change(w->fx, "last1");
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

/* ---- entries that say what is not so ---- */

/* "z" is in namespace x, and the newest change is z's; others are in "default" and older. */
struct lie {
	enum queue_kind kind;
	const char *old_name, *new_name;
	uint64_t ahead;			/* its seq is so far beyond the newest change's */
};

static uint32_t
ref_of(struct broker_fixture *fx, const char *name)
{
	return name ? store_fixture_find(fx->store, *name == 'z' ? "x" : "default", name) : 0;
}

static void
push_lie(struct broker_fixture *fx, void *context)
{
	const struct lie *l = context;
	struct queue *q = writers_queue(ENTRIES);
	uint64_t head = atomic_load(&q->head);
	const struct object *newest = object_at(&fx->store->arena->view, ref_of(fx, "z"));

	assert_non_null(newest);
	queue_ring(q)[head % ENTRIES] = (struct queue_entry){
		.seq = newest->seq + l->ahead,
		.kind = (uint16_t)l->kind,
		.resource = (uint16_t)fx->store->pods,
		.old_ref = ref_of(fx, l->old_name),
		.new_ref = ref_of(fx, l->new_name),
	};
	atomic_store(&q->head, head + 1);
}

/* Each is said, drops the ring, and what is there is told anew; nothing of what it says is told. */
T(what_an_entry_says_must_be_so)
{
	struct lie lies[] = {
		{.kind = QUEUE_RESET, .ahead = 1},
		{.kind = QUEUE_ADDED, .new_name = "a"},
		{.kind = QUEUE_DELETED, .old_name = "z"},
		{.kind = QUEUE_UPDATED, .old_name = "a", .new_name = "z"},
	};

	w->r->options.namespace_ = "default";
	PLAY(w, "", "+a1* +b1* SYNCED");
	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		char change[16], text[300] = "";

		snprintf(change, sizeof(change), "x/z%u", i + 1);
		recorder_change(w->fx, change);
		broker_fixture_do(w->fx, push_lie, &lies[i]);
		DISPATCH_UNTIL(w->inf, informer_last_error(w->inf, text, sizeof(text)) > 0 &&
					       strstr(text, "the events of pods make no sense"));
		test_clock_move(1000); /* the next ring is asked for after that */
		recorder_expect(w->r, "RESYNC BEGIN +a1* +b1* END SYNCED");
		error_set(w->inf, 0, "%s", "");
	}
}
