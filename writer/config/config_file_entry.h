/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the configuration file: what stands below `resources:` and `indexes:`, and what a resource has
 * as well as the whole.
 */
#ifndef WRITER_CONFIG_CONFIG_FILE_ENTRY_H
#define WRITER_CONFIG_CONFIG_FILE_ENTRY_H

#include "writer/base/yaml_field.h"
#include "writer/config/config.h"

/* An item of each list, appended to a struct config. */
extern const struct yaml_field config_file_resource, config_file_index;

/* Of a struct config_tombstones. */
#define CONFIG_FILE_TOMBSTONE_FIELDS 3
extern const struct yaml_field config_file_tombstones[CONFIG_FILE_TOMBSTONE_FIELDS];
#define CONFIG_FILE_TOMBSTONES YAML_MAPPING(config_file_tombstones, "a mapping with count, bytes, seconds")

/* An enum config_choice; a namespace, or one that variables make, as a char *. */
yaml_take config_file_choice;
flag_take config_file_namespace;

#endif
