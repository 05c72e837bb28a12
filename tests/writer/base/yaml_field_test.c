/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of YAML mappings, read by a table. */
#include "tests/room.h"
#include "writer/base/message.h"
#include "writer/base/yaml_field.h"

struct thing {
	char *name, *file;
	bool on;
	unsigned seconds, items;
	uint64_t bytes, wait_ms;
};

static int
take_item(void *at, const char *text, char **ret_error)
{
	if (*text == '?')
		return message_set(ret_error, -EINVAL, "'%s' is a question", text);
	++*(unsigned *)at;
	return 0;
}

/* Read a struct thing from the text. Returns the message of a refusal, else NULL. */
static char *
read_thing(const char *text, struct thing *ret)
{
#define AT(member) YAML_AT(struct thing, member)
	static const struct yaml_field inner[] = {{"seconds", YAML_COUNT(1, 86400), AT(seconds)}};
	static const struct yaml_field item = {YAML_TEXT(take_item, NULL)};
	static const struct yaml_field fields[] = {
		{"name", YAML_STRING, AT(name)},
		{"file", YAML_PATH, AT(file)},
		{"on", YAML_BOOL, AT(on)},
		{"sound", YAML_CHOICE("off", "on"), AT(on)},
		{"inner", YAML_MAPPING(inner, "an inner thing")},
		{"bytes", YAML_SIZE, AT(bytes)},
		{"wait", YAML_TIME(1, 60000), AT(wait_ms)},
		{"items", YAML_LIST(item, "a list of items"), .least = 1, AT(items)},
	};
	static const struct yaml_field whole = {YAML_MAPPING(fields, "a thing")};
	_cleanup_(yaml_unloadp) struct yaml *yaml = NULL;
	char *error = NULL;
	struct yaml_reading in = {.ret_error = &error};

	*ret = (struct thing){0};
	if (yaml_parse("/etc/thing.yaml", text, strlen(text), &yaml, &error) == 0) {
		in.yaml = yaml;
		(void)yaml_field_mapping(&in, yaml_root(yaml), &whole, ret);
	}
	return error;
}

static void
thing_done(struct thing *thing)
{
	free(thing->name);
	free(thing->file);
}

/* Paths are relative to the file's folder; null means absent. */
TEST_CASE(fields_go_where_the_table_says)
{
	struct thing thing;

	assert_null(read_thing("name: a\nfile: b/c.pem\non: true\ninner: {seconds: 5}\nbytes: 4Ki\nwait: 2s\n"
			       "items: [a, b]\n",
			       &thing));
	assert_string_equal(thing.name, "a");
	assert_string_equal(thing.file, "/etc/b/c.pem");
	assert_true(thing.on);
	assert_int_equal(thing.seconds, 5);
	assert_int_equal(thing.bytes, 4096);
	assert_int_equal(thing.wait_ms, 2000);
	assert_int_equal(thing.items, 2);
	thing_done(&thing);
	assert_null(read_thing("sound: on\n", &thing));
	assert_true(thing.on);
	assert_null(read_thing("name: null\nbytes: 12B\n", &thing));
	assert_null(thing.name);
	assert_int_equal(thing.bytes, 12);
	thing_done(&thing);
}

/* Unknown fields are refused with their place and the nearest name. Fields of another type are refused. */
TEST_CASE(fields_not_in_the_table_are_refused)
{
	static const struct {
		const char *yaml, *message;
	} cases[] = {
		{"name: a\ninner: {second: 4}\n", "2:9: unknown field 'second'; did you mean seconds?"},
		{"elephant: 4\n", "1:1: unknown field 'elephant'"},
		{"on: yes\n", "1:5: on must be true or false"},
		{"name: 5\n", "1:7: name must be a string (numbers and words like true in quotes)"},
		{"inner: {seconds: 0}\n", "1:18: seconds must be a whole number from 1 to 86400"},
		{"inner: {seconds: 1.5}\n", "1:18: seconds must be a whole number from 1 to 86400"},
		{"inner: 4\n", "1:8: inner must be an inner thing"},
		{"sound: true\n", "1:8: sound must be off or on"},
		{"items: []\n", "1:8: items must be a list of items"},
		{"items: [a, 4]\n",
		 "1:12: what stands here must be a string (numbers and words like true in quotes)"},
		{"items: [a, '?']\n", "1:12: '?' is a question"},
		{"wait: 2m\n", "1:7: '2m' is not a time from 1ms to 1m, such as 800ms, 30s or 1m30s"},
		{"wait: 2\n", "1:7: wait must be a time as a string, such as 800ms, 30s or 1m30s"},
		{"bytes: lots\n", "1:8: 'lots' is not a size; write it as 512Mi or 4Gi"},
		{"bytes: 10\n", "1:8: '10': say the unit, such as 10Mi"},
		{"bytes: '10'\n", "1:8: '10': say the unit, such as 10Mi"},
		{"bytes: 0\n", "1:8: bytes must be a size of more than 0, such as 512Mi or 4Gi"},
		{"bytes: 1e300\n", "1:8: '1e+300' is not a size; write it as 512Mi or 4Gi"},
		{"bytes: -1\n", "1:8: '-1' is not a size; write it as 512Mi or 4Gi"},
		{"[]\n", "1:1: what stands here must be a thing"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct thing thing;
		_cleanup_(message_freep) char *error = read_thing(cases[i].yaml, &thing);

		assert_non_null(error);
		assert_memory_equal(error, "/etc/thing.yaml:", strlen("/etc/thing.yaml:"));
		assert_string_equal(error + strlen("/etc/thing.yaml:"), cases[i].message);
		thing_done(&thing);
	}
}
