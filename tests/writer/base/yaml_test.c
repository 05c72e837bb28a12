/* SPDX-License-Identifier: Apache-2.0 */
/* YAML: core-schema scalars, positions, and refusals. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"
#include "writer/base/yaml.h"

static struct yaml *
parsed(const char *text)
{
	_cleanup_(message_freep) char *error = NULL;
	struct yaml *yaml = NULL;
	int r = yaml_parse("test.yaml", text, strlen(text), &yaml, &error);

	if (r < 0)
		print_message("%s\n", error);
	assert_int_equal(r, 0);
	return yaml;
}

static void
assert_refused(const char *text, int code, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct yaml *yaml = NULL;

	assert_int_equal(yaml_parse("test.yaml", text, strlen(text), &yaml, &error), code);
	assert_null(yaml);
	assert_non_null(error);
	if (!strstr(error, message))
		fail_msg("'%s' is not in '%s'", message, error);
}

static const cJSON *
member(const struct yaml *yaml, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(yaml_root(yaml), name);
}

/* A plain scalar has the type of YAML 1.2's core schema, not of 1.1's. */
TEST_CASE(plain_scalars_follow_the_core_schema)
{
	struct yaml *y = parsed(
		"t: true\nf: False\nn: ~\nempty:\ni: -12\nh: 0xff\no: 0o17\nd: 1.5e2\nyes: yes\n"
		"on: on\nv: 1.2.3\ntime: 12:30\nold: 017\n");

	assert_true(cJSON_IsTrue(member(y, "t")));
	assert_true(cJSON_IsFalse(member(y, "f")));
	assert_true(cJSON_IsNull(member(y, "n")));
	assert_true(cJSON_IsNull(member(y, "empty")));
	assert_int_equal(member(y, "i")->valueint, -12);
	assert_int_equal(member(y, "h")->valueint, 255);
	assert_int_equal(member(y, "o")->valueint, 15);
	assert_true(member(y, "d")->valuedouble == 150);
	assert_string_equal(member(y, "yes")->valuestring, "yes");
	assert_string_equal(member(y, "on")->valuestring, "on");
	assert_string_equal(member(y, "v")->valuestring, "1.2.3");
	assert_string_equal(member(y, "time")->valuestring, "12:30");
	assert_int_equal(member(y, "old")->valueint, 17);
	yaml_unload(y);
}

/* A quoted, block or !!str scalar is a string, whatever it says. */
TEST_CASE(quoted_scalars_are_strings)
{
	struct yaml *y = parsed("a: \"true\"\nb: '12'\nc: |\n  null\nd: !!str 5\n");

	assert_string_equal(member(y, "a")->valuestring, "true");
	assert_string_equal(member(y, "b")->valuestring, "12");
	assert_string_equal(member(y, "c")->valuestring, "null\n");
	assert_string_equal(member(y, "d")->valuestring, "5");
	yaml_unload(y);
}

/* JSON is read as it is, also when it is indented with tabs. */
TEST_CASE(json_is_yaml)
{
	struct yaml *y = parsed("{\n\t\"a\": [1, {\"b\": null}],\n\t\"c\": \"x\\u00e4\\n\"\n}\n");

	assert_int_equal(cJSON_GetArraySize(member(y, "a")), 2);
	assert_string_equal(member(y, "c")->valuestring, "x\xc3\xa4\n");
	yaml_unload(y);
}

/* A node knows its line and column, and those of its key. */
TEST_CASE(nodes_know_where_they_stood)
{
	struct yaml *y = parsed("# comment\nfirst: 1\nsecond:\n  - x: 1\n    why: [a, b]\n");
	const cJSON *entry = member(y, "second")->child,
		    *why = cJSON_GetObjectItemCaseSensitive(entry, "why");
	_cleanup_(message_freep) char *error = NULL;
	unsigned line, column;

	yaml_position(why, YAML_AT_KEY, &line, &column);
	assert_int_equal(line, 5);
	assert_int_equal(column, 5);
	yaml_position(why->child->next, YAML_AT_VALUE, &line, &column);
	assert_int_equal(line, 5);
	assert_int_equal(column, 14);
	assert_int_equal(yaml_error(y, why, YAML_AT_VALUE, &error, -EINVAL, "wrong %d", 7), -EINVAL);
	assert_string_equal(error, "test.yaml:5:10: wrong 7");
	yaml_unload(y);
}

/* Aliases are copies of what their anchor holds, and positions stay the original's. */
TEST_CASE(aliases_are_expanded)
{
	struct yaml *y = parsed("a: &x {k: [1, 2]}\nb: *x\n");
	const cJSON *k = cJSON_GetObjectItemCaseSensitive(member(y, "b"), "k");
	unsigned line, column;

	assert_int_equal(cJSON_GetArraySize(k), 2);
	yaml_position(k, YAML_AT_KEY, &line, &column);
	assert_int_equal(line, 1);
	yaml_unload(y);
}

/* An anchor's name may stand again: the latest one counts. */
TEST_CASE(the_latest_anchor_of_a_name_counts)
{
	struct yaml *y = parsed("a: &x 1\nb: *x\nc: &x 2\nd: *x\n");

	assert_int_equal(member(y, "b")->valueint, 1);
	assert_int_equal(member(y, "d")->valueint, 2);
	yaml_unload(y);
}

