/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: how a resource is indexed, as its descriptor in the arena says. Read once, kept until detach.
 */
#ifndef READER_LIB_READ_DEFINITION_H
#define READER_LIB_READ_DEFINITION_H

#include "reader-lib/attach/handle.h"
#include "shm-layout/index_def.h"
#include "shm-layout/value.h"

/*
 * How a resource is indexed. The handle owns it until detach. Equal descriptors share one definition.
 *
 * roles  by enum index_role: the number of the index that serves the role, or -1
 */
struct definition {
	struct definition *next;
	uint8_t digest[16];	/* of the descriptor's JSON text */
	uint32_t index_count;
	int roles[INDEX_ROLES];
	struct index_def indexes[];
};

/* The definition of a descriptor: from the list, or read and added to the list. 0, -EBADMSG, -ENOMEM. */
int definition_get(struct informer *inf, struct definition **list, struct value descriptor,
		   const struct definition **ret_definition);
void definitions_free(struct informer *inf, struct definition **list);
/* The number of the index with this name, or -1. */
int definition_index(const struct definition *d, const char *name);

/* The text of a descriptor's field; "" if absent. */
const char *descriptor_text(struct value descriptor, const char *field, size_t *ret_length);
/*
 * The daemon's name for the resource: "pods", "deployments.apps". False: the name and its terminator do not
 * fit, or there is no name.
 */
bool descriptor_canonical_name(struct value descriptor, char *name, size_t size);

#endif
