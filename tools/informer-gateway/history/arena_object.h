/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena object: makes the stored object of tools/serving (stored_object.h) from an object of the arena. The
 * text is printed from the arena's values in one walk, which also notes where metadata and the RV stand;
 * nothing is parsed. Members keep the API server's order.
 *
 *	arena's values ── one walk ──▶ text, metadata's range, RV's position, labels, fields ──▶ api_object
 *
 * informer-sim makes the same result from the same document, except that informer-sim also fits the document
 * to its type. Here the API server has done that.
 *
 * Ownership  a maker belongs to its owner; each call uses its buffers. Objects are reference counted and
 *            immutable.
 * Threads    a maker belongs to one thread
 * Cost       about 20 microseconds for a pod of 9 kB; measured by
 *            tests/tools/informer-gateway/arena_object_test.c
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_ARENA_OBJECT_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_ARENA_OBJECT_H

#include "reader-lib/informer.h"
#include "tools/serving/stored_object.h"

/* Makes the objects of one resource. */
struct gw_object_maker {
	const struct api_resource *resource;
	struct informer_path *paths[API_FIELDS_MAX]; /* of resource->fields */
	unsigned path_count;
	struct informer_path *labels; /* metadata.labels */
	struct api_buf text, side, other;
};

/*
 * informer, resource   borrowed until gw_object_maker_done()
 * Returns 0, -ENOMEM; INFORMER_E_SYNTAX: the path of a field is invalid
 */
int gw_object_maker_init(struct gw_object_maker *maker, struct informer *informer,
			 const struct api_resource *resource);
/* A zeroed one is fine. */
void gw_object_maker_done(struct gw_object_maker *maker);

/*
 * Make an object from the arena, or from a copy.
 *
 * ret_object  one reference, on success
 * Returns     0; INFORMER_E_EXPIRED: the snapshot was revoked meanwhile; INFORMER_E_CORRUPT;
 *             INFORMER_E_NOT_FOUND: there is only a key
 */
int gw_object_make(struct gw_object_maker *maker, const struct informer_object *object,
		   struct api_object **ret_object);

/*
 * Whether two states of an object have equal labels and fields, so that no selector can distinguish them.
 * False also if they cannot be read.
 */
bool gw_object_selects_alike(struct gw_object_maker *maker, const struct informer_object *object,
			     const struct informer_object *other);

/* Append an object's key, "namespace/name" or "name", with its NUL. Returns 0, INFORMER_E_… */
int gw_object_put_key(const struct informer_object *object, struct api_buf *ret,
		      size_t *ret_namespace_length);

/* An object's RV as a number; 0: absent or not a number. */
uint64_t gw_object_rv(const struct informer_object *object);
/* Parse an RV; 0: not a number. */
uint64_t gw_rv_parse(const char *text, size_t length);

/* Memory of an object, in bytes. */
size_t gw_object_bytes(const struct api_object *object);

#endif
