/* SPDX-License-Identifier: Apache-2.0 */
/* Which values each kind of index rule gives, and which index definitions are refused. */
#include "shm-layout/index_def.h"
#include "tests/room.h"
#include "tests/support/body_fixture.h"

struct found {
	char text[8192];
	int stop_after;
};

static int
collect(const char *data, size_t length, void *context)
{
	struct found *f = context;
	size_t n = strlen(f->text);

	snprintf(f->text + n, sizeof(f->text) - n, "%s%.*s", n ? "|" : "", (int)length, data);
	return --f->stop_after == 0 ? 9 : 0;
}

/* A definition from the text "AS PATH SEPARATOR;AS PATH SEPARATOR". A separator may be left out. */
static struct index_def
definition(struct body_fixture *fx, const char *rules)
{
	struct bytes json = {0};
	const char *why = "";
	struct index_def def;

	bytes_say(&json, "{\"name\":\"x\",\"rules\":[");
	for (const char *p = rules; *p; p += strcspn(p, ";"), p += *p == ';') {
		char as[16] = "", path[64] = "", separator[8] = "";

		sscanf(p, "%15[^ ;] %63[^ ;] %7[^ ;]", as, path, separator);
		bytes_say(&json, "%s{\"as\":\"%s\"", p == rules ? "" : ",", as);
		if (path[0])
			bytes_say(&json, ",\"path\":\"%s\"", path);
		if (separator[0])
			bytes_say(&json, ",\"separator\":\"%s\"", separator);
		bytes_say(&json, "}");
	}
	bytes_say(&json, "]}");
	if (index_def_read(&def, body_fixture_value(fx, (const char *)json.data), &why) != 0)
		fail_msg("%s: %s", rules, why);
	bytes_done(&json);
	return def;
}

/* The values of the rules in the body, joined by '|'. */
static void
assert_values(const char *rules, struct value body, const char *expected)
{
	struct body_fixture *fx = body_fixture_new(NULL, 0);
	struct found f = {.stop_after = 0};
	struct index_def def = definition(fx, rules);

	assert_int_equal(index_def_each(&def, body, collect, &f), 0);
	assert_string_equal(f.text, expected);
	for (char *save = NULL, *one = strtok_r(f.text, "|", &save); one; one = strtok_r(NULL, "|", &save)) {
		assert_int_equal(index_def_has(&def, body, one, strlen(one)), 1);
		assert_int_equal(index_def_has(&def, body, one, strlen(one) - 1), 0);
	}
	assert_int_equal(index_def_has(&def, body, "no such value", 13), 0);
	index_def_done(&def);
	body_fixture_free(fx);
}

#define TEST(name) TEST_CASE_OF(struct body_fixture *fx, body_fixture_set_up, body_fixture_tear_down, name)

TEST(rules_give_their_values)
{
	struct value body = body_fixture_value(
		fx, "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"\",\"n\":1},\"annotations\":{"
		    "\"users\":\" ernie , bert,,\\tkermit \"}},"
		    "\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"a\",\"port\":80},{\"name\":"
		    "\"b\",\"port\":8.5},{\"name\":true}],\"x\":\"\"},"
		    "\"status\":{\"ids\":[\"cri-o://abc\",\"containerd://def\",\"plain\",\"://x\",\"docker://"
		    "\"]}}");

	assert_values("string spec.nodeName", body, "n1");
	assert_values("string spec.containers[*].name", body, "a|b|true");
	assert_values("string spec.containers[*].port", body, "80|8.5");
	assert_values("scheme status.ids[*]", body, "abc|def|plain|://x");
	assert_values("keyvalue metadata.labels", body, "app=web|tier=|n=1");
	assert_values("split metadata.annotations.users ,", body, "ernie|bert|kermit");
	assert_values("string spec.nodeName;string spec.containers[0].name", body, "n1|a");
	/* a path without a value, or with one of another kind, gives no value */
	assert_values("string spec.nothing;string spec.containers;keyvalue spec.nodeName;namespace", body,
		      "");
}

