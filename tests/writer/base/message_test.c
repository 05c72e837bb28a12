/* SPDX-License-Identifier: Apache-2.0 */
/* Messages. */
#include <errno.h>

#include "tests/room.h"
#include "writer/base/message.h"

/* A name from a file may hold newlines and a terminal's commands. */
static void
a_message_is_one_line_whatever_it_quotes(void **state)
{
	_cleanup_(message_freep) char *error = NULL;

	(void)state;
	message_set(&error, 0, "no context '%s'", "a\nb\x1b[2J\x7f\xc3\xa9");
	assert_int_equal(message_one_line(&error, -EINVAL), -EINVAL);
	assert_string_equal(error, "no context 'a?b?[2J?\xc3\xa9'");
	assert_int_equal(message_one_line(NULL, 1), 1);
}

static void
a_message_may_be_built_from_the_one_before(void **state)
{
	_cleanup_(message_freep) char *error = NULL;

	(void)state;
	message_set(&error, 0, "inner");
	message_set(&error, 0, "outer: %s", error);
	assert_string_equal(error, "outer: inner");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_message_is_one_line_whatever_it_quotes),
	cmocka_unit_test(a_message_may_be_built_from_the_one_before),
};
TEST_GROUP(tests, NULL, NULL);
