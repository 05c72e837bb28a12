/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known names: what the API server said that the configuration's names mean. Asked once: what is cached stays
 * what it is when its definition disappears.
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

/* What this name, as it was written, means; NULL: not known. Borrowed until the next change. */
const struct kube_resource *known_names_find(const struct known_names *known, const char *text);

/* Copied; a name that is known already keeps its meaning. 0, -ENOMEM. */
int known_names_add(struct known_names *known, const char *text, const struct kube_resource *means);

/*
 * Learn what this configuration's names mean that are not known yet; what the server lacks and may lack (a
 * resource that is optional, an index over one) stays unknown.
 *
 * discovery    which was started with these names, and has its answers
 * was_known    whether the arena has an entry's content from an earlier life: then the server may lack it for
 *              now, and it counts as one that could not be found out; NULL: of none
 * ret_absent   set: the server lacks some resources that are optional
 * Returns      0; 1 some could not be found out this time (*ret_error says which); a negative errno with
 *              message: one of them is wrong (discovery_resolve())
 */
int known_names_learn(struct known_names *known, const struct config *config,
		      const struct discovery *discovery,
		      bool (*was_known)(void *context, const struct config_resource *entry), void *context,
		      char **ret_absent, char **ret_error);

/*
 * What all names of a configuration mean, in the order of config_names(), for config_check_resolved(): NULL
 * where it is not known. The array is the caller's to free(), what it refers to is borrowed. NULL without
 * memory.
 */
const struct kube_resource **known_names_of(const struct known_names *known, const struct config *config);

void known_names_done(struct known_names *known);

#endif
