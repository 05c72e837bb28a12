/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the whole configuration from the file (--config, YAML), the command line and the defaults.
 *
 * A flag wins over the file; lists (resources, indexes, uids, gids) are joined. An error names
 * file:line:column or the flag, and the nearest known name.
 */
#ifndef WRITER_CONFIG_CONFIG_BUILD_H
#define WRITER_CONFIG_CONFIG_BUILD_H

#include "writer/config/config.h"

#define CONFIG_MAX_BYTES (4u << 20) /* of a file */

struct options;

/*
 * Build the configuration: the file's text with the flags merged in, defaults filled, and everything checked
 * that does not need the server.
 *
 * text        the text of the file that options name (sealed_text.h); -1: there is no file
 * ret_config  set on success only; free with config_done()
 * Returns     0, -EINVAL with message, another negative errno
 */
int config_build(const struct options *options, int text, struct config *ret_config, char **ret_error);

#endif
