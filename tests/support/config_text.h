/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration out of a file's text and flags, and as one text, for tests.
 */
#ifndef TESTS_SUPPORT_CONFIG_TEXT_H
#define TESTS_SUPPORT_CONFIG_TEXT_H

#include "writer/config/config.h"

/*
 * " field=value" for each field that was said, under the names of struct config and struct kubeconfig_choice,
 * then for each resource and index a line of the same. The usual log level, wire and compression are not
 * written, nor are the socket and the arena's name, whose defaults are the machine's. `dir`, if not NULL, is
 * written as "DIR". Valid until the next call.
 */
const char *config_text(const struct config *c, const char *dir);

/* Of a file in `dir`, unless it is NULL, and of flags (NULL: none), which are separated by blanks. */
int config_try(const char *dir, const char *yaml, const char *flags, struct config *ret, char **ret_error);
/* The same, and it must succeed. */
struct config config_built(const char *dir, const char *yaml, const char *flags);

#endif
