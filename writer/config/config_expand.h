/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ${NAME} in values of the configuration: the environment's, as a DaemonSet gives each pod the name of its
 * node.
 */
#ifndef WRITER_CONFIG_CONFIG_EXPAND_H
#define WRITER_CONFIG_CONFIG_EXPAND_H

/*
 * Replace every ${NAME} in *text (malloc'ed; NULL is fine) by the variable's value. A $ without { stands for
 * itself. What the values bring is not looked at again.
 *
 * Returns   0; -EINVAL with message: a variable that is not set or is empty (a selector without its value
 *           would mean another, larger part), no closing brace, no name; -ENOMEM. *text stays as it was then
 */
int config_expand(char **text, char **ret_error);

#endif
