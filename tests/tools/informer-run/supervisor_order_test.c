/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-run's supervisor: when events are sent, which are acknowledged, and how many are held. Without
 * processes, in virtual time.
 */
#include "tests/tools/informer-run/supervisor_fixture.h"

/* Events of one object are sent one at a time over all workers: the next once the last is acknowledged. */
TEST(a_keys_order_holds_over_all_workers)
{
	w->options.workers = 2;
	w->options.window = 1;
	world_begin(w);
	world_offers(w, "+a1 ~a2");
	world_expect(w, 0, 0, 1);
	world_expect_count(w, 1, 0);
	world_offers(w, "+b3");
	world_expect(w, 1, 0, 3);
	world_ack(w, 0, 1);
	world_expect(w, 0, 1, 2);
}

/* The last event before which all are done is acknowledged, in whatever order they were answered. */
TEST(only_events_without_a_gap_are_acknowledged)
{
	world_offers(w, "+a11 +b12 +c15");
	world_acks(w, 0, 12, 15);
	assert_int_equal(w->acknowledged, 0);
	world_ack(w, 0, 11);
	assert_int_equal(w->acknowledged, 15);
}

/* Initial events have no order in time: none is acknowledged before all have come and are done. */
TEST(initial_events_are_acknowledged_together)
{
	struct informer_cursor snapshot = world_cursor(40);

	world_offer_initial(w, "a", 33);
	world_offer_initial(w, "b", 7);
	world_acks(w, 0, 33, 7);
	assert_int_equal(w->acknowledged, 0);
	world_offer_initial(w, "c", 21);
	supervisor_told(w->s, &snapshot, w->now);
	world_offers(w, "~d41");
	world_ack(w, 0, 41);
	assert_int_equal(w->acknowledged, 0);
	world_ack(w, 0, 21);
	assert_int_equal(w->acknowledged, 41);
}

/* Changes that give this handler no event move its cursor too. */
TEST(changes_without_events_are_acknowledged)
{
	struct informer_cursor cursor = world_cursor(90);

	world_offers(w, "+a50");
	supervisor_told(w->s, &cursor, w->now);
	assert_int_equal(w->acknowledged, 0);
	world_ack(w, 0, 50);
	assert_int_equal(w->acknowledged, 90);
}

/* An answer for an event that the worker does not have is refused and changes nothing. */
TEST(answers_for_unknown_events_are_refused)
{
	w->options.workers = 2;
	world_begin(w);
	world_offers(w, "+a1");
	assert_false(supervisor_acknowledged(w->s, 1, 1, w->now));
	assert_false(supervisor_acknowledged(w->s, 0, 2, w->now));
	assert_false(supervisor_retry(w->s, 0, 2, 5, w->now));
	world_ack(w, 0, 1);
	assert_false(supervisor_acknowledged(w->s, 0, 1, w->now));
}

/* A retry is sent after its delay. Later events of its key wait for it, other keys do not. */
TEST(a_retry_keeps_its_keys_order)
{
	world_offers(w, "+a1");
	assert_true(supervisor_retry(w->s, 0, 1, 500, w->now));
	world_offers(w, "~a2 +b3");
	world_expect(w, 0, 0, 1, 3);
	world_pass(w, 499);
	world_expect_count(w, 0, 2);
	world_pass(w, 1);
	world_expect(w, 0, 2, 1);
	world_ack(w, 0, 1);
	world_expect(w, 0, 3, 2);
}

/* A retry without a delay waits 100 ms, doubled each time. */
TEST(retries_without_a_time_double)
{
	world_offers(w, "+a1");
	for (uint64_t n = 1, ms = 100; n <= 5; n++, ms *= 2) {
		assert_true(supervisor_retry(w->s, 0, 1, -1, w->now));
		assert_int_equal(supervisor_next(w->s), w->now + ms);
		world_pass(w, ms);
		world_expect_count(w, 0, n + 1);
	}
}

