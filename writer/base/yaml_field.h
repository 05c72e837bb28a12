/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the fields of YAML mappings in configuration files. A table describes each field of a mapping: its
 * kind, its bounds and where its value goes. A field that is not in the table, has another type or is out of
 * bounds is refused with file:line:column. For an unknown field the message has the nearest known name.
 */
#ifndef WRITER_BASE_YAML_FIELD_H
#define WRITER_BASE_YAML_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/flags/flags.h"
#include "writer/base/yaml.h"

#define YAML_FIELDS_MAX 40

struct yaml_reading {
	const struct yaml *yaml;
	char **ret_error;
};

struct yaml_field;
/* Store a value in its place. Returns 0, -EINVAL with message, or -ENOMEM. */
typedef int yaml_take(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field,
		      void *into);

/* A field. Members that its kind does not need stay zero. */
struct yaml_field {
	const char *name;
	yaml_take *take;
	size_t offset;        /* of its place in the table's struct */
	uint64_t least, most; /* bounds of a number or a time; of a list: its least length */
	flag_take *parse;     /* of a text */
	const char *expected; /* for a value of another type: "NAME must be EXPECTED" */
	const char *yes, *no; /* two words for a bool */
	const struct yaml_field *fields; /* of a mapping; of a list: the field of each item */
	size_t field_count;
};

/* For rows: {"wait", YAML_TIME(1000, 60000), YAML_AT(struct thing, wait_ms)}. */
#define YAML_AT(type, member) .offset = offsetof(type, member)
#define YAML_STRING .take = yaml_field_string /* char * */
#define YAML_PATH .take = yaml_field_path     /* char *, relative to the file's folder */
#define YAML_BOOL .take = yaml_field_bool
#define YAML_CHOICE(no_word, yes_word) .take = yaml_field_bool, .no = no_word, .yes = yes_word /* bool */
#define YAML_COUNT(low, high) .take = yaml_field_count, .least = low, .most = high /* unsigned */
#define YAML_TIME(low, high) .take = yaml_field_time, .least = low, .most = high /* uint64_t, in ms */
#define YAML_SIZE .take = yaml_field_size /* uint64_t */
/* Parsed by a flag's function, into the flag's type. what: NULL for a string of any kind. */
#define YAML_TEXT(function, what) .take = yaml_field_text, .parse = function, .expected = what
#define YAML_MAPPING(table, what) .take = yaml_field_mapping, YAML_FIELDS(table, what)
#define YAML_FIELDS(table, what)                                                                             \
	.fields = table, .field_count = sizeof(table) / sizeof(*(table)), .expected = what
/* Each item is stored in the same place. */
#define YAML_LIST(item, what) .take = yaml_field_list, .fields = &(item), .expected = what

yaml_take yaml_field_string, yaml_field_path, yaml_field_bool, yaml_field_count, yaml_field_time,
	yaml_field_size, yaml_field_text, yaml_field_mapping, yaml_field_list;

/* Read a file, which is a mapping, by its table into the table's struct. */
int yaml_field_load(const char *path, const struct yaml_field *whole, void *into, char **ret_error);
/* The same, for data read from that file. */
int yaml_field_parse(const char *path, const char *data, size_t length, const struct yaml_field *whole,
		     void *into, char **ret_error);

/* Make the error "NAME must be EXPECTED", with its place. Returns -EINVAL. */
int yaml_field_wrong(const struct yaml_reading *in, const cJSON *value, const char *expected);
/* Put file:line:column before a parser's message, which the caller still owns. */
int yaml_field_placed(const struct yaml_reading *in, const cJSON *value, int code, char **error);
int yaml_field_number(const struct yaml_reading *in, const cJSON *value, double min, double max,
		      uint64_t *ret);
/* A value's place, "FILE:LINE:COLUMN": allocated; NULL without memory. */
char *yaml_field_place(const struct yaml_reading *in, const cJSON *value);

#endif
