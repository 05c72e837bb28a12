/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of YAML mappings, by a table. */
#include "tests/room.h"
#include "writer/base/message.h"
#include "writer/base/yaml_field.h"

struct thing {
	char *name, *file;
	bool on;
	unsigned seconds;
	uint64_t bytes, wait_ms;
};

static int
take_wait(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return yaml_field_time(in, value, 1, 60000, into);
}

/* Read a thing of the text; the message where it is refused, else NULL. */
static char *
read_thing(const char *text, struct thing *ret)
{
	static const struct yaml_field fields[] = {
		{"name", yaml_field_string, offsetof(struct thing, name)},
		{"file", yaml_field_path, offsetof(struct thing, file)},
		{"on", yaml_field_bool, offsetof(struct thing, on)},
		{"seconds", yaml_field_seconds, offsetof(struct thing, seconds)},
		{"bytes", yaml_field_size, offsetof(struct thing, bytes)},
		{"wait", take_wait, offsetof(struct thing, wait_ms)},
	};
	_cleanup_(yaml_unloadp) struct yaml *yaml = NULL;
	char *error = NULL;
	struct yaml_reading in = {.ret_error = &error};

	*ret = (struct thing){0};
	if (yaml_parse("/etc/thing.yaml", text, strlen(text), &yaml, &error) == 0) {
		in.yaml = yaml;
		(void)yaml_field_mapping(&in, yaml_root(yaml), YAML_FIELDS(fields), ret, "a thing");
	}
	return error;
}

static void
thing_done(struct thing *thing)
{
	free(thing->name);
	free(thing->file);
}

/* Each field goes where the table says; a path is from the file's folder, and null is as if it were not
 * there. */
TEST_CASE(fields_go_where_the_table_says)
{
	struct thing thing;

	assert_null(
		read_thing("name: a\nfile: b/c.pem\non: true\nseconds: 5\nbytes: 4Ki\nwait: 2s\n", &thing));
	assert_string_equal(thing.name, "a");
	assert_string_equal(thing.file, "/etc/b/c.pem");
	assert_true(thing.on);
	assert_int_equal(thing.seconds, 5);
	assert_int_equal(thing.bytes, 4096);
	assert_int_equal(thing.wait_ms, 2000);
	thing_done(&thing);
	assert_null(read_thing("name: null\nbytes: 12\n", &thing));
	assert_null(thing.name);
	assert_int_equal(thing.bytes, 12);
	thing_done(&thing);
}

/* What is not in the table is refused with its place and the name that was meant; so is another type. */
TEST_CASE(what_is_not_in_the_table_is_refused)
{
	static const struct {
		const char *yaml, *message;
	} cases[] = {
		{"name: a\nsecond: 4\n", "2:1: unknown field 'second'; did you mean seconds?"},
		{"elephant: 4\n", "1:1: unknown field 'elephant'"},
		{"on: yes\n", "1:5: on must be true or false"},
		{"name: 5\n", "1:7: name must be a string (numbers and words like true in quotes)"},
		{"seconds: 0\n", "1:10: seconds must be a whole number from 1 to 86400"},
		{"seconds: 1.5\n", "1:10: seconds must be a whole number from 1 to 86400"},
		{"wait: 2\n", "1:7: wait must be a time as a string, such as 800ms, 30s or 1m30s"},
		{"bytes: lots\n", "1:8: 'lots' is not a size; write it as 512Mi, 4Gi or in bytes"},
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
