/* SPDX-License-Identifier: Apache-2.0 */
/* informer-run's supervisor when handlers crash, hang and misbehave; without processes, in virtual time. */
#include "tests/tools/informer-run/supervisor_fixture.h"

/* The events of a crashed worker are sent again first, one at a time, in order of arrival. */
TEST(events_of_a_crashed_worker_are_sent_again)
{
	world_offers(w, "+a1 +b2 +c3");
	world_crash(w, 0);
	world_offers(w, "+d4");
	world_expect_count(w, 0, 3);
	world_pass(w, 100);
	assert_int_equal(w->workers[0].starts, 2);
	for (uint64_t seq = 1; seq <= 4; seq++) {
		world_expect(w, 0, 2 + seq, seq);
		world_ack(w, 0, seq);
	}
	assert_int_equal(w->acknowledged, 4);
}

/* An event on which three handlers crashed is set aside and acknowledged. All other events are delivered. */
TEST(a_poison_event_is_set_aside_and_the_rest_goes_on)
{
	struct supervisor_stats stats;
	unsigned crashes = 0;

	for (uint64_t seq = 1; seq <= 5; seq++)
		world_offer(w, CHANGE_ADDED, (char[]){(char)('a' + seq), 0}, seq);
	for (size_t n = 0; n < w->workers[0].sent_count; n++) {
		if (w->workers[0].sent[n] == 3) {
			/* later events are lost with the worker */
			n = w->workers[0].sent_count - 1;
			crashes++;
			world_crash(w, 0);
			world_pass(w, 30000);
		} else {
			world_ack(w, 0, w->workers[0].sent[n]);
		}
	}
	assert_int_equal(crashes, 3);
	assert_int_equal(w->dead_count, 1);
	assert_int_equal(w->dead[0], 3);
	assert_int_equal(w->acknowledged, 5);
	supervisor_stats(w->s, &stats);
	assert_int_equal(stats.processed, 4);
	assert_int_equal(stats.dead_letters, 1);
	assert_int_equal(stats.restarts, 3);
	assert_int_equal(stats.held, 0);
}

/* A crash with several events in hand sets none aside, because the cause is unknown. */
TEST(an_event_is_set_aside_only_if_it_was_alone)
{
	w->options.max_crashes = 1;
	world_begin(w);
	world_offers(w, "+a1 +b2");
	world_crash(w, 0);
	assert_int_equal(w->dead_count, 0);
	world_pass(w, 100);
	world_ack(w, 0, 1);
	world_crash(w, 0);
	assert_int_equal(w->dead_count, 1);
	assert_int_equal(w->dead[0], 2);
}

/* A handler that crashes on RESYNC gets the events without it. The RESYNC is set aside, and no event. */
TEST(a_resync_that_crashes_handlers_is_set_aside_alone)
{
	struct supervisor_stats stats;

	world_offer_resync(w, true);
	world_expect(w, 0, 0, MARK(CHANGE_RESYNC), 1, 2);
	assert_string_equal(supervisor_unanswered_mark(w->s, 0), "RESYNC");
	world_crash(w, 0);
	world_pass(w, 100);
	world_expect(w, 0, 3, MARK(CHANGE_RESYNC), 1);
	world_crash(w, 0);
	world_pass(w, 200);
	world_expect(w, 0, 5, 1);
	assert_int_equal(w->dead_count, 0);
	world_ack(w, 0, 1);
	assert_int_equal(w->dead_count, 1);
	assert_int_equal(w->dead[0], 9);
	/* nor does this process or the next one get it or its RESYNC_END */
	world_crash(w, 0);
	world_pass(w, 100);
	world_ack(w, 0, 2);
	world_expect(w, 0, 6, 2, 2);
	assert_int_equal(w->acknowledged, 9);
	supervisor_stats(w->s, &stats);
	assert_int_equal(stats.processed, 2);
	assert_int_equal(stats.dead_letters, 1);
	assert_int_equal(stats.resyncs_aside, 1);
	/* the next RESYNC is another: this process gets it and its RESYNC_END, and so does a new process */
	world_offer_resync(w, true);
	world_acks(w, 0, 1, 2);
	world_expect(w, 0, 8, MARK(CHANGE_RESYNC), 1, 2, MARK(CHANGE_RESYNC_END));
	world_offer_resync(w, false);
	world_crash(w, 0);
	world_pass(w, 100);
	world_expect(w, 0, 12, MARK(CHANGE_RESYNC), 1, 2, MARK(CHANGE_RESYNC), 1);
}

