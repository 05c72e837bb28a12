/* SPDX-License-Identifier: Apache-2.0 */
/* The document of an object: it prints its input byte for byte and refuses text that is not JSON. */
#include "tests/room.h"
#include "tools/serving/doc.h"

/* Parse, print, compare. */
static void
assert_round_trip(const char *text, const char *expected)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_buf_done) struct api_buf out = {0};
	struct api_doc_error error;

	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &error), 0);
	api_print(doc.root, &out, NULL, NULL);
	assert_string_equal(out.data, expected);
}

static void
assert_refused(const char *text, size_t offset, const char *why)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct api_doc_error error;

	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &error), -EINVAL);
	assert_string_equal(error.text, why);
	assert_int_equal(error.offset, offset);
}

/* Numbers beyond a double, spellings, escapes and U+0000 come out unchanged. White space is dropped. */
TEST_CASE(documents_keep_every_byte_but_white_space)
{
	assert_round_trip("{ \"a\" : 9007199254740993 ,\n\"b\":[1.0,1e2,-0,18446744073709551615] }",
			  "{\"a\":9007199254740993,\"b\":[1.0,1e2,-0,18446744073709551615]}");
	assert_round_trip("{\"\":\"a\\u0000b\\/"
			  "\\ud83d\\ude00\xc3\xa4\",\"n\":null,\"t\":true,\"f\":false,\"e\":{},\"l\":[]}",
			  "{\"\":\"a\\u0000b\\/"
			  "\\ud83d\\ude00\xc3\xa4\",\"n\":null,\"t\":true,\"f\":false,\"e\":{},\"l\":[]}");
}

/* Of members with equal names the last value wins, in the first one's place, in small and large objects. */
TEST_CASE(of_equal_names_the_last_one_wins)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};
	_cleanup_(api_buf_done) struct api_buf expected = {0};

	assert_round_trip("{\"a\":1,\"b\":2,\"a\":{\"c\":3}}", "{\"a\":{\"c\":3},\"b\":2}");
	api_buf_puts(&text, "{");
	api_buf_puts(&expected, "{");
	for (int i = 0; i < 200; i++)
		api_buf_printf(&text, "%s\"k%d\":%d", i ? "," : "", i % 100, i);
	for (int i = 0; i < 100; i++)
		api_buf_printf(&expected, "%s\"k%d\":%d", i ? "," : "", i, i + 100);
	api_buf_puts(&text, "}");
	api_buf_puts(&expected, "}");
	assert_round_trip(text.data, expected.data);
}

/* The message for bad JSON has the offset and Go's reason. */
TEST_CASE(bad_json_is_refused_with_offset_and_reason)
{
	assert_refused("{\"kind\":\"Pod\",", 14, "unexpected end of JSON input");
	assert_refused("i", 0, "invalid character 'i' looking for beginning of value");
	assert_refused("{\"a\" 1}", 5, "invalid character '1' after object key");
	assert_refused("{\"a\":1 \"b\":2}", 7, "invalid character '\"' after object key:value pair");
	assert_refused("[1 2]", 3, "invalid character '2' after array element");
	assert_refused("[1,]", 3, "invalid character ']' looking for beginning of value");
	assert_refused("{\"a\":1,}", 7, "invalid character '}' looking for beginning of object key string");
	assert_refused("01", 1, "invalid character '1' after top-level value");
	assert_refused("[-]", 2, "invalid character ']' in numeric literal");
	assert_refused("trux", 3, "invalid character 'x' in literal true");
	assert_refused("\"a\nb\"", 2, "invalid character '\\x0a' in string literal");
	assert_refused("\"\\x\"", 2, "invalid character 'x' in string escape code");
	assert_refused("\"\\u12g4\"", 5, "invalid character 'g' in \\u hexadecimal character escape");
	assert_refused("\"\xc0\x80\"", 1, "invalid UTF-8 in string literal");
	assert_refused("\"\xed\xa0\x80\"", 1, "invalid UTF-8 in string literal");
	assert_refused("{} {}", 3, "invalid character '{' after top-level value");
}

/* 10,000 levels of nesting are accepted, one more is refused, as in Go's decoder. */
TEST_CASE(nesting_ends_at_ten_thousand)
{
	_cleanup_(api_freep) char *text = calloc(1, 2 * (API_DOC_DEPTH + 1) + 1);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct api_doc_error error;

	memset(text, '[', API_DOC_DEPTH);
	memset(text + API_DOC_DEPTH, ']', API_DOC_DEPTH);
	assert_round_trip(text, text);
	memset(text, '[', API_DOC_DEPTH + 1);
	memset(text + API_DOC_DEPTH + 1, ']', API_DOC_DEPTH + 1);
	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &error), -EINVAL);
	assert_string_equal(error.text, "exceeded max depth");
}

TEST_CASE(texts_are_read_with_their_escapes_resolved)
{
	static const char text[] = "{\"k\\u0065y\":\"\\ud83d\\ude00\\n\\\\\\ud800\"}";
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *value = NULL;
	struct api_doc_error error;

	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &error), 0);
	value = api_text_dup(api_get(doc.root, "key"));
	assert_string_equal(value, "\xf0\x9f\x98\x80\n\\\xef\xbf\xbd");
}
