/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a name's old and present meaning, and decides which answers of the server are a reason to ask
 * again.
 */
#include "writer/resource/redefinition.h"

#include <string.h>

static bool
has_same_words(const struct kube_resource *a, const struct kube_resource *b)
{
	if (strcmp(a->singular ? a->singular : "", b->singular ? b->singular : "") != 0 ||
	    a->n_short_names != b->n_short_names)
		return false;
	for (size_t i = 0; i < a->n_short_names; i++)
		if (strcmp(a->short_names[i], b->short_names[i]) != 0)
			return false;
	return true;
}

enum redefinition
redefinition_between(const struct kube_resource *was, const struct kube_resource *now)
{
	if (!now || strcmp(was->group, now->group) != 0 || strcmp(was->resource, now->resource) != 0)
		return REDEFINITION_GONE;
	return strcmp(was->version, now->version) == 0 && strcmp(was->kind, now->kind) == 0 &&
			       was->namespaced == now->namespaced && has_same_words(was, now)
		       ? REDEFINITION_NONE
		       : REDEFINITION_OTHER;
}

bool
redefinition_may_be(const struct kube_resource *resource, int status)
{
	return (status == 404 || status == 410) && strchr(resource->group, '.') != NULL;
}