/* Also with one permitted crash, an event that was sent after a mark is tried without it. */
TEST(an_event_is_not_blamed_for_a_mark)
{
	static const enum change_type marks[] = {CHANGE_COALESCED, CHANGE_RESYNC, CHANGE_RESYNC_END};

	w->options.max_crashes = 1;
	for (size_t k = 0; k < 3; k++) {
		world_begin(w);
		world_offer(w, marks[k], NULL, 1);
		world_offers(w, "+a2");
		world_expect(w, 0, 0, MARK(marks[k]), 2);
		world_crash(w, 0);
		world_pass(w, 100);
		world_expect(w, 0, 2, 2);
		assert_int_equal(w->dead_count, 0);
		world_crash(w, 0);
		assert_int_equal(w->dead_count, 1);
		assert_int_equal(w->dead[0], 2);
	}
}

/* An event at fault right after RESYNC is found, and the next process gets the RESYNC again. */
TEST(an_event_at_fault_after_a_resync_is_set_aside)
{
	world_offer_resync(w, false);
	for (unsigned n = 0; n < 3; n++) {
		world_crash(w, 0);
		world_pass(w, 400);
	}
	assert_int_equal(w->dead_count, 1);
	assert_int_equal(w->dead[0], 1);
	world_expect(w, 0, 3, MARK(CHANGE_RESYNC), 1, 1, MARK(CHANGE_RESYNC), 2);
}

/* A RESYNC after which a process answered is not blamed later, and each process gets it. */
TEST(a_resync_that_a_handler_got_past_is_not_blamed)
{
	world_offer_resync(w, false);
	world_ack(w, 0, 1);
	assert_null(supervisor_unanswered_mark(w->s, 0));
	for (unsigned n = 0; n < 3; n++) {
		world_crash(w, 0);
		world_pass(w, 400);
	}
	assert_int_equal(w->dead_count, 1);
	assert_int_equal(w->dead[0], 2);
	world_expect(w, 0, 3, MARK(CHANGE_RESYNC), 2, MARK(CHANGE_RESYNC), 2, MARK(CHANGE_RESYNC));
}

/* Nor is a RESYNC after which another worker answered, even if this worker answers without it. */
TEST(a_resync_that_another_worker_got_past_is_not_blamed)
{
	for (unsigned late = 0; late < 2; late++) {
		w->options.workers = 2;
		world_begin(w);
		world_offer_resync(w, false);
		world_expect(w, 1, 0, MARK(CHANGE_RESYNC), 2);
		world_crash(w, 1);
		world_pass(w, 100);
		world_crash(w, 1);
		if (late)
			world_pass(w, 200);
		world_ack(w, 0, 1);
		world_pass(w, 200);
		if (late)
			world_expect(w, 1, 4, 2);
		else
			world_expect(w, 1, 4, MARK(CHANGE_RESYNC), 2);
		world_ack(w, 1, 2);
		assert_int_equal(w->dead_count, 0);
	}
}

/* While one worker's events are retried one at a time, other workers take other keys. */
TEST(other_workers_go_on_during_retries)
{
	w->options.workers = 2;
	w->options.window = 2;
	world_begin(w);
	world_offers(w, "+a1 +b2 +c3");
	world_expect(w, 0, 0, 1, 3);
	world_crash(w, 0);
	world_ack(w, 1, 2);
	world_offers(w, "+d4");
	world_expect(w, 1, 1, 4);
	world_pass(w, 100);
	world_expect(w, 0, 2, 1);
	world_offers(w, "+e5");
	world_expect(w, 1, 2, 5);
	world_expect_count(w, 0, 3);
}

/*
 * Crashes without an acknowledgement delay the next start: 100 ms, doubled each time, at most 30 s. An
 * acknowledgement resets the delay.
 */
TEST(starts_are_delayed_more_and_more)
{
	for (unsigned n = 0; n < 12; n++) {
		uint64_t ms = n < 9 ? 100u << n : 30000;

		world_crash(w, 0);
		world_pass(w, ms - 1);
		assert_int_equal(w->workers[0].starts, n + 1);
		world_pass(w, 1);
		assert_int_equal(w->workers[0].starts, n + 2);
	}
	world_offers(w, "+a1");
	world_ack(w, 0, 1);
	world_crash(w, 0);
	world_pass(w, 100);
	assert_int_equal(w->workers[0].starts, 14);
}

/* A handler that crashes on every event is slowed down: ten events take minutes. */
TEST(a_handler_that_only_crashes_is_slowed_down)
{
	uint64_t start = w->now;

	for (uint64_t seq = 1; seq <= 10; seq++)
		world_offer(w, CHANGE_ADDED, (char[]){(char)('a' + seq), 0}, seq);
	while (w->dead_count < 10) {
		if (supervisor_busy(w->s))
			world_crash(w, 0);
		else
			world_pass(w, supervisor_next(w->s) - w->now);
	}
	assert_true(w->now - start > 300000);
}

