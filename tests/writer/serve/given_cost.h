/* SPDX-License-Identifier: Apache-2.0 */
/* What calls of the broker cost, as a test says: the thread's work, or all clocks, move by that much. */
#ifndef TESTS_WRITER_SERVE_GIVEN_COST_H
#define TESTS_WRITER_SERVE_GIVEN_COST_H

#include "tests/support/broker_fixture.h"

struct given_cost {
	_Atomic int slow_fd;        /* the broker's descriptor of an eventfd; a write to that one takes … */
	_Atomic unsigned cpu_ms;    /* … so much work … */
	_Atomic unsigned wall_ms;   /* … and so much time */
	_Atomic unsigned accept_ms; /* each connection, of time */
	_Atomic unsigned accepted;
	_Atomic int watch_error; /* what adding to an epoll instance fails with; 0: it does not */
};
extern struct given_cost given_cost;

/* cmocka's, in place of broker_fixture_set_up(): clocks and work stand, and nothing costs anything yet. */
int given_cost_set_up(void **state);

#endif
