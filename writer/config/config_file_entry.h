/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the configuration file: what stands below `resources:` and `indexes:`, and `tombstones:`, which
 * a resource has as well as the whole.
 */
#ifndef WRITER_CONFIG_CONFIG_FILE_ENTRY_H
#define WRITER_CONFIG_CONFIG_FILE_ENTRY_H

#include "writer/config/config_field.h"

/*
 * For tables of fields (config_field.h). The first two append to in->config, the third fills a struct
 * config_tombstones.
 */
int config_file_resources(const struct yaml_reading *in, const cJSON *value, void *into);
int config_file_indexes(const struct yaml_reading *in, const cJSON *value, void *into);
int config_file_wire(const struct yaml_reading *in, const cJSON *value, void *into);
int config_file_tombstones(const struct yaml_reading *in, const cJSON *value, void *into);

#endif
