/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of YAML mappings, as configuration files have them. A mapping is described by a table of its fields;
 * what is not in the table (the message has the nearest name that is), or of another type, is refused with
 * file:line:column.
 */
#ifndef WRITER_BASE_YAML_FIELD_H
#define WRITER_BASE_YAML_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/base/yaml.h"

#define YAML_FIELDS_MAX 40

struct yaml_reading {
	const struct yaml *yaml;
	void *context; /* whose file it is: the whole configuration, for fields that go elsewhere */
	char **ret_error;
};

/* A field's name and what takes its value into `into` (the table's struct) at this offset. */
struct yaml_field {
	const char *name;
	int (*take)(const struct yaml_reading *in, const cJSON *value, void *into);
	size_t offset;
};

#define YAML_FIELDS(array) array, sizeof(array) / sizeof(*(array))

/* Each returns 0, -EINVAL with message, or -ENOMEM. */

/* "NAME must be EXPECTED", with its place. -EINVAL. */
int yaml_field_wrong(const struct yaml_reading *in, const cJSON *value, const char *expected);
/* Put file:line:column before a message of a parser's, which stays the caller's. */
int yaml_field_placed(const struct yaml_reading *in, const cJSON *value, int code, char **error);
/* All members of an object by the table; what: what it should be, for the message. */
int yaml_field_mapping(const struct yaml_reading *in, const cJSON *object, const struct yaml_field *fields,
		       size_t n, void *into, const char *what);
int yaml_field_number(const struct yaml_reading *in, const cJSON *value, double min, double max,
		      uint64_t *ret);
/* A time as a string, such as 30s or 1m30s, between two bounds. */
int yaml_field_time(const struct yaml_reading *in, const cJSON *value, uint64_t least_ms, uint64_t most_ms,
		    uint64_t *ret_ms);

/*
 * For tables: into a char *, bool, unsigned (seconds, 1 to 86,400) or uint64_t (size). A path is relative to
 * the file's folder.
 */
int yaml_field_string(const struct yaml_reading *in, const cJSON *value, void *into);
int yaml_field_path(const struct yaml_reading *in, const cJSON *value, void *into);
int yaml_field_bool(const struct yaml_reading *in, const cJSON *value, void *into);
int yaml_field_seconds(const struct yaml_reading *in, const cJSON *value, void *into);
int yaml_field_size(const struct yaml_reading *in, const cJSON *value, void *into);

#endif
