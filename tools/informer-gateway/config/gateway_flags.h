/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: everything about one listener, or a configuration file with any number; how the API
 * server is reached, and what the process as a whole may use, beside both.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FLAGS_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FLAGS_H

#include <stdio.h>

#include "tools/informer-gateway/config/gateway_config.h"

/*
 * Read the command line, and the file it names, into a configuration that is whole (gw_config_check()).
 *
 * ret_config  set on success only; give it to gw_config_done()
 * Returns     0; 1: --help or --version was answered on `out`; -EINVAL and others with a message
 */
int gw_flags_parse(int argc, char *const *argv, FILE *out, struct gw_config *ret_config, char **ret_error);

#endif
