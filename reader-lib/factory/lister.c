/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a lister's get and list for any snapshot, within what its shared informer shows.
 */
#include <string.h>

#include "reader-lib/attach/handle.h"

#include "reader-lib/factory/lister.h"

void
lister_init(struct informer_lister *lister, const struct scope *scope)
{
	lister->scope = *scope;
	lister->indexes = NULL;
	pthread_mutex_init(&lister->lock, NULL);
}

void
lister_done(struct informer_lister *lister)
{
	while (lister->indexes) {
		struct private_index *ix = lister->indexes;

		lister->indexes = ix->next;
		private_index_free(ix);
	}
	pthread_mutex_destroy(&lister->lock);
}

/* As the API server says it: deployments.apps "web" not found. */
static int
not_found(const struct scope *scope, const struct informer_snapshot *snapshot, const char *name,
	  size_t name_length)
{
	struct informer_resource_info info = {.size = sizeof(info)};

	if (informer_resource_info(snapshot, scope->resource, &info) < 0)
		return INFORMER_E_NOT_FOUND;
	return error_set(INFORMER_E_NOT_FOUND, "%.*s%s%.*s \"%.*s\" not found", (int)info.resource_length,
			 info.resource, info.group_length ? "." : "", (int)info.group_length, info.group,
			 name_length < 1024 ? (int)name_length : 1024, name);
}

int
informer_lister_get(struct informer_lister *lister, const struct informer_snapshot *snapshot, const char *ns,
		    size_t ns_length, const char *name, size_t name_length,
		    struct informer_object *ret_object)
{
	struct informer_object object;
	int r;

	if (!lister || !name || !ret_object)
		return -EINVAL;
	r = informer_get(snapshot, lister->scope.resource, ns, ns_length, name, name_length, &object);
	if (r == 0) {
		r = scope_has(&lister->scope, &object);
		r = r > 0 ? 0 : r < 0 ? r : INFORMER_E_NOT_FOUND;
	}
	if (r == INFORMER_E_NOT_FOUND)
		return not_found(&lister->scope, snapshot, name, name_length);
	return r < 0 ? r : scope_show(&lister->scope, &object, ret_object);
}

int
informer_lister_get_z(struct informer_lister *lister, const struct informer_snapshot *snapshot,
		      const char *ns, const char *name, struct informer_object *ret_object)
{
	return informer_lister_get(lister, snapshot, ns, ns ? strlen(ns) : 0, name, name ? strlen(name) : 0,
				   ret_object);
}

int
informer_lister_list(struct informer_lister *lister, const struct informer_snapshot *snapshot, const char *ns,
		     const char *selector, int (*each)(void *context, const struct informer_object *object),
		     void *context)
{
	struct informer_label_selector *compiled = NULL;
	struct informer_object object;
	struct scope_walk walk;
	int r = 0;

	if (!lister || !each)
		return -EINVAL;
	if (selector && *selector)
		r = informer_label_selector_compile(lister->scope.inf, selector, strlen(selector), &compiled,
						    NULL);
	if (r == 0)
		r = scope_start(&walk, &lister->scope, snapshot, ns, ns ? strlen(ns) : 0, compiled);
	while (r == 0 && (r = scope_next(&walk, &object)) > 0) {
		r = scope_show(&lister->scope, &object, &object);
		if (r == 0)
			r = each(context, &object);
	}
	informer_label_selector_free(compiled);
	return r;
}
