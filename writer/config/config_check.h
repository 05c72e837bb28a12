/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of a configuration as a whole: that something is cached, that entries do not overlap, that
 * Secrets were meant. Resource names are only known after discovery, so their checks are a second step.
 */
#ifndef WRITER_CONFIG_CONFIG_CHECK_H
#define WRITER_CONFIG_CONFIG_CHECK_H

#include "writer/config/config.h"

/* What can be checked without the server. Returns 0, or with message -EINVAL, -EPERM for Secrets. */
int config_check(const struct config *config, char **ret_error);

/*
 * All names to ask discovery for: those of the resources, then those of the indexes,
 * n_resources + n_indexes of them. The array is the caller's to free(), its strings are not.
 * NULL without memory.
 */
const char **config_names(const struct config *config);

/*
 * The checks that need the server's answer. `resolved` goes with config_names(). Refused: Secrets
 * without allowSecrets; a namespace for a resource that has none (one from --namespace is
 * dropped silently); two entries of one resource that are not disjoint by namespace; an
 * index over a resource that is not cached. NULL in `resolved` (it did not resolve this
 * time) takes part in no check.
 *
 * Returns   0, -EINVAL with message that names both entries, -EPERM for Secrets
 */
int config_check_resolved(struct config *config, const struct kube_resource *const *resolved,
			  char **ret_error);

#endif
