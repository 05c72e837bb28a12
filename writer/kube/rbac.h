/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RBAC rule that is missing when a server answers 403.
 */
#ifndef WRITER_KUBE_RBAC_H
#define WRITER_KUBE_RBAC_H

#include "writer/kube/resource_name.h"

/*
 * The rule to add, in one line for the log, with the kind of role:
 *
 *	add to informerd's ClusterRole: {apiGroups: ["apps"], resources: ["deployments"],
 *	verbs: ["list", "watch"]}
 *
 * namespace_  NULL or "": all, which needs a ClusterRole
 * Returns     an allocated text; NULL: no memory
 */
char *rbac_hint(const struct kube_resource *resource, const char *namespace_);

#endif
