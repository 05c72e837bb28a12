/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream that a handler gets, whatever happens: overflows, generations, a daemon that dies, a reader that
 * stalls, garbage. A random model: each step that is told must be one that the object really took, in order,
 * and in the end what was told is what is there.
 */
#include <sched.h>

#include "reader-lib/attach/connection.h"
#include "reader-lib/events/handler.h"
#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/handler_view.h"
#include "tests/support/test_clock.h"

#define LATE 4
#define VIEWS (LATE + 1)

/* ---- the model ---- */

/* SEED=n: the same course of changes again. */
static uint32_t random_state;

static unsigned
random_below(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % n;
}

static void
some_changes(struct broker_fixture *fx, void *context)
{
	struct history *history = context;

	for (unsigned i = random_below(12); i > 0; i--) {
		unsigned key = random_below(KEYS);
		bool anew;

		if (history->now[key] && random_below(4) == 0) {
			history_delete(history, fx, key);
			continue;
		}
		/* created anew without having been seen to go, now and then */
		anew = random_below(10) == 0;
		history_put(history, fx, key, random_below(3) != 0, anew);
	}
	store_set_state(fx->store->store, fx->store->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(fx->store->store), 0);
}

static void
short_memory(struct broker_fixture *fx, void *context)
{
	store_set_tombstone_limits(
		fx->store->store, fx->store->pods,
		(struct tombstone_limits){*(const uint64_t *)context, 16u << 20, 300ull * 1000000000u});
}

static bool
all_agree(const struct view views[VIEWS])
{
	bool all = true;

	for (unsigned i = 0; i < VIEWS; i++)
		all &= !views[i].handler || view_agrees(&views[i]);
	return all;
}

/*
 * rounds of changes, with a new generation (every `adopt` rounds; the daemon dies every other time) and
 * handlers of all kinds, under informer_run() or dispatched.
 */
static void
model(unsigned rounds, unsigned adopt, uint64_t tombstones, bool run)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct history *history = calloc(1, sizeof(*history));
	struct view views[VIEWS] = {0};
	struct informer *inf;
	unsigned seed = (unsigned)test_seed(1);

	assert_non_null(history);
	print_message("SEED=%u\n", seed);
	random_state = seed | 1;
	broker_fixture_keep_generations(fx);
	broker_fixture_do(fx, short_memory, &tombstones);
	broker_fixture_start(fx);
	broker_fixture_do(fx, some_changes, history);
	inf = broker_fixture_attach(fx, 0);
	view_add(&views[0], "all", history, inf);
	views[1].stall = 100;
	view_add(&views[1], "slow", history, inf);
	views[2].web_only = true;
	view_add(&views[2], "web", history, inf);
	views[3].web_only = true;
	views[3].stall = 100;
	view_add(&views[3], "web, slow", history, inf);
	if (run)
		assert_int_equal(informer_run(inf), 0);
	for (unsigned i = 1; i <= rounds; i++) {
		if (i == rounds / 2)
			view_add(&views[LATE], "late", history, inf);
		broker_fixture_do(fx, some_changes, history);
		if (!run && random_below(8) == 0)
			informer_dispatch(inf);
		/* the start after next takes back the arena: what a call could not read then is told again */
		if (adopt && i % adopt == adopt / 2)
			AWAIT(all_agree(views));
		if (adopt && i % adopt == 0) {
			broker_fixture_stop(fx);
			broker_fixture_adopt(fx);
			broker_fixture_do(fx, short_memory, &tombstones);
			if (random_below(2))
				broker_fixture_do(fx, some_changes, history);
			broker_fixture_start(fx);
		}
		if (random_below(20) == 0) {
			struct view *v = &views[random_below(LATE)];

			informer_pause_handler(v->handler, true);
			for (unsigned k = random_below(30); k > 0; k--)
				broker_fixture_do(fx, some_changes, history);
			informer_pause_handler(v->handler, false);
		}
	}
	if (run)
		AWAIT(all_agree(views));
	else
		DISPATCH_UNTIL(inf, all_agree(views));
	assert_int_equal(informer_stop(inf), 0);
	for (unsigned i = 0; i < VIEWS; i++) {
		struct view *v = &views[i];

		print_message("%s: %llu calls, %llu initial, %llu overflows, %llu resyncs\n", v->what,
			      (unsigned long long)v->calls, (unsigned long long)v->initials,
			      (unsigned long long)v->overflows, (unsigned long long)v->resyncs);
		assert_string_equal(v->error, "");
		for (unsigned k = 0; k < KEYS; k++)
			if (!v->web_only)
				assert_int_equal(v->told[k], history->now[k]);
		assert_true(view_agrees(v));
	}
	informer_detach(inf);
	broker_fixture_free(fx);
	free(history);
}

