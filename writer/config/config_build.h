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

#define CONFIG_MAX_BYTES (4u << 20) /* of a file */

struct options;

/*
 * The whole configuration: the text of the file that options name with the flags merged in, defaults filled,
 * everything checked that can be without the server.
 *
 * text        of sealed_text.h; -1: there is no file
 * ret_config  set on success only; give it to config_done()
 * Returns     0, -EINVAL with message, another negative errno
 */
int config_build(const struct options *options, int text, struct config *ret_config, char **ret_error);

#endif
