/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of `resources:` on their way into the configuration: variables, several namespaces, copies.
 */
#ifndef WRITER_CONFIG_CONFIG_ENTRY_H
#define WRITER_CONFIG_CONFIG_ENTRY_H

#include "writer/config/config.h"

/* Append a copy of an entry that another configuration took. Returns 0, -E2BIG with message, -ENOMEM. */
int config_merge_resource(struct config *config, const struct config_resource *from, char **ret_error);

#endif
