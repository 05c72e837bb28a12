/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that are declared with --crd, guessed from loaded objects, or defined by a
 * CustomResourceDefinition.
 *
 * Threads   any for sim_registry_define(); the others before requests come
 */
#ifndef TOOLS_INFORMER_SIM_REGISTRY_H
#define TOOLS_INFORMER_SIM_REGISTRY_H

#include "tools/serving/served_resource.h"

/* Find a resource by apiVersion and kind. */
struct api_resource *sim_registry_kind(const struct api_registry *registry, const char *api_version,
				       const char *kind);

/*
 * Declare a custom resource. kind NULL: guessed from the plural ("widgets": Widget). plural NULL: guessed
 * from the kind ("Policy": policies). At least one must be given.
 *
 * Returns  0 with *ret_resource (an existing equal one is returned),
 *          -EINVAL  a part is empty or not a DNS label
 *          -ENOSPC  API_RESOURCES_MAX reached
 */
int sim_registry_add(struct api_registry *registry, const char *group, const char *version,
		     const char *plural, const char *kind, bool namespaced,
		     struct api_resource **ret_resource);

/* As api_registry_define(); a dropped resource that is equal is served again. */
int sim_registry_define(struct api_registry *registry, const struct api_resource *like,
			const struct api_resource *first, struct api_resource **ret_resource);

/* Parse and declare "widgets.v1.example.com" or "widgets/Widget.v1.example.com". As sim_registry_add. */
int sim_registry_declare(struct api_registry *registry, const char *text, struct api_resource **ret_resource);

#endif
