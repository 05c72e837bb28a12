/* SPDX-License-Identifier: Apache-2.0 */
/* Messages. */
#include <errno.h>

#include "tests/room.h"
#include "writer/base/message.h"

/* A name from a file may hold newlines and a terminal's commands. */
TEST_CASE(a_message_is_one_line_whatever_it_quotes)
{
	_cleanup_(message_freep) char *error = NULL;

	message_set(&error, 0, "no context '%s'", "a\nb\x1b[2J\x7f\xc3\xa9");
	assert_int_equal(message_one_line(&error, -EINVAL), -EINVAL);
	assert_string_equal(error, "no context 'a?b?[2J?\xc3\xa9'");
	assert_int_equal(message_one_line(NULL, 1), 1);
}

TEST_CASE(a_message_may_be_built_from_the_one_before)
{
	_cleanup_(message_freep) char *error = NULL;

	message_set(&error, 0, "inner");
	message_set(&error, 0, "outer: %s", error);
	assert_string_equal(error, "outer: inner");
}
