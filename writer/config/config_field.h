/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that the daemon's configuration alone has, beside those of yaml_field.h. The context of the reading
 * is its struct config.
 */
#ifndef WRITER_CONFIG_CONFIG_FIELD_H
#define WRITER_CONFIG_CONFIG_FIELD_H

#include "writer/base/yaml_field.h"
#include "writer/config/config.h"

/* For tables: into a char *, an enum config_choice. Each returns 0, -EINVAL with message, or -ENOMEM. */
int config_field_namespace(const struct yaml_reading *in, const cJSON *value, void *into);
int config_field_choice(const struct yaml_reading *in, const cJSON *value, void *into);

#endif
