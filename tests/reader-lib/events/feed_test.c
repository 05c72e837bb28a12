/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that a handler gets through overflows, generations, a daemon that dies, stalls and garbage. A
 * random model checks them: each step told is one that the object took, in order; the last state told is the
 * present one.
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
#define MANY (2 * FEED_BATCH)	/* objects: more than one turn of the feed tells */

/* ---- the model ---- */

/* SEED=n repeats a sequence of changes. */
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
		/* now and then created anew without its deletion being seen */
		anew = random_below(10) == 0;
		history_put(history, fx, key, random_below(3) != 0, anew);
	}
	store_set_state(fx->store->store, fx->store->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(fx->store->store), 0);
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
 * Run `rounds` rounds of changes with handlers of all kinds, under informer_run() or dispatched. Every
 * `adopt` rounds a new generation starts.
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
	broker_fixture_remember(fx, tombstones);
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
		/* the start after next revokes the arena: what a call could not read by then is told again */
		if (adopt && i % adopt == adopt / 2)
			AWAIT(all_agree(views));
		if (adopt && i % adopt == 0) {
			broker_fixture_stop(fx);
			broker_fixture_adopt(fx);
			broker_fixture_remember(fx, tombstones);
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

/* Small queues and stalling handlers overflow all the time, and no change is lost. */
TEST_CASE(overflows_lose_no_change)
{
	model(1000, 0, 10000, true);
}

TEST_CASE(an_event_loop_loses_no_change)
{
	model(1000, 0, 10000, false);
}

TEST_CASE(new_generations_lose_no_change)
{
	model(400, 20, 10000, true);
}

/* A handler that falls behind gets a RESYNC when deletions were forgotten. */
TEST_CASE(forgotten_deletions_bring_a_resync)
{
	model(800, 50, 3, true);
}

/* ---- generations ---- */

SET_UP(set_up, recorder_world_new("a1 b1", true))
SET_UP(set_up_one_arena, recorder_world_new("a1 b1", false))

#define TEST(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* Dispatch until events come from the current arena. */
static void
await_new_ring(struct recorder_world *w)
{
	struct ring **ring = &w->r->handler->work->feed.ring;

	DISPATCH_UNTIL(w->inf, *ring && (*ring)->mapping == atomic_load(&w->inf->current));
}

/* Events waiting in the old ring are told first, then those of the next daemon; nothing is coalesced. */
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

/* The daemon dies, the next one adopts its arena, and the reader attaches to it. */
static void
another_daemon(struct recorder_world *w)
{
	broker_fixture_stop(w->fx);
	dispatch_until_connected(w->inf, false);
	broker_fixture_adopt(w->fx);
	broker_fixture_start(w->fx);
	dispatch_until_connected(w->inf, true);
}

/* The daemon dies with changes waiting and returns: the reader resumes without duplicates. */
TEST(the_reader_resumes_with_the_next_daemon)
{
	PLAY(w, "", "+a1* +b1* SYNCED");
	recorder_change(w->fx, "a2");
	another_daemon(w);
	recorder_expect(w->r, "a1>a2");
	await_new_ring(w);
	PLAY(w, "a3", "a2>a3");
}

/* A call slow enough to end the turn. */
static void
take_long(struct recorder *r)
{
	(void)r;
	test_clock_move(20);
}

/* One turn, only if it is due, as informer_dispatch() takes when each turn uses up its time. */
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

/* A change during an interrupted walk, which no ring holds, is told though nothing changes any more. */
TEST(a_change_during_a_walk_is_told_without_another)
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

/* SYNCED is told without another change when a slow call ended the turn with the ring's last event. */
TEST(synced_is_told_after_a_slow_call_without_another_change)
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

/* During the call start two daemons: the second revokes the arena that the handler still reads. */
static void
start_twice(struct recorder *r)
{
	struct recorder_world *w = r->context;

	r->each = NULL;
	broker_fixture_adopt(w->fx);
	broker_fixture_adopt(w->fx);
}

/* Two daemons start while `change` is told; `expected` is told up to the next change. */
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

/* Only the object of a call under way when the arena is revoked is told again. */
TEST(an_update_told_from_a_revoked_arena_is_told_again)
{
	outlive_the_arena(w, "a2", "a1>a2 COALESCED ?>a2");
}

TEST(a_deletion_told_from_a_revoked_arena_is_told_again)
{
	outlive_the_arena(w, "-b", "-b1 COALESCED -b1");
}

TEST(changes_while_no_daemon_served_are_a_catch_up)
{
	PLAY(w, "", "+a1* +b1* SYNCED");
	recorder_change(w->fx, "a2");
	broker_fixture_stop(w->fx);
	broker_fixture_adopt(w->fx);
	recorder_change(w->fx, "a3 c1 -b");
	broker_fixture_start(w->fx);
	recorder_expect(w->r, "a1>a2 COALESCED ?>a3 +c1 -b1");
}

/* Overflow the queue once and let the handler catch up. Returns the version of a that it then knows. */
static unsigned
overflow_once(struct recorder_world *w)
{
	char expected[2048];

	w->r->options.queue_entries = QUEUE_ENTRIES_MIN;
	PLAY(w, "", "+a1* +b1* SYNCED");
	recorder_world_update(w, 2, QUEUE_ENTRIES_MIN + 1, expected, sizeof(expected));
	snprintf(expected, sizeof(expected), "COALESCED ?>a%u", QUEUE_ENTRIES_MIN + 2);
	recorder_expect(w->r, expected);
	return QUEUE_ENTRIES_MIN + 2;
}

/* After an overflow a restart tells nothing anew. */
TEST(after_an_overflow_the_reader_resumes_with_the_next_daemon)
{
	unsigned version = overflow_once(w);
	char expected[2048];

	another_daemon(w);
	await_new_ring(w);
	recorder_world_update(w, version + 1, 3, expected, sizeof(expected));
	recorder_expect(w->r, expected);
}

/* A handler paused during that restart is told each change that waits in the new ring. */
TEST(after_an_overflow_a_paused_handler_is_told_each_change)
{
	unsigned version = overflow_once(w);
	char expected[2048];

	informer_pause_handler(w->r->handler, true);
	another_daemon(w);
	DISPATCH_UNTIL(w->inf, subscription_has_arrived(&w->r->handler->work->sub));
	recorder_world_update(w, version + 1, QUEUE_ENTRIES_MIN, expected, sizeof(expected));
	informer_pause_handler(w->r->handler, false);
	recorder_expect(w->r, expected);
}

/* Pods get another fingerprint: their store is emptied and listed anew. */
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

/* A redefined resource is compared once its list is in; the next event is told as usual. */
TEST(a_redefined_resource_is_compared)
{
	PLAY(w, "", "+a1* +b1* SYNCED");
	broker_fixture_do(w->fx, empty_pods, NULL);
	PLAY(w, "~a2;c1", "COALESCED ?>a2 +c1 -b!", "a3", "a2>a3");
}

/* At the first event of a catch-up, delete so many objects that earlier deletions are forgotten. */
static void
make_it_forget(struct recorder *r)
{
	struct recorder_world *w = r->context;

	r->each = NULL;
	recorder_change(w->fx, "-ya -yb -yc -yd");
}

/* Dispatch until one of the two texts was told. Returns all that was told. */
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

/* A deletion forgotten before a catch-up reaches it is still told: the handler compares everything. */
TEST(a_deletion_forgotten_during_a_catch_up_is_told)
{
	char *text;

	broker_fixture_remember(w->fx, 3);
	recorder_change(w->fx, "ya1 yb1 yc1 yd1 z1");
	recorder_world_many(w, MANY, 1);
	w->r->options.queue_entries = QUEUE_ENTRIES_MIN;
	recorder_add(w->r);
	DISPATCH_UNTIL(w->inf, informer_handler_has_synced(w->r->handler));
	free(recorder_text(w->r, true));
	/* the catch-up reaches z's deletion in a later turn, with a newer root */
	recorder_world_many(w, MANY, 2);
	recorder_change(w->fx, "-z");
	w->r->context = w;
	w->r->each = make_it_forget;
	text = told_up_to(w, "-z!", "-z1");
	assert_null(strstr(text, "-z1"));
	free(text);
}

/* A handler that returns under its name resumes at its cursor; another name gets a RESYNC. */
TEST(a_named_consumer_resumes_at_its_cursor)
{
	w->r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED", "a2", "a1>a2", "DETACH;a3 -b c1;ATTACH",
	     "COALESCED ?>a3 -b1 +c1 SYNCED");
	w->other->inf = w->inf;
	w->other->options.consumer = "other";
	recorder_add(w->other);
	recorder_expect(w->other, "RESYNC BEGIN +a3* +c1* END SYNCED");
	/* and over the daemon's death, with nothing to tell */
	PLAY(w, "c2", "c1>c2");
	recorder_change(w->fx, "");
	recorder_world_happen(w, "DETACH");
	broker_fixture_adopt(w->fx);
	PLAY(w, "ATTACH", "SYNCED", "c3", "c2>c3");
}

