/* SPDX-License-Identifier: Apache-2.0 */
/* What calls of the broker cost, as a test says: the thread's work and all clocks move by that much. */
#ifndef TESTS_WRITER_SERVE_GIVEN_COST_H
#define TESTS_WRITER_SERVE_GIVEN_COST_H

#include "tests/support/broker_fixture.h"

struct given_cost {
	_Atomic int dear_fd;        /* the broker's descriptor of an eventfd */
	_Atomic unsigned signal_ms; /* to signal that one */
	_Atomic unsigned accept_us; /* each connection; work alone */
	_Atomic unsigned accepted;
};
extern struct given_cost given_cost;

/* cmocka's, in place of broker_fixture_set_up(): clocks and work stand, and nothing costs anything yet. */
int given_cost_set_up(void **state);

#endif
