/* SPDX-License-Identifier: Apache-2.0 */
/* Messages. */
#include "tests/room.h"
#include "writer/base/message.h"

/* A quoted name may contain newlines and escape sequences of a terminal. */
TEST_CASE(a_message_is_one_line_whatever_it_quotes)
{
	_cleanup_(message_freep) char *error = NULL;

	message_set(&error, 0, "no context '%s'", "a\nb\x1b[2J\x7f\xc3\xa9");
	assert_int_equal(message_one_line(&error, -EINVAL), -EINVAL);
	assert_string_equal(error, "no context 'a?b?[2J?\xc3\xa9'");
	assert_int_equal(message_one_line(NULL, 1), 1);
}

/* A second message replaces the first, which may be its argument. The code is returned. */
TEST_CASE(a_message_replaces_the_one_before)
{
	_cleanup_(message_freep) char *error = NULL;

	assert_int_equal(message_set(&error, -EINVAL, "inner %d", 1), -EINVAL);
	assert_int_equal(message_set(&error, -EIO, "outer: %s", error), -EIO);
	assert_string_equal(error, "outer: inner 1");
	assert_int_equal(message_set(NULL, -EIO, "nobody listens"), -EIO);
}
