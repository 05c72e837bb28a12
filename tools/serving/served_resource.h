/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kinds of objects the server has: the built-in table, resources declared
 * with --crd, and resources guessed from loaded objects.
 *
 * A CustomResourceDefinition adds resources and takes them away while the server
 * serves. The registry is read by all threads without a lock: entries are only
 * ever added, count is stored behind them, and one that was taken away is marked
 * as not served and stays, for a request may still be at it. A resource is named
 * in messages as Kubernetes' GroupResource: "pods", "deployments.apps".
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
	const char *path;    /* where it stands in the object */
	const char *missing; /* its value when it is absent: "" or "false" or "0" */
};

struct api_resource {
	/* of its objects in the store: its position, or that of the resource it is another version of */
	unsigned index;
	const char *group; /* "" for the core group */
	const char *version;
	const char *plural;
	const char *singular;
	const char *kind;
	const char *shorts[3]; /* short names, NULL ended */
	bool namespaced;
	bool has_status; /* serves .../status, and keeps status apart from the rest */
	bool in_all;     /* category "all" */
	bool scale;      /* serves .../scale */
	/* where a Scale's replicas stand, as "spec.replicas"; of a custom resource its selector, "" for none
	 */
	const char *scale_spec, *scale_status, *scale_selector;
	bool custom; /* declared or guessed: list items carry kind and apiVersion, as of a CRD */
	const struct api_field *fields; /* beyond metadata.name and metadata.namespace; label NULL ends */
	/* message for a label that is none of these: %s is the label */
	const char *field_error;

	_Atomic bool gone; /* its CustomResourceDefinition was deleted */

	const struct proto_message *message; /* its type in protobuf; NULL: it has none, and is JSON only */
	char *group_resource;                /* "deployments.apps" */
	char *api_version;                   /* "apps/v1" */
	char *head; /* what an object begins with outside lists: {"kind":"Pod","apiVersion":"v1", */
	size_t head_len;
	size_t item_head_len; /* so much of it an item of a list begins with: 1, of a custom one all */
};

struct api_registry {
	struct api_resource *items[API_RESOURCES_MAX];
	_Atomic unsigned count;
	bool read_only;       /* discovery tells of reading alone; set before anybody asks */
	struct api_doc texts; /* what the entries are made of */
};

/* How many entries there are now, gone ones too; entries below that stay where they are. */
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

/* By URL, served ones only: group "", version "v1", plural "pods". NULL if there is none. */
struct api_resource *api_registry_find(const struct api_registry *registry, const char *group,
				       const char *version, const char *plural);
/*
 * Serve what a definition names: strings are copied, index and the texts made of the others are filled here.
 * One thread defines at a time.
 *
 * first  an entry whose objects are shown under this name too, or NULL
 * Returns  0 with *ret_resource
 *          -EINVAL  a part is empty (but the group) or no DNS label
 *          -ENOSPC  API_RESOURCES_MAX reached
 */
int api_registry_define(struct api_registry *registry, const struct api_resource *like,
			const struct api_resource *first, struct api_resource **ret_resource);
/* Serve it no more. */
void api_registry_drop(struct api_resource *resource);

#endif
