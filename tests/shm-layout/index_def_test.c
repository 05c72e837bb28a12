/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index definitions: which values an object has by each kind of rule, and which definitions are refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What the definition finds in the body, joined by '|'. */
static void
assert_values(const char *definition, struct value body, const char *expected)
{
	struct body_fixture *fx = body_fixture_new(NULL, 0);
	struct found f = {.stop_after = 0};
	const char *why = "";
	struct index_def def;

	if (index_def_read(&def, body_fixture_value(fx, definition), &why) != 0)
		fail_msg("%s: %s", definition, why);
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

/* Each kind of rule gives the values it promises. */
TEST_CASE(rules_give_their_values)
{
	struct body_fixture *fx = body_fixture_new(NULL, 0);
	struct value body = body_fixture_value(
		fx, "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"\",\"n\":1},\"annotations\":{"
		    "\"users\":\" ernie , bert,,\\tkermit \"}},"
		    "\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"a\",\"port\":80},{\"name\":"
		    "\"b\",\"port\":8.5},{\"name\":true}],\"x\":\"\"},"
		    "\"status\":{\"ids\":[\"cri-o://abc\",\"containerd://def\",\"plain\",\"://x\",\"docker://"
		    "\"]}}");

	assert_values("{\"name\":\"node\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"}]}", body,
		      "n1");
	assert_values(
		"{\"name\":\"names\",\"rules\":[{\"path\":\"spec.containers[*].name\",\"as\":\"string\"}]}",
		body, "a|b|true");
	assert_values(
		"{\"name\":\"ports\",\"rules\":[{\"path\":\"spec.containers[*].port\",\"as\":\"string\"}]}",
		body, "80|8.5");
	assert_values("{\"name\":\"ids\",\"rules\":[{\"path\":\"status.ids[*]\",\"as\":\"scheme\"}]}", body,
		      "abc|def|plain|://x");
	assert_values("{\"name\":\"labels\",\"rules\":[{\"path\":\"metadata.labels\",\"as\":\"keyvalue\"}]}",
		      body, "app=web|tier=|n=1");
	assert_values("{\"name\":\"users\",\"rules\":[{\"path\":\"metadata.annotations.users\",\"as\":"
		      "\"split\",\"separator\":\",\"}]}",
		      body, "ernie|bert|kermit");
	assert_values("{\"name\":\"two\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"},{\"path\":"
		      "\"spec.containers[0].name\",\"as\":\"string\"}]}",
		      body, "n1|a");
	/* what is not there, or of another kind, has no value */
	assert_values("{\"name\":\"none\",\"rules\":[{\"path\":\"spec.nothing\",\"as\":\"string\"},{\"path\":"
		      "\"spec.containers\",\"as\":\"string\"},"
		      "{\"path\":\"spec.nodeName\",\"as\":\"keyvalue\"},{\"as\":\"namespace\"}]}",
		      body, "");
	body_fixture_free(fx);
}

/* The classic: byUser over the annotation "ernie,bert" holds both. */
TEST_CASE(by_user_holds_every_user)
{
	struct body_fixture *fx = body_fixture_new(NULL, 0);

	assert_values("{\"name\":\"byUser\",\"rules\":[{\"path\":\"metadata.annotations.users\",\"as\":"
		      "\"split\",\"separator\":\",\"}]}",
		      body_fixture_value(fx, "{\"metadata\":{\"annotations\":{\"users\":\"ernie,bert\"}}}"),
		      "ernie|bert");
	body_fixture_free(fx);
}

/* A namespace rule takes the object's own namespace, and nothing for objects without. */
TEST_CASE(the_namespace_comes_from_the_key)
{
	struct body_fixture *fx = body_fixture_new(NULL, 0);
	struct object *o = calloc(1, sizeof(*o) + 8);
	struct value body = body_fixture_value(fx, "{\"a\":1}");

	assert_non_null(o);
	o->namespace_length = 4;
	memcpy(o->key, "kube", 4);
	body.own = o;
	assert_values("{\"name\":\"ns\",\"rules\":[{\"as\":\"namespace\"}]}", body, "kube");
	free(o);
	body_fixture_free(fx);
}

