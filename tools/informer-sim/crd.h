/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRD: serves the resources of CustomResourceDefinitions. They appear when a definition is created. They
 * disappear, with their objects and watches, when it is deleted.
 *
 * All served versions show the same objects, without conversion or schema validation.
 */
#ifndef TOOLS_INFORMER_SIM_CRD_H
#define TOOLS_INFORMER_SIM_CRD_H

#include "tools/serving/status_document.h"
#include "tools/informer-sim/object_store.h"

bool
sim_is_crd(const struct api_resource *resource);

/*
 * Check a definition before it is stored, and fill its status as the server does (Established, acceptedNames,
 * storedVersions).
 *
 * Returns  0, or -EINVAL with the status
 */
int
sim_crd_prepare(const struct api_resource *crds, struct api_doc *doc, struct api_status *status);

/*
 * A definition was stored: serve its resources. old: its previous state, or NULL; versions no longer served
 * are withdrawn.
 */
void sim_crd_serve(struct api_registry *registry, struct sim_store *store, const struct api_resource *crds,
		   const struct api_object *old, const struct api_object *object);
/* A definition was deleted: delete all its objects, then stop serving them. */
void sim_crd_withdraw(struct api_registry *registry, struct sim_store *store, const struct api_resource *crds,
		      const struct api_object *object);

#endif
