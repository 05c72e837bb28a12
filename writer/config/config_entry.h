/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds entries of `resources:` and `indexes:` to the configuration: replaces variables, splits several
 * namespaces, copies, and limits their number.
 */
#ifndef WRITER_CONFIG_CONFIG_ENTRY_H
#define WRITER_CONFIG_CONFIG_ENTRY_H

#include "writer/config/config.h"

/*
 * Append an entry, and take over what it owns (on failure too). A resource's ${VARIABLES} are replaced. A
 * resource with several namespaces becomes an entry for each. Returns 0; with message -EINVAL (a variable is
 * not set, or there is no namespace) or -E2BIG (more than CONFIG_MAX_*); -ENOMEM.
 */
int config_take_resource(struct config *config, struct config_resource *resource, char **ret_error);
int config_take_index(struct config *config, struct config_index *index, char **ret_error);

/* Append what a flag says (config_parse.h has the syntax). Each returns 0, -EINVAL with message, -ENOMEM. */
int config_add_resource(struct config *config, const char *text, char **ret_error);
int config_add_index(struct config *config, const char *text, char **ret_error);

#endif
