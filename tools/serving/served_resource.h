/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Served resource: the registry of the resources that a server has: built-in ones, ones declared with --crd,
 * and ones guessed from loaded objects.
 *
 * CustomResourceDefinitions add and remove resources while the server runs. All threads read the registry
 * without a lock: entries are only added, and count is stored after the entry. A removed resource stays in
 * place, marked gone, because a request may still use it. Messages name a resource as Kubernetes'
 * GroupResource: "pods", "deployments.apps".
 */
#ifndef TOOLS_SERVING_SERVED_RESOURCE_H
#define TOOLS_SERVING_SERVED_RESOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/schema/proto_schema.h"
#include "tools/serving/doc.h"

#define API_RESOURCES_MAX 256
#define API_FIELDS_MAX 12

/* A field that fieldSelector may name. */
struct api_field {
	const char *label;   /* as in the selector: "spec.nodeName" */
	const char *path;    /* its path in the object */
	const char *missing; /* its value when it is absent: "" or "false" or "0" */
};

struct api_resource {
	/*
	 * index of its objects in the store: its own, or that of the resource of which it is another version
	 */
	unsigned index;
	const char *group; /* "" for the core group */
	const char *version;
	const char *plural;
	const char *singular;
	const char *kind;
	const char *shorts[3]; /* short names, NULL ended */
	bool namespaced;
	bool has_status; /* serves .../status, kept apart from the rest */
	bool in_all;     /* category "all" */
	bool scale;      /* serves .../scale */
	/*
	 * paths of a Scale's replicas, such as "spec.replicas"; for a custom resource also its selector, ""
	 * for none
	 */
	const char *scale_spec, *scale_status, *scale_selector;
	bool custom; /* declared or guessed: list items carry kind and apiVersion, as a CRD's do */
	const struct api_field *fields; /* besides metadata.name and metadata.namespace; label NULL ends */
	/* message for an unknown label: %s is the label */
	const char *field_error;

	_Atomic bool gone; /* its CustomResourceDefinition was deleted */

	const struct proto_message *message; /* its protobuf type; NULL: none, JSON only */
	char *group_resource;                /* "deployments.apps" */
	char *api_version;                   /* "apps/v1" */
	char *head; /* beginning of an object outside lists: {"kind":"Pod","apiVersion":"v1", */
	size_t head_len;
	size_t item_head_len; /* how much of head a list's item begins with: 1; for a custom one all */
};

struct api_registry {
	struct api_resource *items[API_RESOURCES_MAX];
	_Atomic unsigned count;
	bool read_only;       /* discovery shows only read verbs; set before the first request */
	struct api_doc texts; /* the entries' texts */
};

/* Number of entries, gone ones included. Entries below it do not move. */
static inline unsigned
api_registry_count(const struct api_registry *registry)
{
	return atomic_load_explicit(&registry->count, memory_order_acquire);
}

static inline bool
api_resource_served(const struct api_resource *resource)
{
	return !atomic_load_explicit(&resource->gone, memory_order_acquire);
}

/* A registry with the built-in resources. Free with api_registry_done(). */
void api_registry_init(struct api_registry *registry);
void api_registry_done(struct api_registry *registry);

/* Find a served resource by URL: group "", version "v1", plural "pods". NULL if there is none. */
struct api_resource *api_registry_find(const struct api_registry *registry, const char *group,
				       const char *version, const char *plural);
/*
 * Add a resource. Its strings are copied; index and the derived texts are filled here. One thread defines at
 * a time.
 *
 * first  an entry whose objects this one shows too, or NULL
 * Returns  0 with *ret_resource
 *          -EINVAL  a part (except the group) is empty or no DNS label
 *          -ENOSPC  API_RESOURCES_MAX reached
 */
int api_registry_define(struct api_registry *registry, const struct api_resource *like,
			const struct api_resource *first, struct api_resource **ret_resource);
/* Stop serving a resource. */
void api_registry_drop(struct api_resource *resource);

#endif