/* Poison events far apart do not add up: after a success the delays begin anew. */
TEST(poison_events_do_not_add_up)
{
	for (uint64_t seq = 1; seq <= 20; seq++) {
		world_offer(w, CHANGE_ADDED, "a", seq);
		if (seq % 2 == 0) {
			world_ack(w, 0, seq);
			continue;
		}
		for (unsigned n = 0; n < 3; n++) {
			world_crash(w, 0);
			world_pass(w, 400);
		}
	}
	assert_int_equal(w->dead_count, 10);
	assert_int_equal(w->acknowledged, 20);
}

/* A worker that does not answer its oldest event by the deadline is killed. That counts as a crash. */
TEST(a_hung_worker_is_killed)
{
	world_offers(w, "+a1 +b2");
	world_pass(w, 20000);
	/* the second event's deadline begins now */
	world_ack(w, 0, 1);
	world_pass(w, 29999);
	assert_false(w->workers[0].killed);
	world_pass(w, 1);
	assert_true(w->workers[0].killed);
	world_offers(w, "+c3");
	world_expect(w, 0, 0, 1, 2);
	world_crash(w, 0);
	world_pass(w, 100);
	world_expect(w, 0, 2, 2);
}

TEST(an_idle_worker_has_no_deadline)
{
	world_offers(w, "+a1");
	world_ack(w, 0, 1);
	assert_int_equal(supervisor_next(w->s), SUPERVISOR_NEVER);
}

/* An ending worker's answers count, but it is sent nothing: its end would count as a crash of that event. */
TEST(a_worker_that_ends_is_sent_nothing_more)
{
	world_offers(w, "+a1 ~a2");
	supervisor_closing(w->s, 0);
	world_ack(w, 0, 1);
	world_expect(w, 0, 0, 1);
	world_crash(w, 0);
	world_pass(w, 100);
	world_expect(w, 0, 1, 2);
}

/* If dead letters cannot be written, the event stays and is retried later. */
TEST(an_event_stays_when_it_cannot_be_set_aside)
{
	w->options.max_crashes = 1;
	world_begin(w);
	w->dead_error = -ENOSPC;
	world_offers(w, "+a1");
	world_crash(w, 0);
	world_pass(w, 29999);
	world_expect_count(w, 0, 1);
	world_offers(w, "+b2");
	world_ack(w, 0, 2);
	assert_int_equal(w->acknowledged, 0);
	world_pass(w, 1);
	world_expect(w, 0, 0, 1, 2, 1);
	w->dead_error = 0;
	world_crash(w, 0);
	assert_int_equal(w->dead_count, 1);
	assert_int_equal(w->acknowledged, 2);
}

/* A command that cannot be started is retried with growing delays, and its events wait. */
TEST(a_command_that_does_not_start_is_tried_again)
{
	w->start_error = -ENOENT;
	world_crash(w, 0);
	world_offers(w, "+a1");
	world_pass(w, 10000);
	assert_int_equal(w->workers[0].starts, 1);
	w->start_error = 0;
	world_pass(w, 30000);
	assert_int_equal(w->workers[0].starts, 2);
	world_expect(w, 0, 0, 1);
}

/* With one process an event, its exit code is the answer: 0 done, 75 retry, else a crash with few retries. */
TEST(short_processes_answer_by_their_exit_code)
{
	w->options.exec = true;
	world_begin(w);
	world_offers(w, "+a1 +b2");
	world_expect(w, 0, 0, 1);
	supervisor_exited(w->s, 0, SUPERVISOR_END_DONE, "exit code 0", w->now);
	assert_int_equal(w->acknowledged, 1);
	world_expect(w, 0, 1, 2);
	supervisor_exited(w->s, 0, SUPERVISOR_END_RETRY, "exit code 75", w->now);
	world_pass(w, 99);
	world_expect_count(w, 0, 2);
	world_pass(w, 1);
	world_expect(w, 0, 2, 2);
	for (unsigned n = 0; n < 3; n++) {
		world_crash(w, 0);
		world_pass(w, 400);
	}
	assert_int_equal(w->dead_count, 1);
	assert_int_equal(w->dead[0], 2);
	assert_int_equal(w->acknowledged, 2);
	assert_int_equal(w->workers[0].starts, 0);
}

/* An event that crashes its process does not hinder the processes of other events. */
TEST(a_short_process_crashes_alone)
{
	w->options.exec = true;
	world_begin(w);
	world_offers(w, "+a1 ~a2 +b3");
	world_crash(w, 0);
	world_expect(w, 0, 0, 1, 3);
	supervisor_exited(w->s, 0, SUPERVISOR_END_DONE, "exit code 0", w->now);
	world_expect_count(w, 0, 2);
	world_pass(w, 100);
	world_expect(w, 0, 2, 1);
}

TEST(a_short_process_that_cannot_start_counts_as_crashed)
{
	w->options.exec = true;
	world_begin(w);
	w->send_error = -EAGAIN;
	world_offers(w, "+a1");
	assert_false(supervisor_busy(w->s));
	world_pass(w, 1000);
	assert_int_equal(w->dead_count, 1);
}