/* Nine levels of nine aliases each end at the node limit, not at the end of memory. */
TEST_CASE(a_billion_laughs_are_refused)
{
	char text[2048] = "l0: &l0 [x,x,x,x,x,x,x,x,x]\n";
	size_t at = strlen(text);

	for (int i = 1; i < 9; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "l%d: &l%d [*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d]\n", i, i,
				       i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	assert_refused(text, -E2BIG, "more than 100000 values");
}

/* An anchor cannot hold itself. */
TEST_CASE(an_alias_to_itself_is_refused)
{
	assert_refused("a: &a [1, *a]\n", -EINVAL, "test.yaml:1:11: *a refers to itself");
	assert_refused("a: *b\n", -EINVAL, "*b: no such anchor");
}

/* A key that stands twice in one mapping is refused where it stands the second time. */
TEST_CASE(duplicate_keys_are_refused)
{
	assert_refused("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", -EINVAL,
		       "test.yaml:5:3: 'c' stands here a second time (first in line 3)");
}

/* What only YAML has and configuration does not need is refused with its place. */
TEST_CASE(exotic_yaml_is_refused)
{
	assert_refused("a: 1\n---\nb: 2\n", -EINVAL, "a second document");
	assert_refused("? [a, b]\n: 1\n", -EINVAL, "a key must be a plain or quoted string");
	assert_refused("a: !!binary x\n", -EINVAL, "test.yaml:1:4: unknown tag");
	assert_refused("a: !!int x\n", -EINVAL, "does not fit its tag");
	assert_refused("x: &x {a: 1}\ny:\n  <<: *x\n", -EINVAL, "merge keys");
	assert_refused("a: \"x\\0y\"\n", -EINVAL, "NUL");
	assert_refused("a: [1, 2\nb: 3\n", -EINVAL, "test.yaml:2:");
	assert_refused("a: 1e999\n", -EINVAL, "number out of range");
	assert_refused("\xff\xfe\xfd", -EINVAL, "test.yaml");
}

/* Nesting ends at a depth that cannot exhaust the stack. */
TEST_CASE(deep_nesting_is_refused)
{
	char text[1001];

	memset(text, '[', 1000);
	text[1000] = '\0';
	assert_refused(text, -E2BIG, "nested deeper than 64");
}

/* An empty file, or one of comments, is an empty mapping. */
TEST_CASE(an_empty_document_is_an_empty_mapping)
{
	static const char *const texts[] = {"", "# nothing\n", "---\n", "\n\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct yaml *y = parsed(texts[i]);

		assert_true(cJSON_IsObject(yaml_root(y)));
		assert_null(yaml_root(y)->child);
		yaml_unload(y);
	}
}

static const char document[] =
	"apiVersion: v1\nkind: Config\nclusters:\n- name: \"k\\u00e4\"\n  cluster: &c\n    server: "
	"https://x:6443\n"
	"    data: >-\n      folded\n      text\nusers: [{name: u, user: {token: 'it''s'}}]\nagain: *c\n"
	"list:\n- - 1\n  - {a: ~, \"b\": [0x1f, 1.5]}\n- |+\n  block\n\n...\n";

/* Every prefix of a document is either a document or refused with a message. */
TEST_CASE(truncated_documents_never_crash)
{
	for (size_t len = 0; len < sizeof(document); len++) {
		_cleanup_(message_freep) char *error = NULL;
		struct yaml *yaml = NULL;
		char *exact = malloc(len + 1); /* so that a sanitizer sees a read behind the end */
		int r;

		assert_non_null(exact);
		memcpy(exact, document, len);
		r = yaml_parse("t", exact, len, &yaml, &error);
		free(exact);
		assert_true(r == 0 ? yaml != NULL : error != NULL);
		yaml_unload(yaml);
	}
}

/* A document with any one byte replaced is a document or refused with a message. */
TEST_CASE(damaged_documents_never_crash)
{
	static const char bytes[] = "\0\n\t :-?[]{}&*!|>'\"%@`#\\\x80\xff";

	for (size_t at = 0; at + 1 < sizeof(document); at++)
		for (size_t b = 0; b < sizeof(bytes); b++) {
			_cleanup_(message_freep) char *error = NULL;
			struct yaml *yaml = NULL;
			char copy[sizeof(document)];
			int r;

			memcpy(copy, document, sizeof(copy));
			copy[at] = bytes[b];
			r = yaml_parse("t", copy, sizeof(copy) - 1, &yaml, &error);
			assert_true(r == 0 ? yaml != NULL : error != NULL);
			yaml_unload(yaml);
		}
}

/* A file that is missing, a folder, or too large is named with its reason. */
TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, unreadable_files_are_named)
{
	_cleanup_(message_freep) char *error = NULL;
	struct yaml *yaml = NULL;

	assert_int_equal(yaml_load(temp_path(*state, "none"), &yaml, &error), -ENOENT);
	assert_non_null(strstr(error, "none: No such file"));
	assert_int_equal(yaml_load(*state, &yaml, &error), -EISDIR);
}
