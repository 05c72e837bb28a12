/* SPDX-License-Identifier: Apache-2.0 */
/* New objects (tools/serving/stored_object.h) of documents that clients and files bring. */
#ifndef TOOLS_INFORMER_SIM_NEW_OBJECT_H
#define TOOLS_INFORMER_SIM_NEW_OBJECT_H

#include "tools/informer-sim/new_object.h"
#include "tools/serving/stored_object.h"

/* Why a document cannot be an object: a field, and the sentence about it. */
struct sim_object_error {
	const char *field;
	char text[160];
};

/*
 * Make an object of a document; kind and apiVersion are dropped, metadata.resourceVersion
 * is put in place. The document is changed, but still the caller's.
 *
 * Returns  0 with one reference in *ret_object,
 *          -EINVAL  metadata missing or of a wrong type, no name: *ret_error says which
 */
int sim_object_new(const struct api_resource *resource, struct api_doc *doc, struct api_object **ret_object,
		   struct sim_object_error *ret_error);

/* Write the RV into an object that nobody else sees yet. */
void sim_object_stamp(struct api_object *object, uint64_t rv);

#endif
