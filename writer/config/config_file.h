/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the configuration file: YAML, or JSON, which is YAML.
 */
#ifndef WRITER_CONFIG_CONFIG_FILE_H
#define WRITER_CONFIG_CONFIG_FILE_H

#include "writer/config/config.h"

/*
 * Parse one file, which was read from `path`. Unset fields are zero, log_level is -1. The configuration as a
 * whole is not checked here.
 *
 * ret_config  set on success only; free with config_done()
 * Returns     0; -EINVAL with a message that begins "path:line:column: "; -ENOMEM
 */
int config_load(const char *path, const char *data, size_t length, struct config *ret_config,
		char **ret_error);

#endif
