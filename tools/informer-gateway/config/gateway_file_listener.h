/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listeners of the configuration file.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FILE_LISTENER_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FILE_LISTENER_H

#include "tools/informer-gateway/config/gateway_config.h"
#include "writer/base/yaml_field.h"

/* For a table of fields: a list of listeners, appended to the reading's context, a struct gw_config. */
int gw_file_listeners(const struct yaml_reading *in, const cJSON *value, void *into);
/* The same: a list of names, appended to a struct gw_texts. */
int gw_file_names(const struct yaml_reading *in, const cJSON *value, void *into);

#endif
