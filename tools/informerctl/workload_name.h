/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workload name: a workload as people name it, and which objects belong to it.
 *
 *	deploy/web, deployment/web, Deployment/web, deployments.apps/web, deployments.v1.apps/web
 *
 * If informerd caches the resource, all names that get takes are known. Otherwise the word before the '/'
 * is a kind in any case, its plural with "s", or the short name of a built-in controller.
 */
#ifndef TOOLS_INFORMERCTL_WORKLOAD_NAME_H
#define TOOLS_INFORMERCTL_WORKLOAD_NAME_H

#include <stdbool.h>

#include "reader-lib/informer-node.h"

/*
 * text       as typed, borrowed; NULL: no workload is named, and every object matches
 * name       in text
 * resource   the word before the '/'
 * any_group  the group does not count, because the word has none
 * cached     the word is a cached resource: kind and group are that resource's
 * lacking    the cached list is complete, and has no object of the name
 */
struct workload_name {
	const char *text, *name;
	char resource[320], kind[64], group[254];
	bool any_group, cached, lacking;
};

/* Parse "KIND/NAME". False: it has another form. */
bool workload_name_parse(const char *text, struct workload_name *ret_name);

/* Look up the word among the cached resources. ns: the namespace that is shown; NULL: all. Does not wait. */
void workload_name_resolve(struct workload_name *w, struct informer *inf,
			   const struct informer_snapshot *snap, const char *ns);

/*
 * Whether the workload is a controller of the object, at any height that the cache knows, or the object's
 * workload as informer_workload() finds it.
 *
 * Returns  1, 0, or an error of the library
 * Cost     a lookup for each controller on the way, at most twice
 */
int workload_name_matches(const struct workload_name *w, const struct informer_object *object);

/* For a result without objects: print on stderr if the cache does not have the workload. */
void workload_name_say_lacking(const struct workload_name *w);

#endif
