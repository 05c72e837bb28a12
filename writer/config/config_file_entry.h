/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of the configuration file below `resources:` and `indexes:`, and fields that both a resource and the
 * whole file have.
 */
#ifndef WRITER_CONFIG_CONFIG_FILE_ENTRY_H
#define WRITER_CONFIG_CONFIG_FILE_ENTRY_H

#include "writer/base/yaml_field.h"
#include "writer/config/config.h"

/* An item of each list. It is appended to a struct config. */
extern const struct yaml_field config_file_resource, config_file_index;

/* Fields of a struct config_tombstones. */
#define CONFIG_FILE_TOMBSTONE_FIELDS 3
extern const struct yaml_field config_file_tombstones[CONFIG_FILE_TOMBSTONE_FIELDS];
#define CONFIG_FILE_TOMBSTONES YAML_MAPPING(config_file_tombstones, "a mapping with count, bytes, seconds")

/* Take an enum config_choice; and a namespace, which may contain variables, as a char *. */
yaml_take config_file_choice;
flag_take config_file_namespace;

#endif
