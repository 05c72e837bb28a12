/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces ${NAME} in configuration values by environment variables. A DaemonSet gives each pod its node's
 * name that way.
 */
#ifndef WRITER_CONFIG_CONFIG_EXPAND_H
#define WRITER_CONFIG_CONFIG_EXPAND_H

/*
 * Replace every ${NAME} in *text (malloc'ed; NULL is fine) by the variable's value. A $ without { is kept.
 * Values are not expanded again. On failure *text is unchanged.
 *
 * Returns  0; -EINVAL with message: no name, no closing brace, or a variable that is unset or empty (a
 *          selector without its value would select more); -ENOMEM
 */
int config_expand(char **text, char **ret_error);

#endif
