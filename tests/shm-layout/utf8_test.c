/* SPDX-License-Identifier: Apache-2.0 */
/* Each length of sequence, at its limits. */
#include "shm-layout/utf8.h"
#include "tests/room.h"

static int
length_of(const char *text)
{
	return utf8_length(text, strlen(text));
}

TEST_CASE(the_first_and_last_sequences_of_each_length_are_read)
{
	assert_int_equal(length_of("a"), 1);
	assert_int_equal(length_of("\x7f"), 1);
	assert_int_equal(length_of("\xc2\x80"), 2);
	assert_int_equal(length_of("\xdf\xbf"), 2);
	assert_int_equal(length_of("\xe0\xa0\x80"), 3);
	assert_int_equal(length_of("\xed\x9f\xbf"), 3);
	assert_int_equal(length_of("\xee\x80\x80"), 3);
	assert_int_equal(length_of("\xef\xbf\xbf"), 3);
	assert_int_equal(length_of("\xf0\x90\x80\x80"), 4);
	assert_int_equal(length_of("\xf4\x8f\xbf\xbf"), 4);
}

TEST_CASE(an_invalid_sequence_is_refused)
{
	static const char *const bad[] = {
		"\x80",             /* a second byte first */
		"\xc1\xbf",         /* longer than it must be */
		"\xe0\x9f\xbf",     /* the same */
		"\xf0\x8f\xbf\xbf", /* the same */
		"\xed\xa0\x80",     /* a surrogate */
		"\xf4\x90\x80\x80", /* above U+10FFFF */
		"\xf5\x80\x80\x80",
		"\xff",
		"\xc3(",
		"\xe2\x82(",
		"\xf0\x9f\x98(",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (length_of(bad[i]) != -1)
			fail_msg("sequence %zu is taken", i);
}

/* A text may end amid a sequence. Bytes behind its end are not read. */
TEST_CASE(a_text_may_end_amid_a_sequence)
{
	assert_int_equal(utf8_length("\xc3\xa9", 1), 0);
	assert_int_equal(utf8_length("\xe2\x82\xac", 2), 0);
	assert_int_equal(utf8_length("\xf0\x9f\x98\x80", 3), 0);
	assert_int_equal(utf8_length("\xf0\x9f\x98\x80", 4), 4);
}
