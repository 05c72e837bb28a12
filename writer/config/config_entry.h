/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of `resources:` and `indexes:` on their way into the configuration: variables, several namespaces,
 * copies, and how many there may be.
 */
#ifndef WRITER_CONFIG_CONFIG_ENTRY_H
#define WRITER_CONFIG_CONFIG_ENTRY_H

#include "writer/config/config.h"

/*
 * Append an entry, taking what it owns (on failure too). A resource's ${VARIABLES} are replaced, and one with
 * several namespaces becomes an entry for each. Returns 0, -EINVAL with message (a variable that is not set,
 * no namespace), -E2BIG with message beyond CONFIG_MAX_*, -ENOMEM.
 */
int config_take_resource(struct config *config, struct config_resource *resource, char **ret_error);
int config_take_index(struct config *config, struct config_index *index, char **ret_error);

/* Append what a flag says (config_parse.h has the syntax). Each returns 0, -EINVAL with message, -ENOMEM. */
int config_add_resource(struct config *config, const char *text, char **ret_error);
int config_add_index(struct config *config, const char *text, char **ret_error);

#endif
