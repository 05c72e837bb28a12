/* SPDX-License-Identifier: Apache-2.0 */
/* Makes stored objects (tools/serving/stored_object.h) from documents of clients and files. */
#ifndef TOOLS_INFORMER_SIM_NEW_OBJECT_H
#define TOOLS_INFORMER_SIM_NEW_OBJECT_H

#include "tools/informer-sim/new_object.h"
#include "tools/serving/stored_object.h"

/* Why a document is no valid object: a field and a sentence. */
struct sim_object_error {
	const char *field;
	char text[160];
};

/*
 * Make an object from a document: drops kind and apiVersion, and sets metadata.resourceVersion. The document
 * is modified and stays the caller's.
 *
 * Returns  0 with one reference in *ret_object,
 *          -EINVAL  metadata missing or of a wrong type, or no name; see *ret_error
 */
int sim_object_new(const struct api_resource *resource, struct api_doc *doc, struct api_object **ret_object,
		   struct sim_object_error *ret_error);

/* Write the RV into an object that no other thread has. */
void sim_object_stamp(struct api_object *object, uint64_t rv);

#endif
