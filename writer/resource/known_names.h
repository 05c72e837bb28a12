/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known names keep what the configuration's names mean, as the API server said. Each name is asked about
 * once: a cached resource keeps its meaning when its definition disappears.
 */
#ifndef WRITER_RESOURCE_KNOWN_NAMES_H
#define WRITER_RESOURCE_KNOWN_NAMES_H

#include <stddef.h>

#include "writer/config/config.h"
#include "writer/kube/discovery.h"

/* Zeroed is empty. */
struct known_names {
	struct known_name *names;
	size_t count;
};

/* What this name means, as written; NULL: not known. Borrowed until the next change. */
const struct kube_resource *known_names_find(const struct known_names *known, const char *text);

/* Add a name; both are copied. A known name keeps its meaning. 0, -ENOMEM. */
int known_names_add(struct known_names *known, const char *text, const struct kube_resource *means);

/*
 * Learn what the configuration's unknown names mean. An optional resource that the server lacks stays
 * unknown, and so does an index over it.
 *
 * discovery    was started with these names, and has its answers
 * was_known    returns true if the arena has an entry's content from an earlier writer: if the server lacks
 *              the resource, its name counts as not found out yet; NULL: no entry has such content
 * ret_absent   set if the server lacks some optional resources
 * Returns      0; 1 some names could not be found out this time (*ret_error says which); negative errno with
 *              message: a name is wrong (discovery_resolve())
 */
int known_names_learn(struct known_names *known, const struct config *config,
		      const struct discovery *discovery,
		      bool (*was_known)(void *context, const struct config_resource *entry), void *context,
		      char **ret_absent, char **ret_error);

/*
 * The meanings of all names of a configuration, in the order of config_names(), for config_check_resolved();
 * NULL where not known. The caller frees the array; its elements are borrowed. Returns NULL without memory.
 */
const struct kube_resource **known_names_of(const struct known_names *known, const struct config *config);

void known_names_done(struct known_names *known);

#endif