/* The namespace rule gives the object's own namespace, and nothing for objects without. */
TEST(the_namespace_comes_from_the_key)
{
	struct object *o = calloc(1, sizeof(*o) + 8);
	struct value body = body_fixture_value(fx, "{\"a\":1}");

	assert_non_null(o);
	o->namespace_length = 4;
	memcpy(o->key, "kube", 4);
	body.own = o;
	assert_values("namespace", body, "kube");
	free(o);
}

/* A value up to 4,096 bytes is indexed. A longer value is not, whatever rule gives it. */
TEST(long_values_are_not_indexed)
{
	struct body_fixture *defs = body_fixture_new(NULL, 0);
	struct index_def def = definition(defs, "string l[*];split l[*] ,;keyvalue o");
	char value[INDEX_VALUE_MAX + 2];

	memset(value, 'v', sizeof(value));
	for (int length = (int)INDEX_VALUE_MAX; length <= (int)INDEX_VALUE_MAX + 1; length++) {
		struct bytes text = {0};
		struct found f = {.stop_after = 0};

		bytes_say(&text, "{\"l\":[\"%.*s\"],\"o\":{\"k\":\"%.*s\"}}", length, value, length - 2,
			  value);
		assert_int_equal(index_def_each(&def, body_fixture_value(fx, (char *)text.data), collect, &f),
				 0);
		if (length == INDEX_VALUE_MAX)
			assert_true(strlen(f.text) > INDEX_VALUE_MAX);
		else
			assert_string_equal(f.text, "");
		bytes_done(&text);
	}
	index_def_done(&def);
	body_fixture_free(defs);
}

/* Of each value the first bytes are filed. Of two values that begin alike each is told from the other. */
TEST(a_prefix_cuts_what_is_filed)
{
	static const char json[] = "{\"name\":\"x\",\"prefix\":3,\"rules\":["
				   "{\"path\":\"ids[*]\",\"as\":\"scheme\"}]}";
	struct body_fixture *defs = body_fixture_new(NULL, 0);
	struct value body = body_fixture_value(
		fx, "{\"ids\":[\"a://abcd\",\"a://abce\",\"de\",\"fgh\",\"\"]}");
	struct found whole = {.stop_after = 0}, filed = {.stop_after = 0};
	struct index_def def;

	assert_int_equal(index_def_read(&def, body_fixture_value(defs, json), NULL), 0);
	assert_int_equal(def.prefix, 3);
	assert_int_equal(index_def_each(&def, body, collect, &whole), 0);
	assert_string_equal(whole.text, "abcd|abce|de|fgh");
	assert_int_equal(index_def_each_filed(&def, body, collect, &filed), 0);
	assert_string_equal(filed.text, "abc|abc|de|fgh");

	assert_int_equal(index_def_has(&def, body, "abcd", 4), 1);
	assert_int_equal(index_def_has(&def, body, "abc", 3), 0);
	assert_int_equal(index_def_has_prefix(&def, body, "abc", 3), 1);
	assert_int_equal(index_def_has_prefix(&def, body, "abce", 4), 1);
	assert_int_equal(index_def_has_prefix(&def, body, "abcde", 5), 0);
	assert_int_equal(index_def_has_prefix(&def, body, "bcd", 3), 0);
	assert_int_equal(index_def_has_filed(&def, body, "abc", 3), 1);
	assert_int_equal(index_def_has_filed(&def, body, "fgh", 3), 1);
	assert_int_equal(index_def_has_filed(&def, body, "de", 2), 1);
	assert_int_equal(index_def_has_filed(&def, body, "fg", 2), 0);
	index_def_done(&def);
	body_fixture_free(defs);
}

