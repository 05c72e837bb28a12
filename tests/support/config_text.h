/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration as one text, for tests.
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

#endif
