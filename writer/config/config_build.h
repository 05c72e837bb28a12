/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole configuration: what the file (--config, YAML) and the command line say, with the defaults.
 *
 * A flag wins over the file; lists (resources, indexes, uids, gids) are joined. What is wrong is refused with
 * file:line:column, or the flag, and the nearest known name.
 */
#ifndef WRITER_CONFIG_CONFIG_BUILD_H
#define WRITER_CONFIG_CONFIG_BUILD_H

#include "writer/config/config.h"

struct options;

/*
 * The whole configuration: the file that options name, if any, with the flags merged in,
 * defaults filled, everything checked that can be without the server.
 *
 * ret_config  set on success only; give it to config_done()
 * Returns     0, -EINVAL with message, a negative errno for a file that cannot be read, -ENOMEM
 */
int config_build(const struct options *options, struct config *ret_config, char **ret_error);

#endif
