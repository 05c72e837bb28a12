/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Reflector when the queue has no memory. An event that could not be queued is not skipped: its RV counts
 * once it is queued.
 */
#include "tests/room.h"
#include "tests/support/reflector_fixture.h"
#include "writer/fifo/delta_table.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void *__libc_realloc(void *memory, size_t size);

static bool no_more_nodes;
static unsigned refused;

/* The C library's, except for the queue's nodes while `left` is 0. */
void *
realloc(void *memory, size_t size)
{
	size_t nodes = size / sizeof(struct delta_node);

	if (no_more_nodes && size % sizeof(struct delta_node) == 0 && nodes > 0 &&
	    (nodes & (nodes - 1)) == 0) {
		refused++;
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(memory, size);
}

static int
tear_down(void **state)
{
	no_more_nodes = false;
	return reflector_fixture_free(*state);
}

/* An event that cannot be queued is asked for again: the next watch begins at the last queued RV. */
TEST_CASE_OF(struct reflector_fixture *t, reflector_set_up, tear_down,
	     an_event_that_cannot_be_queued_comes_again)
{
	char expected[32];
	unsigned last = 10;

	start_watching(t);
	no_more_nodes = true;
	for (unsigned i = 1; refused == 0; i++) {
		send_added(t, i);
		if (refused == 0)
			last = 100 + i;
		assert_in_range(i, 1, 100000);
	}
	no_more_nodes = false;
	if (!server_has_request(t->fx))
		wait_out(t);
	snprintf(expected, sizeof(expected), "WATCH rv=%u; ", last);
	assert_string_equal(diary(t->fx), expected);
}

/* A state that cannot be queued does not move the RV. It is asked for as before. */
TEST_CASE_OF(struct reflector_fixture *t, reflector_set_up_watch_list, tear_down,
	     a_state_that_cannot_be_queued_moves_no_version)
{
	reflector_start(t->reflector, "", 0);
	server_open(t->fx);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
	no_more_nodes = true;
	refused = 0;
	server_send(t->fx, END_MARK, 10);
	assert_in_range(refused, 1, 1);
	no_more_nodes = false;
	if (!server_has_request(t->fx))
		wait_out(t);
	assert_string_equal(diary(t->fx), "WATCHLIST rv=\"\"; WATCHLIST rv=\"\"; ");
}

#endif