/* Values up to 4,096 bytes are indexed, longer ones are not, whatever rule they come from. */
TEST_CASE(long_values_are_not_indexed)
{
	struct body_fixture *fx = body_fixture_new(NULL, 0), *defs = body_fixture_new(NULL, 0);
	char *text = malloc(20000);

	assert_non_null(text);
	for (unsigned length = INDEX_VALUE_MAX; length <= INDEX_VALUE_MAX + 1; length++) {
		const char *rules = "{\"name\":\"x\",\"rules\":[{\"path\":\"l[*]\",\"as\":\"string\"},{"
				    "\"path\":\"l[*]\",\"as\":\"split\",\"separator\":\" \"},"
				    "{\"path\":\"o\",\"as\":\"keyvalue\"}]}";
		struct found f = {.stop_after = 0};
		struct index_def def;
		size_t n = 0;

		n += (size_t)sprintf(text, "{\"l\":[\"");
		memset(text + n, 'v', length);
		n += length;
		n += (size_t)sprintf(text + n, "\"],\"o\":{\"k\":\"");
		memset(text + n, 'w', length - 2);
		strcpy(text + n + length - 2, "\"}}");
		assert_int_equal(index_def_read(&def, body_fixture_value(defs, rules), NULL), 0);
		assert_int_equal(index_def_each(&def, body_fixture_value(fx, text), collect, &f), 0);
		if (length == INDEX_VALUE_MAX)
			assert_true(strlen(f.text) > INDEX_VALUE_MAX);
		else
			assert_string_equal(f.text, "");
		index_def_done(&def);
	}
	free(text);
	body_fixture_free(fx);
	body_fixture_free(defs);
}

/* The caller's answer stops the walk and comes back. */
TEST_CASE(a_callback_stops_the_walk)
{
	struct body_fixture *fx = body_fixture_new(NULL, 0), *defs = body_fixture_new(NULL, 0);
	struct found f = {.stop_after = 2};
	struct index_def def;

	assert_int_equal(
		index_def_read(
			&def,
			body_fixture_value(defs,
					   "{\"name\":\"x\",\"rules\":[{\"path\":\"o\",\"as\":\"keyvalue\"},"
					   "{\"path\":\"p\",\"as\":\"string\"}]}"),
			NULL),
		0);
	assert_int_equal(index_def_each(&def,
					body_fixture_value(fx, "{\"o\":{\"a\":1,\"b\":2,\"c\":3},\"p\":4}"),
					collect, &f),
			 9);
	assert_string_equal(f.text, "a=1|b=2");
	index_def_done(&def);
	body_fixture_free(fx);
	body_fixture_free(defs);
}

/* Definitions that make no sense are refused, each with a reason. */
TEST_CASE(impossible_definitions_are_refused)
{
	static const char nine_rules[] =
		"{\"name\":\"x\",\"rules\":[{\"as\":\"namespace\"},{\"as\":\"namespace\"},{\"as\":"
		"\"namespace\"},"
		"{\"as\":\"namespace\"},{\"as\":\"namespace\"},{\"as\":\"namespace\"},{\"as\":\"namespace\"},"
		"{\"as\":\"namespace\"},{\"as\":\"namespace\"}]}";
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
		("{\"name\":\"a name of sixty-four bytes is one byte longer than it is allowed\","
		 "\"rules\":[{\"as\":\"namespace\"}]}"),
		nine_rules,
	};
	struct body_fixture *fx = body_fixture_new(NULL, 0);

	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		const char *why = NULL;
		struct index_def def;

		if (index_def_read(&def, body_fixture_value(fx, impossible[i]), &why) != -EINVAL || !why)
			fail_msg("accepted: %s", impossible[i]);
		assert_null(def.rules);
	}
	body_fixture_free(fx);
}