/* No worker holds more than its window. The source pauses at twice that, and goes on when half is done. */
TEST(held_events_are_limited)
{
	char key[16];

	w->options.workers = 2;
	w->options.window = 4;
	world_begin(w);
	for (uint64_t seq = 1; seq <= 16; seq++) {
		assert_false(w->held);
		snprintf(key, sizeof(key), "k%d", (int)seq);
		world_offer(w, CHANGE_ADDED, key, seq);
	}
	assert_true(w->held);
	world_expect_count(w, 0, 4);
	world_expect_count(w, 1, 4);
	for (size_t n = 0; n < 8; n++) {
		assert_true(w->held);
		world_ack(w, 0, w->workers[0].sent[n]);
	}
	world_ack(w, 1, w->workers[1].sent[0]);
	assert_false(w->held);
	assert_int_equal(w->holds, 1);
}

/* A key that is retried again and again keeps few events, the newest merged, and leaves room for others. */
TEST(a_key_that_is_never_done_takes_little_room)
{
	uint64_t last = 0;

	world_offers(w, "+a1");
	assert_true(supervisor_retry(w->s, 0, 1, 60000, w->now));
	for (uint64_t seq = 2; seq <= 1000; seq++)
		world_offer(w, CHANGE_MODIFIED, "a", seq);
	assert_false(w->held);
	world_offers(w, "+b1001");
	world_ack(w, 0, 1001);
	world_pass(w, 60000);
	for (size_t n = 2; n < w->workers[0].sent_count; n++) {
		last = w->workers[0].sent[n];
		world_ack(w, 0, last);
	}
	world_expect(w, 0, 0, 1, 1001, 1, 2, 3, 1000);
	assert_int_equal(w->acknowledged, 1001);
}

/* If a handler is only slow, each event of a key is kept and the source waits. */
TEST(a_key_whose_handler_is_slow_keeps_each_event)
{
	uint64_t seq = 0;

	while (!w->held)
		world_offer(w, CHANGE_MODIFIED, "a", ++seq);
	assert_int_equal(seq, 32);
	for (uint64_t n = 1; n <= seq; n++)
		world_ack(w, 0, n);
	assert_int_equal(w->acknowledged, 32);
}

/* A merged event goes from the first old state to the last new one. A delete and a new add stay two. */
TEST_CASE(merged_events_say_what_happened)
{
	struct text line = TEXT_INIT(-1);
	struct event *event = world_event(CHANGE_MODIFIED, "a", 5),
		     *later = world_event(CHANGE_MODIFIED, "a", 6);

	event->old = strdup("{\"v\":4}");
	event->old_length = 7;
	later->old = strdup("{\"v\":5}");
	later->old_length = 7;
	assert_true(event_merge(event, later));
	event_line(event, &line);
	assert_string_equal(line.data, "{\"seq\":6,\"type\":\"MODIFIED\",\"initial\":false,\"coalesced\":"
				       "true,\"object\":{\"v\":6},\"old\":{\"v\":4}}\n");
	later = world_event(CHANGE_DELETED, "a", 7);
	later->final_unknown = true;
	assert_true(event_merge(event, later));
	line.length = 0;
	event_line(event, &line);
	assert_string_equal(line.data,
			    "{\"seq\":7,\"type\":\"DELETED\",\"initial\":false,\"finalStateKnown\":false,"
			    "\"coalesced\":true,\"object\":{\"v\":7}}\n");
	later = world_event(CHANGE_ADDED, "a", 8);
	assert_false(event_merge(event, later));
	event_free(event);
	event = later;
	assert_true(event_merge(event, world_event(CHANGE_MODIFIED, "a", 9)));
	line.length = 0;
	event_line(event, &line);
	assert_string_equal(
		line.data,
		"{\"seq\":9,\"type\":\"ADDED\",\"initial\":false,\"coalesced\":true,\"object\":{\"v\":9}}\n");
	event_free(event);
	text_done(&line);
}

