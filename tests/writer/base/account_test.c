/* SPDX-License-Identifier: Apache-2.0 */
/* Users and groups are taken by name and by number. */
#include "writer/base/account.h"

#include "tests/room.h"
#include "writer/base/message.h"

static void
assert_taken(flag_take *take, const char *text, uint32_t want)
{
	struct refs ids = {0};

	assert_int_equal(take(&ids, text, NULL), 0);
	assert_int_equal(ids.count, 1);
	assert_true(account_has(&ids, want));
	assert_false(account_has(&ids, want + 1));
	refs_done(&ids);
}

TEST_CASE(accounts_are_taken_by_name_and_number)
{
	assert_taken(account_take_user, "root", 0);
	assert_taken(account_take_user, "4294967294", 4294967294);
	assert_taken(account_take_group, "root", 0);
	assert_taken(account_take_group, "7", 7);
}

TEST_CASE(an_account_that_is_not_there_is_refused)
{
	static const struct {
		flag_take *take;
		const char *text, *words;
	} rows[] = {
		{account_take_user, "no-such-name", "there is no user 'no-such-name' here"},
		{account_take_group, "no-such-name", "there is no group 'no-such-name' here"},
		{account_take_user, "4294967295", "there is no user"},
		{account_take_user, "", "there is no user ''"},
		{account_take_group, "-1", "there is no group"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_cleanup_(message_freep) char *error = NULL;
		struct refs ids = {0};

		assert_int_equal(rows[i].take(&ids, rows[i].text, &error), -EINVAL);
		assert_non_null(strstr(error, rows[i].words));
		assert_int_equal(ids.count, 0);
	}
}
