/* SPDX-License-Identifier: Apache-2.0 */
/* The bearer token, kept fresh from its file. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/kube/credentials.h"
#include "writer/base/message.h"

#define REREAD_MS (CREDENTIALS_REREAD_S * 1000ull)

static struct kube_client_config config; /* of the running test */

static struct credentials
token_of(const char *file, const char *value)
{
	struct credentials credentials;

	config = (struct kube_client_config){.token_file = (char *)(uintptr_t)file,
					     .token = (char *)(uintptr_t)value};
	assert_int_equal(credentials_init(&credentials, NULL, &config, NULL, NULL), 0);
	return credentials;
}

static void
assert_token(struct credentials *c, uint64_t now_ms, const char *expected)
{
	struct credentials_now now;

	assert_int_equal(credentials_get(c, now_ms, &now, NULL), 0);
	if (expected)
		assert_string_equal(now.bearer, expected);
	else
		assert_null(now.bearer);
}

/* The server rejected the current token. */
static void
refuse(struct credentials *c)
{
	credentials_refuse(c, c->generation);
}

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* A token in the kubeconfig never changes. No token at all is no error. */
TEST_CASE(a_literal_token_stays)
{
	struct credentials token = token_of(NULL, "abc");

	assert_token(&token, 0, "abc");
	refuse(&token);
	assert_token(&token, 10 * REREAD_MS, "abc");
	credentials_done(&token);
	token = token_of(NULL, NULL);
	assert_token(&token, 0, NULL);
	credentials_done(&token);
}

/* The file is read again after a minute, not at each request, and at once after a rejection. */
TEST(the_file_is_read_again_in_time)
{
	struct credentials token = token_of(temp_file(*state, "t", " one\n"), NULL);

	assert_true(REREAD_MS < 60000);
	assert_token(&token, 1000, "one");
	temp_file(*state, "t", "two");
	assert_token(&token, 1000 + REREAD_MS - 1, "one");
	assert_token(&token, 1000 + REREAD_MS, "two");
	temp_file(*state, "t", "three");
	assert_token(&token, 1001 + REREAD_MS, "two");
	refuse(&token);
	assert_token(&token, 1002 + REREAD_MS, "three");
	credentials_done(&token);
}

/* While the file is missing or empty, the last good token is used. */
TEST(the_last_good_token_is_kept)
{
	const char *path = temp_file(*state, "t", "good");
	struct credentials token = token_of(path, NULL);

	assert_token(&token, 0, "good");
	unlink(path);
	assert_token(&token, REREAD_MS, "good");
	temp_file(*state, "t", "\n");
	assert_token(&token, 2 * REREAD_MS, "good");
	credentials_done(&token);
}

/* A text that cannot be a token is refused and not shown, so no header can be forged. */
TEST(a_file_without_a_token_is_refused)
{
	static const char *const wrong[] = {"", "\n", "a\r\nX-Evil: hunter2", "a hunter2", "hunter2\x80"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		_cleanup_(message_freep) char *error = NULL;
		struct credentials token = token_of(temp_file(*state, "t", wrong[i]), NULL);
		struct credentials_now now;

		assert_int_equal(credentials_get(&token, 0, &now, &error), -EINVAL);
		assert_non_null(strstr(error, "/t: "));
		assert_null(strstr(error, "hunter2"));
		credentials_done(&token);
	}
}
