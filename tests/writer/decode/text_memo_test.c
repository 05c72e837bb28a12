/* SPDX-License-Identifier: Apache-2.0 */
/* A remembered text is found only where it stands whole. References and bytes are given back. */
#include "tests/room.h"
#include "tests/support/body_fixture.h"
#include "writer/decode/text_memo.h"

#define TEXTS 500

#define TEST(name) TEST_CASE_OF(struct body_fixture *fx, body_fixture_set_up, body_fixture_tear_down, name)

/* Texts that begin alike, texts that differ in the last byte, and texts that end early are told apart. */
TEST(only_the_very_text_is_found)
{
	struct intern *in = fx->intern;
	struct text_memo *m = calloc(1, sizeof(*m));
	const char *text = "{\"a\":\"0123456789012345678901234567890123456789\",\"b\":1}";
	size_t length = strlen(text), bytes = 0;
	uint32_t ref = body_fixture_block(fx, 1);
	char other[100];

	assert_null(text_memo_find(m, text, text + length));
	text_memo_put(m, in, text, length, ref, &bytes);
	assert_int_equal(bytes, length);
	assert_non_null(text_memo_find(m, text, text + length));
	assert_int_equal(text_memo_find(m, text, text + length)->value.ref, ref);
	assert_null(text_memo_find(m, text, text + length - 1));
	assert_null(text_memo_find(m, text, text + 10));
	for (size_t i = 0; i < length; i++) {
		strcpy(other, text);
		other[i] ^= 1;
		assert_null(text_memo_find(m, other, other + length));
	}
	/* texts that are too short or too long are not remembered */
	text_memo_put(m, in, text, TEXT_MEMO_PREFIX - 1, ref, &bytes);
	text_memo_put(m, in, text, TEXT_MEMO_TEXT_MAX + 1, ref, &bytes);
	assert_int_equal(bytes, length);
	intern_unref(in, ref);
	assert_int_equal(intern_count(in), 1);
	text_memo_clear(m, in, &bytes);
	assert_int_equal(bytes, 0);
	assert_int_equal(intern_count(in), 0);
	free(m);
}

/* With many more texts than places a found text is right, the newest are found, and references balance. */
TEST(more_texts_than_places_push_out_older_ones)
{
	struct intern *in = fx->intern;
	struct text_memo *m = calloc(1, sizeof(*m));
	size_t bytes = 0;
	char text[128];
	unsigned found = 0;

	for (unsigned round = 0; round < 4; round++)
		for (unsigned n = 0; n < TEXTS; n++) {
			unsigned i = n * n % 211;
			uint32_t ref = body_fixture_block(fx, (uint16_t)i);
			size_t length = (size_t)snprintf(
				text, sizeof(text),
				"{\"name\":\"number %u\",\"padding\":\"................................\"}",
				i);
			struct text_memo_place *place = text_memo_find(m, text, text + length);

			if (place) {
				assert_int_equal(place->value.ref, ref);
				intern_unref(in, stocked_ref_take(&place->value, in));
				found++;
			}
			text_memo_put(m, in, text, length, ref, &bytes);
			place = text_memo_find(m, text, text + length);
			assert_non_null(place);
			assert_int_equal(place->value.ref, ref);
			intern_unref(in, ref);
			assert_true(intern_count(in) <= TEXT_MEMO_PLACES);
			assert_true(bytes <= TEXT_MEMO_PLACES * sizeof(text));
		}
	assert_true(found > 0);
	text_memo_clear(m, in, &bytes);
	assert_int_equal(bytes, 0);
	assert_int_equal(intern_count(in), 0);
	free(m);
}

/* Strings of one path often differ in one byte only. That byte counts wherever it stands. */
TEST_CASE(strings_that_differ_in_a_byte_have_other_hashes)
{
	char text[256];

	for (size_t length = 12; length <= sizeof(text); length++) {
		uint32_t hash;

		memset(text, '.', sizeof(text));
		hash = string_memo_hash(text, length);
		for (size_t i = 0; i < length; i++) {
			text[i] = '7';
			assert_int_not_equal(string_memo_hash(text, length), hash);
			text[i] = '.';
		}
		if (length > 12)
			assert_int_not_equal(string_memo_hash(text, length - 1), hash);
	}
}

/* Not every byte of a long string counts, but its ends do, and no byte behind it does. */
TEST_CASE(a_long_string_is_hashed_by_pieces_of_it)
{
	for (size_t length = 257; length < 5000; length += 97) {
		/* exact size, so that a sanitizer sees a read beyond the end */
		char *text = malloc(length);
		uint32_t hash;

		assert_non_null(text);
		memset(text, '.', length);
		hash = string_memo_hash(text, length);
		text[0] = '7';
		assert_int_not_equal(string_memo_hash(text, length), hash);
		text[0] = '.';
		text[length - 1] = '7';
		assert_int_not_equal(string_memo_hash(text, length), hash);
		free(text);
	}
}