/* Small queues, handlers that stall: overflows all the time, and nothing lost. */
TEST_CASE(whatever_overflows_nothing_is_lost)
{
	model(1000, 0, 10000, true);
}

/* Over daemons that die, and the generations of those that follow. */
/* The same in an event loop. */
TEST_CASE(in_an_event_loop_nothing_is_lost)
{
	model(1000, 0, 10000, false);
}

TEST_CASE(over_generations_nothing_is_lost)
{
	model(400, 20, 10000, true);
}

/* Where deletions are forgotten early, handlers that fall behind are told everything anew. */
TEST_CASE(forgotten_deletions_bring_a_resync)
{
	model(800, 50, 3, true);
}

/* ---- generations ---- */

SET_UP(set_up, recorder_world_new("a1 b1", true))
SET_UP(set_up_one_arena, recorder_world_new("a1 b1", false))

#define TEST(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* Until events come from the current arena. */
static void
await_new_ring(struct recorder_world *w)
{
	struct ring **ring = &w->r->handler->work->feed.ring;

	DISPATCH_UNTIL(w->inf, *ring && (*ring)->mapping == atomic_load(&w->inf->current));
}

/* What waits in the old ring is told as it was, then the next daemon's goes on; nothing is coalesced. */
TEST(a_switch_of_generations_loses_no_change)
{
	PLAY(w, "", "+a1* +b1* SYNCED");
	recorder_change(w->fx, "a2");
	recorder_change(w->fx, "a3 -b");
	broker_fixture_adopt(w->fx);
	recorder_expect(w->r, "a1>a2 a2>a3 -b1");
	await_new_ring(w);
	PLAY(w, "a4", "a3>a4");
}

static void
await_connected(struct recorder_world *w, bool connected)
{
	struct informer_status status = {.size = sizeof(status)};

	DISPATCH_UNTIL(w->inf, informer_status(w->inf, &status) == 0 && status.connected == connected);
}

/* The daemon ends without a word, another goes on with what there was, and the reader has its arena. */
static void
another_daemon(struct recorder_world *w)
{
	broker_fixture_stop(w->fx);
	await_connected(w, false);
	broker_fixture_adopt(w->fx);
	broker_fixture_start(w->fx);
	await_connected(w, true);
}

/* The daemon dies with changes waiting and comes back: the reader goes on without a duplicate. */
TEST(a_daemon_that_comes_back_is_gone_on_with)
{
	PLAY(w, "", "+a1* +b1* SYNCED");
	recorder_change(w->fx, "a2");
	another_daemon(w);
	recorder_expect(w->r, "a1>a2");
	await_new_ring(w);
	PLAY(w, "a3", "a2>a3");
}

/* So slow a call that the turn ends with it. */
static void
take_long(struct recorder *r)
{
	(void)r;
	test_clock_move(20);
}

/* As informer_dispatch() does it whose time is over after each turn: another one only if it is due. */
static void
turn_if_due(struct recorder_world *w)
{
	struct informer_handler *h = w->r->handler;

	pthread_mutex_lock(&w->inf->lock);
	connection_step(w->inf);
	pthread_mutex_unlock(&w->inf->lock);
	if (handler_due(h, time_ns(CLOCK_MONOTONIC)))
		handler_turn(h);
	else
		sched_yield();
}

/* A walk was interrupted, what changed since stands in no ring, and nothing changes any more: it is told. */
TEST(what_changed_amid_a_walk_needs_no_further_change)
{
	w->r->each = take_long;
	recorder_add(w->r);
	while (atomic_load(&w->r->handler->events) == 0)
		turn_if_due(w);
	assert_int_equal(atomic_load(&w->r->handler->events), 1);
	w->r->each = NULL;
	broker_fixture_adopt(w->fx);
	recorder_change(w->fx, "b2 c1");
	broker_fixture_adopt(w->fx);
	for (int i = 0; i < 10000 && !atomic_load(&w->r->handler->synced); i++)
		turn_if_due(w);
	assert_true(atomic_load(&w->r->handler->synced));
	recorder_expect(w->r, "+a1* COALESCED +b2* +c1 SYNCED");
}

