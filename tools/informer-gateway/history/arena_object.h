/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of the arena as those that are served (tools/serving/stored_object.h): the text is written straight
 * from the arena's values, with the places of metadata and of the RV noted on the way, so that nothing is
 * parsed. Members come in the order in which the API server sent them.
 *
 *	arena's values ── one walk ──▶ text, metadata's range, RV's place, labels, fields ──▶ api_object
 *
 * The result is what informer-sim makes of the same document, but for what that mends: nothing is fitted to a
 * type here, because what upstream sent is as its types have it.
 *
 * Ownership  a maker is its owner's; the scratch in it is used by each call. Objects are counted, immutable.
 * Threads    a maker belongs to one thread
 * Cost       see tests/tools/informer-gateway/arena_object_test.c, which measures: about 20 microseconds for
 *            a pod of 9 kB
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_ARENA_OBJECT_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_ARENA_OBJECT_H

#include "reader-lib/informer.h"
#include "tools/serving/stored_object.h"

/* What is needed to make objects of one resource. */
struct gw_object_maker {
	const struct api_resource *resource;
	struct informer_path *paths[API_FIELDS_MAX]; /* of resource->fields */
	unsigned path_count;
	struct informer_path *labels; /* metadata.labels */
	struct api_buf text, side, other;
};

/*
 * informer, resource   borrowed until gw_object_maker_done()
 * Returns 0, -ENOMEM; INFORMER_E_SYNTAX: a field's path is none
 */
int gw_object_maker_init(struct gw_object_maker *maker, struct informer *informer,
			 const struct api_resource *resource);
/* A zeroed one is fine. */
void gw_object_maker_done(struct gw_object_maker *maker);

/*
 * Make the object that the arena, or a copy, holds.
 *
 * ret_object  one reference, on success
 * Returns     0; INFORMER_E_EXPIRED: the arena was taken back meanwhile; INFORMER_E_CORRUPT;
 *             INFORMER_E_NOT_FOUND: it has no more than a key
 */
int gw_object_make(struct gw_object_maker *maker, const struct informer_object *object,
		   struct api_object **ret_object);

/*
 * Whether no selector can tell two states of one object apart: labels and fields are the same. False also
 * where that cannot be read.
 */
bool gw_object_selects_alike(struct gw_object_maker *maker, const struct informer_object *object,
			     const struct informer_object *other);

/* Append an object's key, "namespace/name" or "name", with its NUL. Returns 0, INFORMER_E_… */
int gw_object_put_key(const struct informer_object *object, struct api_buf *ret,
		      size_t *ret_namespace_length);

/* An object's RV as a number; 0: it has none, or none that is a number. */
uint64_t gw_object_rv(const struct informer_object *object);
/* The number that such a text says, or 0. */
uint64_t gw_rv_parse(const char *text, size_t length);

/* Bytes of memory that an object holds. */
size_t gw_object_bytes(const struct api_object *object);

#endif
