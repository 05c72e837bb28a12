/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, YAML and tables as kubectl prints them, by rules. tests/e2e/ctl_get.sh compares whole clusters. */
#include "tests/room.h"
#include "tools/informerctl/document.h"
#include "tools/informerctl/aligned_table.h"

static void
assert_text(const char *json, bool yaml, const char *expected)
{
	cJSON *node = cJSON_Parse(json);
	struct document document = {.object = field_of_cjson(node)};
	struct text out = TEXT_INIT(-1);

	assert_non_null(node);
	if (yaml)
		document_yaml(&document, &out);
	else
		document_json(&document, &out);
	assert_int_equal(out.error, 0);
	assert_string_equal(out.data, expected);
	text_done(&out);
	cJSON_Delete(node);
}

/* Expect this for one string as the value of a key. */
static void
assert_scalar(const char *string, const char *expected)
{
	cJSON *node = cJSON_CreateObject();
	char *json, line[4096];

	cJSON_AddStringToObject(node, "k", string);
	json = cJSON_PrintUnformatted(node);
	snprintf(line, sizeof(line), "k: %s\n", expected);
	assert_text(json, true, line);
	cJSON_free(json);
	cJSON_Delete(node);
}

/* JSON has four spaces of indent, keys in order, and nothing between empty brackets. */
TEST_CASE(json_is_indented_and_ordered)
{
	assert_text("{\"b\":[1,{}],\"a\":{\"y\":[],\"x\":null}}", false,
		    "{\n    \"a\": {\n        \"x\": null,\n        \"y\": []\n    },\n    \"b\": [\n        "
		    "1,\n        {}\n    ]\n}\n");
}

/* The characters that Go escapes are escaped, and no others. */
TEST_CASE(json_escapes_as_go_does)
{
	assert_text("{\"a\":\"<&>\\\"\\\\\\n\\t\\u0001\\u2028\xc3\xa9/\"}", false,
		    "{\n    \"a\": \"\\u003c\\u0026\\u003e\\\"\\\\\\n\\t\\u0001\\u2028\xc3\xa9/\"\n}\n");
}

/* apiVersion and kind, which items of a list lack, are added once. */
TEST_CASE(missing_api_version_and_kind_are_added)
{
	cJSON *node = cJSON_Parse("{\"kind\":\"Own\",\"z\":1}");
	struct document document = {field_of_cjson(node), "v1", "Pod"};
	struct text out = TEXT_INIT(-1);

	document_yaml(&document, &out);
	assert_string_equal(out.data, "apiVersion: v1\nkind: Own\nz: 1\n");
	text_done(&out);
	cJSON_Delete(node);
}

/* A string that YAML would read as a boolean, a number, a time or null is quoted. */
TEST_CASE(strings_that_look_like_values_are_quoted)
{
	static const char *const quoted[] = {"true", "Yes",   "off", "y",     "N",        "null",
					     "~",    "",      "1",   "-1",    "+1",       "1.5",
					     ".5",   ".5_7",  "1e3", "0x1f",  "0b11",     "0b-1",
					     "0o17", "017",   "08",  "1_000", "12:30:45", "2026-01-02",

					     ".inf", "-.INF", ".nan"};
	char expected[64];

	assert_scalar("2026-01-02T03:04:05Z", "\"2026-01-02T03:04:05Z\"");
	assert_scalar("18446744073709551615", "\"18446744073709551615\"");
	for (size_t i = 0; i < sizeof(quoted) / sizeof(*quoted); i++) {
		snprintf(expected, sizeof(expected), "\"%s\"", quoted[i]);
		assert_scalar(quoted[i], expected);
	}
}

TEST_CASE(strings_that_only_resemble_values_are_plain)
{
	static const char *const plain[] = {"tRUE",       "yes!",       "nul",   "1.2.3", "1e",  "0xg",
					    "2026-13-02", "2026-02-30", "12:60", "1 000", "v1",  "10Gi",
					    "100m",       "inf",        "a#b",   "a:b",   "a-b", "-a",
					    "?a",         ":a",         "0x",    "1e400", "-1e400",
					    ".5__7",      ".5_",        "0x0x1"};

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		assert_scalar(plain[i], plain[i]);
}

