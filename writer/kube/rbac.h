/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RBAC help: the rule that is missing when a server answers 403.
 */
#ifndef WRITER_KUBE_RBAC_H
#define WRITER_KUBE_RBAC_H

#include "writer/kube/resource_name.h"

/*
 * The rule to add, in one line for the log, with the kind of role it belongs to:
 *
 *	add to informerd's ClusterRole: {apiGroups: ["apps"], resources: ["deployments"],
 *	verbs: ["list", "watch"]}
 *
 * namespace_  NULL or "" for all of them (then it must be a ClusterRole)
 * Returns     an allocated text, NULL without memory
 */
char *rbac_hint(const struct kube_resource *resource, const char *namespace_);

#endif
