/* SPDX-License-Identifier: Apache-2.0 */
/* SIGHUP as a descriptor. */
#include <poll.h>
#include <signal.h>

#include "tests/room.h"
#include "writer/base/hangup.h"

/* The signal makes the descriptor readable until it is taken; several are one, and none ends the process. */
TEST_CASE(several_hangups_are_one)
{
	struct pollfd fd = {.fd = hangup_open(), .events = POLLIN};

	assert_true(fd.fd >= 0);
	assert_false(hangup_take(fd.fd));
	assert_int_equal(poll(&fd, 1, 0), 0);
	raise(SIGHUP);
	raise(SIGHUP);
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_true(hangup_take(fd.fd));
	assert_false(hangup_take(fd.fd));
	raise(SIGHUP);
	assert_true(hangup_take(fd.fd));
}
