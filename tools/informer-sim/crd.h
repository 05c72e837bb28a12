/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CustomResourceDefinitions: the resources they name are served from the moment one is created, and are gone,
 * with their objects and their watches, when it is deleted.
 *
 * All served versions show the same objects; nothing is converted, and no schema is checked.
 */
#ifndef TOOLS_INFORMER_SIM_CRD_H
#define TOOLS_INFORMER_SIM_CRD_H

#include "tools/serving/status_document.h"
#include "tools/informer-sim/object_store.h"

bool
sim_is_crd(const struct api_resource *resource);

/*
 * Check a definition that is about to be stored, and fill its status as the server does (Established,
 * acceptedNames, storedVersions).
 *
 * Returns  0, or -EINVAL with the status
 */
int
sim_crd_prepare(const struct api_resource *crds, struct api_doc *doc, struct api_status *status);

/*
 * A definition was stored: serve what it names. old: what it was before, or NULL; a version that is no longer
 * served is withdrawn.
 */
void sim_crd_serve(struct api_registry *registry, struct sim_store *store, const struct api_resource *crds,
		   const struct api_object *old, const struct api_object *object);
/* It was deleted: delete all its objects, then serve it no more. */
void sim_crd_withdraw(struct api_registry *registry, struct sim_store *store, const struct api_resource *crds,
		      const struct api_object *object);

#endif