/* A turn may end with the ring's last change: that all was told is said without a further one. */
TEST(what_a_slow_call_ended_with_needs_no_further_change)
{
	w->r->each = take_long;
	recorder_add(w->r);
	while (atomic_load(&w->r->handler->events) == 0)
		turn_if_due(w);
	recorder_change(w->fx, "b2");
	for (int i = 0; i < 3000 && !atomic_load(&w->r->handler->synced); i++)
		turn_if_due(w);
	assert_true(atomic_load(&w->r->handler->synced));
	recorder_expect(w->r, "+a1* +b2* SYNCED");
	/* and nothing is due any more */
	assert_false(handler_due(w->r->handler, time_ns(CLOCK_MONOTONIC)));
}

/* Two starts: the second one takes back the arena in which the handler still is, amid its call. */
static void
start_twice(struct recorder *r)
{
	struct recorder_world *w = r->context;

	r->each = NULL;
	broker_fixture_adopt(w->fx);
	broker_fixture_adopt(w->fx);
}

/* A change that is told while that happens, and all that is told then, up to the next change. */
static void
outlive_the_arena(struct recorder_world *w, const char *change, const char *expected)
{
	w->r->context = w;
	PLAY(w, "", "+a1* +b1* SYNCED");
	w->r->each = start_twice;
	recorder_change(w->fx, change);
	recorder_expect(w->r, expected);
	await_new_ring(w);
	PLAY(w, "c1", "+c1");
}

/* A call under way when the arena is taken back may not have read its object: that alone is told again. */
TEST(a_call_that_outlives_its_arena_is_told_again)
{
	outlive_the_arena(w, "a2", "a1>a2 COALESCED ?>a2");
}

TEST(a_deletion_that_outlives_its_arena_is_told_again)
{
	outlive_the_arena(w, "-b", "-b1 COALESCED -b1");
}

TEST(what_changed_before_it_was_back_is_a_catch_up)
{
	PLAY(w, "", "+a1* +b1* SYNCED");
	recorder_change(w->fx, "a2");
	broker_fixture_stop(w->fx);
	broker_fixture_adopt(w->fx);
	recorder_change(w->fx, "a3 c1 -b");
	broker_fixture_start(w->fx);
	recorder_expect(w->r, "a1>a2 COALESCED ?>a3 +c1 -b1");
}

/* So many changes of a, one a commit, from version `from` on; what they are told as goes to text. */
static void
many_changes(struct recorder_world *w, unsigned from, unsigned count, char *text, size_t size)
{
	size_t n = 0;

	for (unsigned i = from; i < from + count; i++) {
		char change[16];

		snprintf(change, sizeof(change), "a%u", i);
		recorder_change(w->fx, change);
		n += (size_t)snprintf(text + n, size - n, "%sa%u>a%u", i == from ? "" : " ", i - 1, i);
	}
}

/* A queue that overflowed once, and a handler that caught up. Returns the version that it knows of a. */
static unsigned
overflow_once(struct recorder_world *w)
{
	char expected[2048];

	w->r->options.queue_entries = QUEUE_ENTRIES_MIN;
	PLAY(w, "", "+a1* +b1* SYNCED");
	many_changes(w, 2, QUEUE_ENTRIES_MIN + 1, expected, sizeof(expected));
	snprintf(expected, sizeof(expected), "COALESCED ?>a%u", QUEUE_ENTRIES_MIN + 2);
	recorder_expect(w->r, expected);
	return QUEUE_ENTRIES_MIN + 2;
}

/* After an overflow the handler goes on over a restart, and is told of nothing anew. */
TEST(after_an_overflow_a_restart_is_gone_on_with)
{
	unsigned version = overflow_once(w);
	char expected[2048];

	another_daemon(w);
	await_new_ring(w);
	many_changes(w, version + 1, 3, expected, sizeof(expected));
	recorder_expect(w->r, expected);
}

/* The same for a handler that was held back meanwhile: each change that waits in the new ring is told. */
TEST(after_an_overflow_what_waits_in_the_next_ring_is_told)
{
	unsigned version = overflow_once(w);
	char expected[2048];

	informer_pause_handler(w->r->handler, true);
	another_daemon(w);
	DISPATCH_UNTIL(w->inf, subscription_has_arrived(&w->r->handler->work->sub));
	many_changes(w, version + 1, QUEUE_ENTRIES_MIN, expected, sizeof(expected));
	informer_pause_handler(w->r->handler, false);
	recorder_expect(w->r, expected);
}