/* When the arena is lost, the name is lost too: the RESYNC drops objects that are not told again. */
TEST_CASE_OF(struct recorder_world *w, set_up_one_arena, recorder_world_tear_down,
	     a_consumer_of_a_lost_arena_is_resynced)
{
	w->r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED", "c1", "+c1");
	recorder_world_happen(w, "DETACH");
	broker_fixture_replace(w->fx, false);
	/* an unfinished list must not make objects look deleted */
	PLAY(w, "ATTACH;~b1;c2", "RESYNC BEGIN +b1* +c2* END SYNCED", "-b", "-b1");
}

/* Acknowledge everything told so far. Returns the cursor. */
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

/* With manual_ack, events that were not acknowledged are told again after a restart. */
TEST(unacknowledged_events_are_told_again)
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
	assert_int_equal(informer_acknowledge(w->r->handler, &cursor), 0);	/* lower: no effect */
	PLAY(w, "DETACH;ATTACH", "COALESCED ?>b2 +c1 SYNCED");
}

/*
 * An object told but not acknowledged, and deleted while the consumer is away, is told as deleted. Otherwise
 * the consumer would keep it for ever. So a consumer may be told deletions of objects that it never heard of.
 */
TEST(an_unacknowledged_object_that_is_gone_is_deleted)
{
	w->r->options.consumer = "agent";
	w->r->options.manual_ack = true;
	w->r->options.label_selector = "app!=db";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED");
	acknowledge_all(w);
	PLAY(w, "c1 d1", "+c1 +d1", "DETACH;-c d2:db e1;ATTACH", "COALESCED -c1 -d2? +e1 SYNCED");
}

