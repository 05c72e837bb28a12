/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored object: one version of an object, immutable, reference counted, kept as JSON text.
 *
 *   key     "namespace/name", or "name" for a cluster-wide resource
 *   text    the document without opening brace, kind and apiVersion: a watched object is resource->head +
 *           text, and an item of a list is a part of head + text
 *   rv_at   where the digits of metadata.resourceVersion stand in text; a DELETED event shows the old text
 *           with the deletion's RV there
 *   labels, fields   the values that selectors compare, so that a list parses no JSON
 *
 * The store sets the RV at the commit. Until then the object belongs to the thread that made it; afterwards
 * only the reference count changes.
 */
#ifndef TOOLS_SERVING_STORED_OBJECT_H
#define TOOLS_SERVING_STORED_OBJECT_H

#include <stdatomic.h>
#include <stdint.h>

#include "tools/serving/doc.h"
#include "tools/serving/served_resource.h"

struct api_object {
	_Atomic unsigned refs;
	uint32_t namespace_len; /* length of the key's part before '/'; 0: cluster-wide */
	uint64_t rv;
	size_t text_len;
	size_t rv_at;
	size_t meta_at; /* metadata's value in text, from brace to brace; contains the RV */
	size_t meta_len;
	uint32_t rv_len;
	uint32_t label_count;
	const char *key;
	const char *labels; /* name NUL value NUL ... */
	const char *fields; /* value NUL, for each of resource->fields */
	char *text;
};

/*
 * Append the key of a name; name "": the common beginning of a namespace's keys. namespace_ NULL:
 * cluster-wide.
 */
void api_object_key(struct api_buf *buf, const char *namespace_, const char *name);

struct api_object *api_object_ref(struct api_object *object);
/* NULL is fine. */
void api_object_unref(struct api_object *object);
/* Cleanup function. */
void api_object_unrefp(struct api_object **object);

/* Returns a reference to the object without metadata.managedFields, with the same RV: itself, or a copy. */
struct api_object *api_object_bare(struct api_object *object);

/* The name within the key. */
const char *api_object_name(const struct api_object *object);
/* A label's value, or NULL. */
const char *api_object_label(const struct api_object *object, const char *name);
/* The value of the i-th of the resource's fields. */
const char *api_object_field(const struct api_object *object, unsigned i);

/* Append a part of the text that contains the RV's digits; rv 0: unchanged. */
void api_object_put(const struct api_object *object, size_t at, size_t len, uint64_t rv, struct api_buf *buf);
/* Append the whole document; rv 0: with its own RV. */
void api_object_print(const struct api_resource *resource, const struct api_object *object, uint64_t rv,
		      struct api_buf *buf);

#endif
