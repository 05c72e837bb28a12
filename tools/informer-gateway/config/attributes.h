/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes: a request as authorization sees it, in upstream's terms (RequestInfo of k8s.io/apiserver). A
 * request is a verb on a resource, or on a path that is no resource.
 *
 * Texts are borrowed from the request; "" stands for absent.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_ATTRIBUTES_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GW_NAME_MAX 256 /* longest name taken from a field selector */

struct gw_attributes {
	const char *verb; /* "get", "list", "watch"; for a path "get" */
	const char *group, *version, *resource, *subresource;
	const char *namespace_; /* "": all namespaces, or a cluster-wide resource */
	const char *name;
	const char *field_selector, *label_selector; /* of list and watch, as the client wrote them */
	const char *path;                            /* not "": a request for this path, not for a resource */
};

/*
 * Returns the attributes of a read, with upstream's special cases: one Namespace object is in the namespace
 * of its own name; a list or watch with the field metadata.name=X has the name X.
 *
 * asked  the parsed request, NULL for what it lacks; its verb is "watch" or NULL
 * name   buffer for that name; must live as long as the attributes
 */
struct gw_attributes gw_attributes_of(const struct gw_attributes *asked, char name[GW_NAME_MAX]);

/* The same for a path that is no resource. */
struct gw_attributes gw_attributes_of_path(const char *path);

/* Upstream's verb for a method, such as "create". name NULL: for a collection. */
const char *gw_attributes_verb(const char *method, const char *name);

/* Length of all texts together, in bytes. */
size_t gw_attributes_size(const struct gw_attributes *attributes);

#define GW_DIGEST 32

/* Keyed digest of the asker (any bytes) and the request. Equal digests mean the same question. */
void gw_attributes_digest(const struct gw_attributes *attributes, const uint8_t *who, size_t who_length,
			  const uint8_t key[GW_DIGEST], uint8_t digest[GW_DIGEST]);

#endif
