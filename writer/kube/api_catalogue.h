/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API catalogue: the server's discovery documents read so far, and which resource a name means by them.
 * Only discovery.c, which reads the documents, uses it.
 *
 * Invariant: a name that no document has is final only if no API_FAILED document could have it.
 */
#ifndef WRITER_KUBE_API_CATALOGUE_H
#define WRITER_KUBE_API_CATALOGUE_H

#include "writer/kube/api_lists.h"

/* One document: /apis, or the resources of one group and version. */
struct api_document {
	struct api_version of; /* group NULL for /apis, "" for core */
	enum { API_UNWANTED, API_WANTED, API_READING, API_READ, API_FAILED } state;
	char *failure;			/* why it could not be read */
	struct discovery *discovery;    /* the discovery that reads it … */
	struct question *question;      /* … and its question; or NULL */
};

/* Zeroed at first. The documents: core, /apis, then the groups in the server's order. */
struct api_catalogue {
	struct api_document **documents;
	size_t count;
	bool used_builtin;
};
enum { API_CORE, API_GROUPS, API_FIRST_GROUP };

/* Add core and /apis. Returns 0 or -ENOMEM, as all functions here that return int do. */
int api_catalogue_begin(struct api_catalogue *c);
/* Add a document of a group. Takes what `of` owns on success. */
int api_catalogue_add(struct api_catalogue *c, const struct api_version *of);
void api_catalogue_done(struct api_catalogue *c);

/* A document is forbidden: fill it from the built-in table. */
int api_catalogue_fill_builtin(struct api_catalogue *c, struct api_document *document);
/* /apis is forbidden: add the groups of the built-in table. */
int api_catalogue_add_builtin(struct api_catalogue *c);

/* Whether the name has this document's group, and its version if it has one. */
bool api_document_is_of(const struct api_document *document, const struct resource_name *name);

/*
 * The resource that a name means: core first, then preferred versions, then others; within each, the server's
 * order. NULL: not known.
 */
const struct kube_resource *api_catalogue_find(const struct api_catalogue *c,
					       const struct resource_name *name);

/* As discovery_resolve(). server: the server's URL, for messages. */
int api_catalogue_resolve(const struct api_catalogue *c, const char *server, const char *name,
			  const struct kube_resource **ret_resource, char **ret_error);

#endif
