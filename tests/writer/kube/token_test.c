/* SPDX-License-Identifier: Apache-2.0 */
/* The bearer token, kept fresh from its file. */
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/kube/token.h"
#include "writer/base/message.h"

#define REREAD_MS (TOKEN_REREAD_S * 1000ull)

static struct token
token_of(const char *file, const char *value)
{
	struct kube_client_config config = {.token_file = (char *)(uintptr_t)file,
					    .token = (char *)(uintptr_t)value};
	struct token token;

	assert_int_equal(token_init(&token, &config), 0);
	return token;
}

static void
assert_token(struct token *token, uint64_t now_ms, const char *expected)
{
	const char *value;

	assert_int_equal(token_get(token, now_ms, &value, NULL), 0);
	assert_string_equal(value, expected);
}

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* A token that stands in the kubeconfig never changes; none at all is no error. */
TEST_CASE(a_literal_token_stays)
{
	struct token token = token_of(NULL, "abc"), none = token_of(NULL, NULL);
	const char *value = "unset";

	assert_token(&token, 0, "abc");
	token_reject(&token);
	assert_token(&token, 10 * REREAD_MS, "abc");
	assert_int_equal(token_get(&none, 0, &value, NULL), 0);
	assert_null(value);
	token_done(&token);
	token_done(&none);
}

/* The file is read again within a minute, not at each request, and at once after a refusal. */
TEST(the_file_is_read_again_in_time)
{
	struct token token = token_of(temp_file(*state, "t", " one\n"), NULL);

	assert_true(REREAD_MS < 60000);
	assert_token(&token, 1000, "one");
	temp_file(*state, "t", "two");
	assert_token(&token, 1000 + REREAD_MS - 1, "one");
	assert_token(&token, 1000 + REREAD_MS, "two");
	temp_file(*state, "t", "three");
	assert_token(&token, 1001 + REREAD_MS, "two");
	token_reject(&token);
	assert_token(&token, 1002 + REREAD_MS, "three");
	token_done(&token);
}

/* While the file is missing or empty the last good token is used on. */
TEST(the_last_good_token_is_kept)
{
	const char *path = temp_file(*state, "t", "good");
	struct token token = token_of(path, NULL);

	assert_token(&token, 0, "good");
	unlink(path);
	assert_token(&token, REREAD_MS, "good");
	temp_file(*state, "t", "\n");
	assert_token(&token, 2 * REREAD_MS, "good");
	token_done(&token);
}

/* What cannot be a token is refused without being shown, so that no header can be forged. */
TEST(a_file_without_a_token_is_refused)
{
	static const char *const wrong[] = {"", "\n", "a\r\nX-Evil: hunter2", "a hunter2", "hunter2\x80"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		_cleanup_(message_freep) char *error = NULL;
		struct token token = token_of(temp_file(*state, "t", wrong[i]), NULL);
		const char *value;

		assert_int_equal(token_get(&token, 0, &value, &error), -EINVAL);
		assert_non_null(strstr(error, "/t: "));
		assert_null(strstr(error, "hunter2"));
		token_done(&token);
	}
}
