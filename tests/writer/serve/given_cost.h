/* SPDX-License-Identifier: Apache-2.0 */
/* Sets what calls of the broker cost: each moves the thread's CPU clock, or all clocks, by that much. */
#ifndef TESTS_WRITER_SERVE_GIVEN_COST_H
#define TESTS_WRITER_SERVE_GIVEN_COST_H

#include "tests/support/broker_fixture.h"

struct given_cost {
	_Atomic int slow_fd;        /* the broker's descriptor of an eventfd whose writes cost … */
	_Atomic unsigned cpu_ms;    /* … so much CPU time … */
	_Atomic unsigned wall_ms;   /* … and so much time */
	_Atomic unsigned accept_ms; /* time for each connection */
	_Atomic unsigned accepted;
	_Atomic int watch_error; /* error of adding to an epoll instance; 0: none */
};
extern struct given_cost given_cost;

/* Set-up in place of broker_fixture_set_up(): the clocks stand, and nothing costs anything yet. */
int given_cost_set_up(void **state);

#endif
