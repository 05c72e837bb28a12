/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups by a kind instead of a resource: "apps/v1" and "ReplicaSet", as owner references name them.
 */
#ifndef READER_LIB_READ_KIND_LOOKUP_H
#define READER_LIB_READ_KIND_LOOKUP_H

#include "reader-lib/attach/snapshot.h"
#include "reader-lib/informer.h"

/*
 * Get an object by its kind's name and group; a version may differ. A cluster-scoped kind ignores ns.
 *
 * Returns  0; INFORMER_E_NOT_FOUND; INFORMER_E_NO_RESOURCE: the kind is not cached; -EBADMSG
 * Cost     a lookup; the first time also a comparison for each cached resource. An on-demand resource is not
 *          asked for
 */
int object_of_kind(const struct snapshot *s, const struct informer_text *api_version,
		   const struct informer_text *kind, const struct informer_text *ns,
		   const struct informer_text *name, struct informer_object *ret_object);

/* The kind of an object found in a snapshot: its apiVersion's group and version, and its kind. */
struct object_kind {
	struct informer_text group, version, kind;
};
void kind_of_object(const struct snapshot *s, const struct informer_object *object,
		    struct object_kind *ret_kind);

#endif
