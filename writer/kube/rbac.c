/* SPDX-License-Identifier: Apache-2.0 */
/* RBAC help; see rbac.h. */
#include "writer/kube/rbac.h"

#include <stdio.h>

char *
rbac_hint(const struct kube_resource *resource, const char *namespace_)
{
	bool one = resource->namespaced && namespace_ && *namespace_;
	char *text;

	if (asprintf(&text,
		     "add to informerd's %s%s: {apiGroups: [\"%s\"], resources: [\"%s\"], verbs: [\"list\", "
		     "\"watch\"]}",
		     one ? "Role in namespace " : "ClusterRole", one ? namespace_ : "", resource->group,
		     resource->resource) < 0)
		return NULL;
	return text;
}
