/* SPDX-License-Identifier: Apache-2.0 */
/* YAML: core-schema scalars, positions, and refusals. */
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

/*
 * A plain scalar has the type of YAML 1.2's core schema, not of 1.1's. A quoted or block scalar is a string.
 * JSON is read unchanged, also when indented with tabs. An alias is a copy of its anchor's value. A file that
 * is empty or has only comments is an empty mapping.
 */
TEST_CASE(a_document_becomes_its_values)
{
	static const struct {
		const char *yaml, *json;
	} cases[] = {
		{"t: true\nf: False\nn: ~\nempty:\n", "{\"t\":true,\"f\":false,\"n\":null,\"empty\":null}"},
		{"i: -12\nh: 0xff\no: 0o17\nd: 1.5e2\nold: 017\n",
		 "{\"i\":-12,\"h\":255,\"o\":15,\"d\":150,\"old\":17}"},
		{"yes: yes\non: on\nv: 1.2.3\ntime: 12:30\n",
		 "{\"yes\":\"yes\",\"on\":\"on\",\"v\":\"1.2.3\",\"time\":\"12:30\"}"},
		{"a: \"true\"\nb: '12'\nc: |\n  null\nd: !!str '5'\n",
		 "{\"a\":\"true\",\"b\":\"12\",\"c\":\"null\\n\",\"d\":\"5\"}"},
		{"{\n\t\"a\": [1, {\"b\": null}],\n\t\"c\": \"x\\u00e4\\n\"\n}\n",
		 "{\"a\":[1,{\"b\":null}],\"c\":\"x\xc3\xa4\\n\"}"},
		{"a: &x {k: [1, 2]}\nb: *x\n", "{\"a\":{\"k\":[1,2]},\"b\":{\"k\":[1,2]}}"},
		{"", "{}"},
		{"# nothing\n", "{}"},
		{"---\n", "{}"},
		{"\n\n", "{}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct yaml *y = parsed(cases[i].yaml);
		char *json = cJSON_PrintUnformatted(yaml_root(y));

		assert_string_equal(json, cases[i].json);
		free(json);
		yaml_unload(y);
	}
}

/* A node knows its line and column, and those of its key. An alias has those of its anchor. */
TEST_CASE(nodes_know_their_place)
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
	y = parsed("a: &x {k: [1, 2]}\nb: *x\n");
	yaml_position(cJSON_GetObjectItemCaseSensitive(member(y, "b"), "k"), YAML_AT_KEY, &line, &column);
	assert_int_equal(line, 1);
	yaml_unload(y);
}

/* Nine levels of nine aliases each are refused at the node limit. */
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

/* A duplicate key, and YAML that configuration does not need, are refused with their place. */
TEST_CASE(exotic_yaml_is_refused)
{
	static const struct {
		const char *yaml, *message;
	} cases[] = {
		{"a: *b\n", "test.yaml:1:4: found undefined alias"},
		{"a: &x 1\nb: &x 2\n", "test.yaml:2:4: second occurrence found duplicate anchor"},
		{"a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
		 "test.yaml:5:3: 'c' stands here a second time (first in line 3)"},
		{"a: 1\n---\nb: 2\n", "a second document"},
		{"? [a, b]\n: 1\n", "a key must be a plain or quoted string"},
		{"a: !!binary x\n", "test.yaml:1:4: unknown tag"},
		{"a: !!int x\n", "test.yaml:1:4: unknown tag"},
		{"x: &x {a: 1}\ny:\n  <<: *x\n", "merge keys"},
		{"a: \"x\\0y\"\n", "NUL"},
		{"a: [1, 2\nb: 3\n", "test.yaml:2:"},
		{"a: 1e999\n", "number out of range"},
		{"\xff\xfe\xfd", "test.yaml"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_refused(cases[i].yaml, -EINVAL, cases[i].message);
}

/* Nesting is limited, so it cannot exhaust the stack. So is an anchor that contains itself. */
TEST_CASE(deep_nesting_is_refused)
{
	char text[1001];

	memset(text, '[', 500);
	memset(text + 500, ']', 500);
	text[1000] = '\0';
	assert_refused(text, -E2BIG, "test.yaml:1:65: nested deeper than 64");
	assert_refused("a: &a [1, *a]\n", -E2BIG, "nested deeper than 64");
}

static const char document[] =
	"apiVersion: v1\nkind: Config\nclusters:\n- name: \"k\\u00e4\"\n  cluster: &c\n    server: "
	"https://x:6443\n"
	"    data: >-\n      folded\n      text\nusers: [{name: u, user: {token: 'it''s'}}]\nagain: *c\n"
	"list:\n- - 1\n  - {a: ~, \"b\": [0x1f, 1.5]}\n- |+\n  block\n\n...\n";

static void
assert_read_or_refused(const char *text, size_t length)
{
	_cleanup_(message_freep) char *error = NULL;
	struct yaml *yaml = NULL;
	char *exact = malloc(length + 1); /* exact size, so that a sanitizer sees a read beyond the end */
	int r;

	assert_non_null(exact);
	memcpy(exact, text, length);
	r = yaml_parse("t", exact, length, &yaml, &error);
	free(exact);
	assert_true(r == 0 ? yaml != NULL : error != NULL);
	yaml_unload(yaml);
}

/* A document that is cut, or has one byte replaced, is read or refused with a message. */
TEST_CASE(cut_and_damaged_documents_never_crash)
{
	static const char bytes[] = "\0\n\t :-?[]{}&*!|>'\"%@`#\\\x80\xff";
	char copy[sizeof(document)];

	for (size_t length = 0; length < sizeof(document); length++)
		assert_read_or_refused(document, length);
	for (size_t at = 0; at + 1 < sizeof(document); at++)
		for (size_t b = 0; b < sizeof(bytes); b++) {
			memcpy(copy, document, sizeof(copy));
			copy[at] = bytes[b];
			assert_read_or_refused(copy, sizeof(copy) - 1);
		}
}

/* A missing file, a folder and a file that is too large are each named with the reason. */
TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, unreadable_files_are_named)
{
	_cleanup_(message_freep) char *error = NULL;
	struct yaml *yaml = NULL;

	assert_int_equal(yaml_load(temp_path(*state, "none"), &yaml, &error), -ENOENT);
	assert_non_null(strstr(error, "none: No such file"));
	assert_int_equal(yaml_load(*state, &yaml, &error), -EISDIR);
}