/* If that catch-up becomes a RESYNC, the stored cursor does not tell which keys the consumer has. */
TEST(a_resync_drops_unacknowledged_objects)
{
	char *text;

	broker_fixture_remember(w->fx, 3);
	recorder_change(w->fx, "ya1 yb1 yc1 yd1");
	recorder_world_many(w, MANY, 1);
	w->r->options.consumer = "agent";
	w->r->options.manual_ack = true;
	w->r->options.label_selector = "app!=db";
	recorder_add(w->r);
	free(told_up_to(w, "SYNCED", "SYNCED"));
	acknowledge_all(w);
	recorder_change(w->fx, "z1");
	free(told_up_to(w, "+z1", "+z1"));
	recorder_world_happen(w, "DETACH");
	/* the catch-up would reach its deletion in a later turn */
	recorder_world_many(w, MANY, 2);
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

/* A RESYNC tells adds only, also for objects that the stored cursor knows. */
TEST(a_resync_forgets_the_stored_cursors_keys)
{
	w->r->options.consumer = "agent";
	PLAY(w, "", "RESYNC BEGIN +a1* +b1* END SYNCED");
	recorder_world_happen(w, "DETACH;a2");
	w->r->each = lose_track;
	PLAY(w, "ATTACH", "COALESCED ?>a2 RESYNC BEGIN +b1* +a2* END SYNCED");
}

/* A consumer name in use is refused with a message; the reader asks again until the name is free. */
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
	test_clock_move(1000); /* the reader asks again after that time */
	recorder_change(w->fx, "a2");
	recorder_expect(r, "COALESCED ?>a2 SYNCED");
	informer_detach(other);
	recorder_free(r);
}
