/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of the configuration file. A mapping is described by a table of them; what is not in its table, or
 * of another type, is refused with file:line:column.
 */
#ifndef WRITER_CONFIG_CONFIG_FIELD_H
#define WRITER_CONFIG_CONFIG_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "writer/config/config.h"
#include "writer/base/yaml.h"

#define CONFIG_FIELDS_MAX 40

struct config_reading {
	const struct yaml *yaml;
	struct config *config;
	char **ret_error;
};

/* A field's name and what takes its value into `into` (the table's struct) at this offset. */
struct config_field {
	const char *name;
	int (*take)(const struct config_reading *in, const cJSON *value, void *into);
	size_t offset;
};

#define CONFIG_FIELDS(array) array, sizeof(array) / sizeof(*(array))

/* Each returns 0, -EINVAL with message, or -ENOMEM. */

/* "NAME must be EXPECTED", with its place. -EINVAL. */
int config_field_wrong(const struct config_reading *in, const cJSON *value, const char *expected);
/* Put file:line:column before a message of config_parse.h's. */
int config_field_placed(const struct config_reading *in, const cJSON *value, int code, char **error);
/* All members of an object by the table; what: what it should be, for the message. */
int config_field_mapping(const struct config_reading *in, const cJSON *object,
			 const struct config_field *fields, size_t n, void *into, const char *what);
int config_field_number(const struct config_reading *in, const cJSON *value, double min, double max,
			uint64_t *ret);

/*
 * For tables: into a char *, bool, enum config_choice, unsigned (seconds, 1 to 86,400) or uint64_t (size). A
 * path is relative to the file's folder.
 */
int config_field_string(const struct config_reading *in, const cJSON *value, void *into);
int config_field_path(const struct config_reading *in, const cJSON *value, void *into);
int config_field_namespace(const struct config_reading *in, const cJSON *value, void *into);
int config_field_bool(const struct config_reading *in, const cJSON *value, void *into);
int config_field_choice(const struct config_reading *in, const cJSON *value, void *into);
int config_field_seconds(const struct config_reading *in, const cJSON *value, void *into);
int config_field_size(const struct config_reading *in, const cJSON *value, void *into);

#endif
