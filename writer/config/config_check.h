/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of a configuration as a whole: something is cached, entries do not overlap, and Secrets are allowed
 * explicitly. Resource names are known only after discovery, so their checks are a second step.
 */
#ifndef WRITER_CONFIG_CONFIG_CHECK_H
#define WRITER_CONFIG_CONFIG_CHECK_H

#include "writer/config/config.h"

/* Check what does not need the server. Returns 0; with message -EINVAL, or -EPERM for Secrets. */
int config_check(const struct config *config, char **ret_error);

/*
 * All names to ask discovery for: n_resources names of resources, then n_indexes of indexes. The caller frees
 * the array with free(), not its strings. NULL: no memory.
 */
const char **config_names(const struct config *config);

/*
 * The checks that need the server's answer. `resolved` is in the order of config_names(); an entry that did
 * not resolve is NULL and is not checked. These are refused:
 *
 * - Secrets without allowSecrets
 * - a namespace for a resource that has none (one from --namespace is dropped silently)
 * - two entries of one resource that share a namespace
 * - an index over a resource that is not cached
 *
 * Returns  0; -EINVAL with message (names both entries where two overlap); -EPERM for Secrets
 */
int config_check_resolved(struct config *config, const struct kube_resource *const *resolved,
			  char **ret_error);

#endif
