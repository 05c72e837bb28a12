/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: what a resource's descriptor in the arena says about its indexes, read once and kept until
 * detach.
 */
#ifndef READER_LIB_READ_DEFINITION_H
#define READER_LIB_READ_DEFINITION_H

#include "reader-lib/attach/handle.h"
#include "shm-layout/index_def.h"
#include "shm-layout/value.h"

/*
 * How a resource is indexed. Owned by the handle until detach; equal descriptors share one.
 *
 * roles  number of the index that serves each (enum index_role), or -1
 */
struct definition {
	struct definition *next;
	uint8_t digest[16];	/* of the descriptor's JSON text */
	uint32_t index_count;
	int roles[INDEX_ROLES];
	struct index_def indexes[];
};

/* Read a descriptor into this list, or find there what was read from an equal one. 0, -EBADMSG, -ENOMEM. */
int definition_get(struct informer *inf, struct definition **list, struct value descriptor,
		   const struct definition **ret_definition);
void definitions_free(struct informer *inf, struct definition **list);
/* The number of the index of this name, or -1. */
int definition_index(const struct definition *d, const char *name);

/* The text of a descriptor's field; "" when absent. */
const char *descriptor_text(struct value descriptor, const char *field, size_t *ret_length);
/*
 * What the daemon calls the resource: "pods", "deployments.apps". False: it does not fit (a field that is
 * filled has no terminator), or there is no name.
 */
bool descriptor_canonical_name(struct value descriptor, char *name, size_t size);

#endif
