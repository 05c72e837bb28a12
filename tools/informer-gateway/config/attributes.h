/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes: what a request asks, as authorization sees it, and in upstream's terms (RequestInfo of
 * k8s.io/apiserver): a verb upon a resource, or upon a path that is none.
 *
 * Texts are borrowed from the request; "" stands for what is not there.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_ATTRIBUTES_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GW_NAME_MAX 256 /* of a name taken from a field selector */

struct gw_attributes {
	const char *verb; /* "get", "list", "watch"; of a path "get" */
	const char *group, *version, *resource, *subresource;
	const char *namespace_; /* "": all of them, or a resource without */
	const char *name;
	const char *field_selector, *label_selector; /* of list and watch, as they were asked */
	const char *path;                            /* not "": this path, and no resource */
};

/*
 * The attributes of a read. As upstream: one object of the collection of namespaces is in the namespace of
 * its name; a list or watch with metadata.name=X as a field is of that name.
 *
 * asked  what the request says of itself; NULL for what it does not. Its verb: "watch", or NULL
 * name   holds that name, and lives as long as the attributes
 */
struct gw_attributes gw_attributes_of(const struct gw_attributes *asked, char name[GW_NAME_MAX]);

/* The attributes of a read of a path that is no resource's. */
struct gw_attributes gw_attributes_of_path(const char *path);

/* Upstream's verb of a method, for the object of that name, or, with NULL, for a collection: "create". */
const char *gw_attributes_verb(const char *method, const char *name);

/* Bytes of all texts. */
size_t gw_attributes_size(const struct gw_attributes *attributes);

#define GW_DIGEST 32

/* A digest of who (any bytes) asks what, under a key; equal ones are the same question. */
void gw_attributes_digest(const struct gw_attributes *attributes, const uint8_t *who, size_t who_length,
			  const uint8_t key[GW_DIGEST], uint8_t digest[GW_DIGEST]);

#endif
