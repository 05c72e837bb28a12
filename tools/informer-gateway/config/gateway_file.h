/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gateway file: reads the configuration file, YAML or JSON. An unknown key or a wrong type is refused, with
 * file:line:column and the nearest known word.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FILE_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FILE_H

#include "tools/informer-gateway/config/gateway_config.h"

/*
 * Read a file into a configuration that holds its defaults. Does not call gw_config_check().
 *
 * config   give it to gw_config_done(), also on failure
 * Returns  0, -EINVAL with a message that begins "file:line:column: ", a negative errno for an unreadable
 *          file, -ENOMEM
 */
int gw_config_load(const char *path, struct gw_config *config, char **ret_error);

#endif
