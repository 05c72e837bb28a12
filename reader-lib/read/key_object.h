/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that have only a key: for deletions of which nothing else is known. informer_object_namespace(),
 * _name() and _key() answer, every field is INFORMER_E_NOT_FOUND, informer_object_copy() makes another of the
 * kind.
 */
#ifndef READER_LIB_READ_KEY_OBJECT_H
#define READER_LIB_READ_KEY_OBJECT_H

#include "reader-lib/read/private_home.h"
#include "shm-layout/object.h"

/*
 * Where one lives: memory of whoever makes it, which must stay for as long as the object is used. May be used
 * again.
 */
struct key_object {
	struct private_home home;
	union {
		struct object header;
		char bytes[offsetof(struct object, key) + OBJECT_NAMESPACE_MAX + OBJECT_NAME_MAX];
	} object;
};

/*
 * Make the object of a key.
 *
 * position  of its resource, for informer_object_position()
 * Returns   0, or -ENAMETOOLONG: no object has such a key
 */
int key_object_set(struct key_object *memory, const char *ns, size_t ns_length, const char *name,
		   size_t name_length, uint32_t position, struct informer_object *ret_object);

#endif