/* What pods were cached by is another: they are emptied, and listed anew. */
static void
empty_pods(struct broker_fixture *fx, void *context)
{
	static const uint8_t another[32] = {99};
	struct store *s = fx->store->store;

	(void)context;
	store_unclaim(s, fx->store->pods);
	assert_int_equal(store_add_resource(s, pods_descriptor, another, &fx->store->pods), 0);
	assert_int_equal(store_commit(s), 0);
}

/* What was emptied is compared once its list is in; the next event comes as ever. */
TEST(what_was_emptied_is_told_anew)
{
	PLAY(w, "", "+a1* +b1* SYNCED");
	broker_fixture_do(w->fx, empty_pods, NULL);
	PLAY(w, "~a2;c1", "COALESCED ?>a2 +c1 -b!", "a3", "a2>a3");
}

/* With the first event of a catch-up: deletions, so many that earlier ones are forgotten. */
static void
make_it_forget(struct recorder *r)
{
	struct recorder_world *w = r->context;

	r->each = NULL;
	recorder_change(w->fx, "-ya -yb -yc -yd");
}

/* More objects than a turn of the feed tells, in this version. */
static void
change_many(struct recorder_world *w, unsigned version)
{
	char changes[2048];
	size_t n = 0;

	for (unsigned i = 0; i < 2 * FEED_BATCH; i++)
		n += (size_t)snprintf(changes + n, sizeof(changes) - n, "k%c%c%u ", (int)('a' + i / 26),
				      (int)('a' + i % 26), version);
	recorder_change(w->fx, changes);
}

/* Dispatches until one of the two was told. All that was told since it was last taken. */
static char *
told_up_to(struct recorder_world *w, const char *one, const char *other)
{
	char *text = recorder_text(w->r, false);

	while (!strstr(text, one) && !strstr(text, other)) {
		dispatch_turn(w->inf);
		free(text);
		text = recorder_text(w->r, false);
	}
	return text;
}

/* A deletion that is forgotten before a catch-up comes to it is not lost: everything is compared. */
TEST(a_deletion_forgotten_amid_a_catch_up_is_told)
{
	uint64_t tombstones = 3;
	char *text;

	broker_fixture_do(w->fx, short_memory, &tombstones);
	recorder_change(w->fx, "ya1 yb1 yc1 yd1 z1");
	change_many(w, 1);
	w->r->options.queue_entries = QUEUE_ENTRIES_MIN;
	recorder_add(w->r);
	DISPATCH_UNTIL(w->inf, informer_handler_has_synced(w->r->handler));
	free(recorder_text(w->r, true));
	/* the catch-up comes to z's deletion in a later turn than the first, with a newer root */
	change_many(w, 2);
	recorder_change(w->fx, "-z");
	w->r->context = w;
	w->r->each = make_it_forget;
	text = told_up_to(w, "-z!", "-z1");
	assert_null(strstr(text, "-z1"));
	free(text);
}

/* A handler that comes back under its name goes on where it was; another name gets a RESYNC. */
TEST(a_named_consumer_goes_on_where_it_was)
{
	struct recorder *r;

	w->r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED", "a2", "a1>a2", "DETACH;a3 -b c1;ATTACH",
	     "COALESCED ?>a3 -b1 +c1 SYNCED");
	r = recorder_new(w->inf);
	r->options.consumer = "other";
	recorder_add(r);
	recorder_expect(r, "RESYNC BEGIN +a3* +c1* END SYNCED");
	/* and over the daemon's death, with nothing to tell */
	PLAY(w, "c2", "c1>c2");
	recorder_change(w->fx, "");
	recorder_world_happen(w, "DETACH");
	recorder_free(r);
	broker_fixture_stop(w->fx);
	broker_fixture_adopt(w->fx);
	broker_fixture_start(w->fx);
	PLAY(w, "ATTACH", "SYNCED", "c3", "c2>c3");
}

/* The arena was lost, and with it the name: what the consumer knew and is not told again is gone. */
TEST_CASE_OF(struct recorder_world *w, set_up_one_arena, recorder_world_tear_down,
	     a_consumer_of_a_lost_arena_is_resynced)
{
	w->r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED", "c1", "+c1");
	recorder_world_happen(w, "DETACH");
	broker_fixture_stop(w->fx);
	broker_fixture_replace(w->fx, false);
	broker_fixture_start(w->fx);
	/* a store that is being filled would make what is still to come look gone */
	PLAY(w, "ATTACH;~b1;c2", "RESYNC BEGIN +b1* +c2* END SYNCED", "-b", "-b1");
}

