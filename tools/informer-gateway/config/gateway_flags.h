/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gateway flags: the command line. It sets one listener, or names a configuration file with any number of
 * them. The API server and the limits of the process can be set with both.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FLAGS_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_FLAGS_H

#include <stdio.h>

#include "tools/informer-gateway/config/gateway_config.h"

/*
 * Read the command line and the file that it names, and check the result (gw_config_check()).
 *
 * ret_config  set on success only; give it to gw_config_done()
 * Returns     0; 1: --help or --version was answered on `out`; -EINVAL or another error, with a message
 */
int gw_flags_parse(int argc, char *const *argv, FILE *out, struct gw_config *ret_config, char **ret_error);

#endif
