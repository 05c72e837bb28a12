/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateway's configuration file: YAML, or JSON, which is YAML. What is not known there, or of another
 * type, is refused with file:line:column and the nearest word that is known.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FILE_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FILE_H

#include "tools/informer-gateway/config/gateway_config.h"

/*
 * Read one into a configuration that has its defaults. What it must be as a whole is not asked here.
 *
 * config   also on failure for gw_config_done()
 * Returns  0, -EINVAL with a message that begins "file:line:column: ", a negative errno for a file that
 * cannot be read, -ENOMEM
 */
int gw_config_load(const char *path, struct gw_config *config, char **ret_error);

#endif
