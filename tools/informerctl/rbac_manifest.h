/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RBAC manifest: the objects that allow a ServiceAccount to list and watch what a report of informerd
 * (informer_stat_json()) names, as YAML for `kubectl apply -f -`:
 *
 *	Namespace           only with create_namespace
 *	ServiceAccount
 *	ClusterRole         list and watch of resources in all namespaces; get of namespace kube-system, by
 *	                    which informerd tells clusters apart
 *	ClusterRoleBinding  of that role
 *	Role, RoleBinding   for each namespace to which resources are limited
 *	ClusterRoleBinding  only with gateway: to system:auth-delegator, for TokenReviews and
 *	                    SubjectAccessReviews
 *
 * A role has one rule for each API group. Namespaces, groups and resources are sorted and come once.
 */
#ifndef TOOLS_INFORMERCTL_RBAC_MANIFEST_H
#define TOOLS_INFORMERCTL_RBAC_MANIFEST_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "tools/printer/text.h"

struct rbac_account {
	const char *name;       /* of the ServiceAccount, the roles and the bindings */
	const char *namespace_; /* the ServiceAccount's */
	bool create_namespace, gateway;
};

/*
 * Append the manifest. A comment names the resources that have no rule, because informerd has not found out
 * their API group, and those with selectors, by which RBAC does not narrow.
 *
 * report   parsed; any JSON
 * Returns  the number of resources without a rule; -EINVAL: the report names no resources; -ENOMEM
 */
int rbac_manifest_write(const cJSON *report, const struct rbac_account *account, struct text *out);

#endif