/* An index whose prefix changes is another index. */
TEST(definitions_with_other_prefixes_differ)
{
	static const char *const prefixes[] = {"", "\"prefix\":1,", "\"prefix\":255,"};
	struct index_def defs[3];

	for (size_t i = 0; i < 3; i++) {
		char json[128];

		snprintf(json, sizeof(json),
			 "{\"name\":\"x\",%s\"rules\":[{\"path\":\"a\",\"as\":\"string\"}]}", prefixes[i]);
		assert_int_equal(index_def_read(&defs[i], body_fixture_value(fx, json), NULL), 0);
	}
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			assert_int_equal(index_def_same(&defs[i], &defs[j]), i == j);
	for (size_t i = 0; i < 3; i++)
		index_def_done(&defs[i]);
}

/* The callback's result stops the walk and is returned. */
TEST(a_callback_stops_the_walk)
{
	struct body_fixture *defs = body_fixture_new(NULL, 0);
	struct index_def def = definition(defs, "keyvalue o;string p");
	struct value body = body_fixture_value(fx, "{\"o\":{\"a\":1,\"b\":2,\"c\":3},\"p\":4}");
	struct found f = {.stop_after = 2};

	assert_int_equal(index_def_each(&def, body, collect, &f), 9);
	assert_string_equal(f.text, "a=1|b=2");
	index_def_done(&def);
	body_fixture_free(defs);
}

/* Each refusal has a reason. */
TEST(impossible_definitions_are_refused)
{
	static const char nine_rules[] =
		"{\"name\":\"x\",\"rules\":[{\"as\":\"namespace\"},{\"as\":\"namespace\"},"
		"{\"as\":\"namespace\"},{\"as\":\"namespace\"},{\"as\":\"namespace\"},{\"as\":\"namespace\"},"
		"{\"as\":\"namespace\"},{\"as\":\"namespace\"},{\"as\":\"namespace\"}]}";
	static const char *const impossible[] = {
		"1",
		"{}",
		"{\"name\":\"x\"}",
		"{\"rules\":[{\"as\":\"namespace\"}]}",
		"{\"name\":\"\",\"rules\":[{\"as\":\"namespace\"}]}",
		"{\"name\":7,\"rules\":[{\"as\":\"namespace\"}]}",
		"{\"name\":\"x\",\"rules\":[]}",
		"{\"name\":\"x\",\"rules\":{}}",
		"{\"name\":\"x\",\"rules\":[1]}",
		"{\"name\":\"x\",\"rules\":[{}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"other\",\"path\":\"a\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"string\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"string\",\"path\":\"a[\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"string\",\"path\":\"\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"string\",\"path\":\".\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"split\",\"path\":\"a\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"split\",\"path\":\"a\",\"separator\":\"\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"split\",\"path\":\"a\",\"separator\":\",,\"}]}",
		"{\"name\":\"x\",\"rules\":[{\"as\":\"namespace\",\"path\":\"a\"}]}",
		"{\"name\":\"x\",\"prefix\":0,\"rules\":[{\"as\":\"string\",\"path\":\"a\"}]}",
		"{\"name\":\"x\",\"prefix\":256,\"rules\":[{\"as\":\"string\",\"path\":\"a\"}]}",
		"{\"name\":\"x\",\"prefix\":-1,\"rules\":[{\"as\":\"string\",\"path\":\"a\"}]}",
		"{\"name\":\"x\",\"prefix\":\"12\",\"rules\":[{\"as\":\"string\",\"path\":\"a\"}]}",
		"{\"name\":\"x\",\"prefix\":1,\"rules\":[{\"as\":\"namespace\"}]}",
		("{\"name\":\"a name of sixty-four bytes is one byte longer than it is allowed\","
		 "\"rules\":[{\"as\":\"namespace\"}]}"),
		nine_rules,
	};

	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		const char *why = NULL;
		struct index_def def;

		if (index_def_read(&def, body_fixture_value(fx, impossible[i]), &why) != -EINVAL || !why)
			fail_msg("accepted: %s", impossible[i]);
		assert_null(def.rules);
	}
}
