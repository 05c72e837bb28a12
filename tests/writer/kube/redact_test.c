/* SPDX-License-Identifier: Apache-2.0 */
/* Removes secrets from foreign text. */
#include "tests/room.h"
#include "writer/kube/redact.h"

static void
assert_redacted(const char *text, const struct kube_pairs *known, size_t max, const char *expected)
{
	char *line = redact_text(text, strlen(text), known, max);

	assert_non_null(line);
	assert_string_equal(line, expected);
	free(line);
}

/* Words, paths, host names and numbers stay. */
TEST_CASE(ordinary_words_stay)
{
	static const char *const lines[] = {
		"error: profile 'prod' not found in /root/.aws/credentials2",
		"dial tcp 10.0.0.1:443: i/o timeout after 30 s",
		"could not reach https://oidc.eks.eu-west-1.amazonaws.com/id/",
		"The token has expired, run: aws sso login",
		"AccessDenied (403)",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_redacted(lines[i], NULL, 400, lines[i]);
}

/* Text that looks like a secret is hidden, whatever stands around it. */
TEST_CASE(likely_secrets_are_hidden)
{
	assert_redacted("password=hunter2 failed", NULL, 400, "password=[redacted] failed");
	assert_redacted("{\"token\": \"hunter2\"}", NULL, 400, "{\"token\": \"[redacted]\"}");
	assert_redacted("Authorization: Bearer hunter2\nx", NULL, 400, "Authorization: Bearer [redacted]; x");
	assert_redacted("got eyJhbGciOi.J9", NULL, 400, "got [redacted].J9");
	assert_redacted("key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL, 400, "key [redacted]");
	assert_redacted("id 0123456789abcdef0123456789abcdef01234567 no", NULL, 400, "id [redacted] no");
	assert_redacted("at http://u:hunter2@proxy:1/x", NULL, 400, "at http://*********@proxy:1/x");
	assert_redacted("at http://u:hun/te@r2@proxy:1/x", NULL, 400, "at http://***********@proxy:1/x");
	assert_redacted("a -----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----\nb", NULL,
			400, "a [redacted]; b");
	assert_redacted("-----BEGIN RSA PRIVATE KEY-----\nhunter2", NULL, 400, "[redacted]");
}

/* Known secrets are hidden anywhere, short ones as separate words. */
TEST_CASE(known_secrets_are_hidden)
{
	struct kube_pairs known = {0};

	assert_int_equal(kube_pairs_add(&known, NULL, "hunter2"), 0);
	assert_int_equal(kube_pairs_add(&known, NULL, "ab"), 0);
	assert_int_equal(kube_pairs_add(&known, NULL, ""), 0);
	assert_redacted("xhunter2x, ab about 'ab'", &known, 400,
			"x[redacted]x, [redacted] about '[redacted]'");
	kube_pairs_done(&known);
}

/* The text is one line without control characters; of a long text the end stays. */
TEST_CASE(the_text_becomes_one_short_line)
{
	assert_redacted("  a\r\n\n b\t\x1b[31mc \n", NULL, 400, "a; b ?[31mc");
	assert_redacted("one two three four", NULL, 12, "...hree four");
	assert_redacted("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", NULL, 6, "...\xc3\xa4");
	assert_redacted("", NULL, 6, "");
}