/* Strings with YAML indicators are in single quotes. */
TEST_CASE(indicators_are_quoted_singly)
{
	assert_scalar("a: b", "'a: b'");
	assert_scalar("a #b", "'a #b'");
	assert_scalar("- a", "'- a'");
	assert_scalar("*", "'*'");
	assert_scalar("'x'", "'''x'''");
	assert_scalar(" lead", "' lead'");
	assert_scalar("---", "'---'");
	assert_scalar("{{x}}", "'{{x}}'");
}

/* Tabs, control characters and characters beyond the basic plane are escaped in double quotes. */
TEST_CASE(special_characters_are_escaped)
{
	assert_scalar("a\tb", "\"a\\tb\"");
	assert_scalar("a\rb", "\"a\\rb\"");
	assert_scalar("\x1b[31m", "\"\\e[31m\"");
	assert_scalar("\xf0\x9f\x98\x80", "\"\\U0001F600\"");
	assert_scalar("a \nb", "\"a \\nb\"");
}

/* Several lines are a literal block. Its header tells of line feeds at the end and blanks at the start. */
TEST_CASE(lines_are_a_literal_block)
{
	assert_scalar("a\nb", "|-\n  a\n  b");
	assert_scalar("a\n\nb\n", "|\n  a\n\n  b");
	assert_text("{\"k\":\"a\\n\\n\",\"l\":1}", true, "k: |+\n  a\n\nl: 1\n");
	assert_text("{\"k\":\"a\\n\\n\"}", true, "k: |+\n  a\n\n"); /* a document may end with it */
	assert_scalar("  a\nb", "|2-\n    a\n  b");
}

/* A key of several lines, or of more than 128 bytes, follows a question mark. */
TEST_CASE(keys_that_are_not_simple_are_explicit)
{
	char json[256], expected[256];

	assert_text("{\"a\\nb\":1}", true, "? |-\n  a\n  b\n: 1\n");
	snprintf(json, sizeof(json), "{\"%0129d\":1}", 0);
	snprintf(expected, sizeof(expected), "? \"%0129d\"\n: 1\n", 0);
	assert_text(json, true, expected);
	snprintf(json, sizeof(json), "{\"k%0127d\":1}", 0);
	snprintf(expected, sizeof(expected), "k%0127d: 1\n", 0);
	assert_text(json, true, expected);
}

/*
 * U+2028 breaks a line and needs no double quotes. At the end of a text the closing quote is indented, which
 * reads the same; kubectl writes 'a<U+2028>'.
 */
TEST_CASE(other_line_breaks_stand_in_single_quotes)
{
	assert_scalar("a\xe2\x80\xa8" "b", "'a\xe2\x80\xa8  b'");
	assert_scalar("a\xe2\x80\xa8", "'a\xe2\x80\xa8  '");
}

/* A long text is folded at the first blank after column 80. */
TEST_CASE(long_texts_are_folded)
{
	assert_scalar(
		"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 end",
		"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n  "
		"end");
}

/* A sequence has its key's indent. An empty one is on its key's line. A mapping begins on its dash's line. */
TEST_CASE(yaml_nests_as_kubectl_does)
{
	assert_text("{\"a\":[{\"p\":1,\"q\":[2,[3]]},[]],\"b\":{\"c\":{}},\"d\":[]}", true,
		    "a:\n- p: 1\n  q:\n  - 2\n  - - 3\n- []\nb:\n  c: {}\nd: []\n");
}

/* Numbers in keys are ordered by value. Keys that look like values are quoted. */
TEST_CASE(yaml_keys_are_in_natural_order)
{
	assert_text("{\"b10\":1,\"b9\":2,\"B\":3,\"y\":4,\"1\":5,\"a.b\":6,\"ab\":7}", true,
		    "\"1\": 5\nB: 3\na.b: 6\nab: 7\nb9: 2\nb10: 1\n\"y\": 4\n");
}

/* A column is as wide as its widest cell. No blanks end a line. A cell ends with its first line. */
TEST_CASE(tables_are_laid_out_as_kubectls)
{
	static const char *const cells_of[] = {
		"NAME", "X",           "AGE",        "web", "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
		"1s",   "a-long-name", "two\nlines", ""};
	struct cells cells = CELLS_INIT;
	struct text out = TEXT_INIT(-1);

	for (size_t i = 0; i < 9; i++)
		cells_adds(&cells, cells_of[i]);
	table_write(&cells, 3, &out);
	assert_string_equal(out.data, "NAME          X        AGE\nweb           "
				      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9     1s\na-long-name   two...   \n");
	cells_done(&cells);
	text_done(&out);
}