/* Where the handler stands; all up to there is acknowledged. */
static struct informer_cursor
acknowledge_all(struct recorder_world *w)
{
	struct informer_cursor cursor;

	assert_int_equal(informer_handler_cursor(w->r->handler, &cursor), 0);
	assert_int_equal(informer_acknowledge(w->r->handler, &cursor), 0);
	return cursor;
}

static struct informer_cursor first_cursor;

static void
keep_first_cursor(struct recorder *r)
{
	if (first_cursor.seq == 0)
		informer_handler_cursor(r->handler, &first_cursor);
}

/* With manual_ack only what was acknowledged is done; the rest comes again. */
TEST(what_was_not_acknowledged_comes_again)
{
	struct informer_cursor cursor;

	w->r->options.consumer = "agent";
	w->r->options.manual_ack = true;
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED");
	cursor = acknowledge_all(w);
	first_cursor.seq = 0;
	w->r->each = keep_first_cursor;
	PLAY(w, "a2 b2 c1", "a1>a2 b1>b2 +c1");
	assert_int_equal(informer_acknowledge(w->r->handler, &first_cursor), 0);
	assert_int_equal(informer_acknowledge(w->r->handler, &cursor), 0);	/* lower: nothing */
	PLAY(w, "DETACH;ATTACH", "COALESCED ?>b2 +c1 SYNCED");
}

/*
 * What was told, was not acknowledged, and is gone when the consumer comes back is deleted for it, though it
 * was created after its cursor: else it would keep it for ever. That may tell deletes of what it never heard
 * of.
 */
TEST(what_went_unacknowledged_and_is_gone_is_deleted)
{
	w->r->options.consumer = "agent";
	w->r->options.manual_ack = true;
	w->r->options.label_selector = "app!=db";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED");
	acknowledge_all(w);
	PLAY(w, "c1 d1", "+c1 +d1", "DETACH;-c d2:db e1;ATTACH", "COALESCED -c1 -d2? +e1 SYNCED");
}

/* The same, when the catch-up becomes a RESYNC: the stored cursor's keys cannot stand for what it has. */
TEST(what_went_unacknowledged_is_gone_after_a_resync_too)
{
	uint64_t tombstones = 3;
	char *text;

	broker_fixture_do(w->fx, short_memory, &tombstones);
	recorder_change(w->fx, "ya1 yb1 yc1 yd1");
	change_many(w, 1);
	w->r->options.consumer = "agent";
	w->r->options.manual_ack = true;
	w->r->options.label_selector = "app!=db";
	recorder_add(w->r);
	free(told_up_to(w, "SYNCED", "SYNCED"));
	acknowledge_all(w);
	recorder_change(w->fx, "z1");
	free(told_up_to(w, "+z1", "+z1"));
	recorder_world_happen(w, "DETACH");
	/* the catch-up would come to its deletion in a later turn than the first */
	change_many(w, 2);
	recorder_change(w->fx, "-z");
	w->r->context = w;
	w->r->each = make_it_forget;
	recorder_world_happen(w, "ATTACH");
	text = told_up_to(w, "SYNCED", "SYNCED");
	assert_null(strstr(text, "-z1"));
	assert_non_null(strstr(text, "RESYNC BEGIN"));
	assert_non_null(strstr(strstr(text, "BEGIN"), "END"));
	free(text);
}

static void
lose_track(struct recorder *r)
{
	r->each = NULL;
	feed_begin_anew(&r->handler->work->feed);
}

/* What is told anew is told as adds, also of what the stored cursor's keys have. */
TEST(a_resync_begins_without_the_stored_cursor_s_keys)
{
	w->r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED");
	recorder_world_happen(w, "DETACH;a2");
	w->r->each = lose_track;
	PLAY(w, "ATTACH", "COALESCED ?>a2 RESYNC BEGIN +b1* +a2* END SYNCED");
}

/* A name that another process has is refused, said, and asked for again until it is free. */
TEST(a_consumer_that_is_taken_is_waited_for)
{
	struct informer *other = broker_fixture_attach(w->fx, 0);
	struct recorder *r = recorder_new(other);
	char text[300] = "";

	w->r->options.consumer = r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED");
	recorder_add(r);
	DISPATCH_UNTIL(other, informer_error_text(INFORMER_E_REFUSED, text, sizeof(text)) > 0 &&
				      strstr(text, "agent"));
	informer_remove_handler(w->r->handler);
	test_clock_move(1000); /* it is asked for again after that */
	recorder_change(w->fx, "a2");
	recorder_expect(r, "COALESCED ?>a2 SYNCED");
	informer_detach(other);
	recorder_free(r);
}
