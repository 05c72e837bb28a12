/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a configuration from a file's text and flags, and writes it as one text. */
#ifndef TESTS_SUPPORT_CONFIG_TEXT_H
#define TESTS_SUPPORT_CONFIG_TEXT_H

#include "writer/config/config.h"

/*
 * The text has " field=value" for each field that was set, under the names of struct config and struct
 * kubeconfig_choice. A line of the same follows for each resource and index. The usual log level, wire and
 * compression are left out, and so are socket and arena name, whose defaults depend on the machine. `dir`, if
 * not NULL, is written as "DIR". Valid until the next call.
 */
const char *config_text(const struct config *c, const char *dir);

/*
 * Build a configuration from a file in `dir` with this text (NULL: no file), and flags separated by blanks
 * (NULL: none).
 */
int config_try(const char *dir, const char *yaml, const char *flags, struct config *ret, char **ret_error);
/* The same, and it must succeed. */
struct config config_built(const char *dir, const char *yaml, const char *flags);

#endif