/* COALESCED is sent in its place. RESYNC_END is sent once every key before it was answered. */
TEST(marks_are_sent_in_their_place)
{
	world_offers(w, "+a1");
	world_offer(w, CHANGE_COALESCED, NULL, 1);
	world_offers(w, "+b2");
	world_expect(w, 0, 0, 1, MARK(CHANGE_COALESCED), 2);
	world_offer(w, CHANGE_RESYNC, NULL, 9);
	world_offer_initial(w, "c", 3);
	world_expect_count(w, 0, 3);
	world_acks(w, 0, 1, 2);
	world_expect(w, 0, 3, MARK(CHANGE_RESYNC), 3);
	world_offer(w, CHANGE_RESYNC_END, NULL, 9);
	world_offers(w, "+d10");
	world_expect_count(w, 0, 5);
	assert_int_equal(w->acknowledged, 2);
	world_ack(w, 0, 3);
	world_expect(w, 0, 5, MARK(CHANGE_RESYNC_END), 10);
	assert_int_equal(w->acknowledged, 9);
}

/* A key that is retried does not delay RESYNC_END: its event was sent. */
TEST(a_retry_does_not_delay_marks)
{
	world_offer(w, CHANGE_RESYNC, NULL, 9);
	world_offer_initial(w, "a", 3);
	world_offer(w, CHANGE_RESYNC_END, NULL, 9);
	assert_true(supervisor_retry(w->s, 0, 3, 1000, w->now));
	world_offers(w, "~b10");
	world_expect(w, 0, 0, MARK(CHANGE_RESYNC), 3, MARK(CHANGE_RESYNC_END), 10);
	world_ack(w, 0, 10);
	assert_int_equal(w->acknowledged, 0);
	world_pass(w, 1000);
	world_ack(w, 0, 3);
	assert_int_equal(w->acknowledged, 10);
}

/* A worker that starts during a RESYNC is told so, with the RESYNC's number. */
TEST(a_worker_that_starts_amid_a_resync_is_told)
{
	struct event *resync = event_new(CHANGE_RESYNC, NULL);

	resync->resync = 77;
	assert_int_equal(supervisor_offer(w->s, resync, w->now), 0);
	world_offer_initial(w, "a", 3);
	world_crash(w, 0);
	world_pass(w, 100);
	world_expect(w, 0, 0, MARK(CHANGE_RESYNC), 3, MARK(CHANGE_RESYNC), 3);
	assert_int_equal(w->resync, 77);
}

/* A seq may come twice, as a new lineage counts anew. One worker never holds both: answers name seqs. */
TEST(a_seq_is_unique_in_a_worker)
{
	world_offers(w, "+a5 +b5");
	world_expect(w, 0, 0, 5);
	world_ack(w, 0, 5);
	world_expect(w, 0, 1, 5);
	world_ack(w, 0, 5);
	assert_false(supervisor_busy(w->s));
}

/* A draining supervisor sends nothing more and still takes answers. */
TEST(draining_sends_nothing_more)
{
	world_offers(w, "+a1 ~a2");
	supervisor_drain(w->s);
	assert_true(w->held);
	assert_true(supervisor_busy(w->s));
	world_ack(w, 0, 1);
	assert_false(supervisor_busy(w->s));
	world_expect(w, 0, 0, 1);
	assert_int_equal(w->acknowledged, 1);
	world_crash(w, 0);
	world_pass(w, 100000);
	assert_int_equal(w->workers[0].starts, 1);
}

/* After an event is lost for want of memory nothing is acknowledged: it comes again after a restart. */
TEST(after_a_loss_nothing_is_acknowledged)
{
	world_offers(w, "+a1");
	supervisor_lose(w->s);
	world_offers(w, "+b3");
	world_acks(w, 0, 1, 3);
	assert_int_equal(w->acknowledged, 0);
}
