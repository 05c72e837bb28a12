/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key objects: objects that have only a key, for deletions of which nothing else is known. They answer
 * informer_object_namespace(), _name() and _key(). Every field is INFORMER_E_NOT_FOUND. The copy of a key
 * object is a key object.
 */
#ifndef READER_LIB_READ_KEY_OBJECT_H
#define READER_LIB_READ_KEY_OBJECT_H

#include "reader-lib/read/private_home.h"
#include "shm-layout/object.h"

/*
 * Memory for one key object, owned by the caller. It must stay while the object is used, and may be used
 * again after that.
 */
struct key_object {
	struct private_home home;
	union {
		struct object header;
		char bytes[offsetof(struct object, key) + OBJECT_NAMESPACE_MAX + OBJECT_NAME_MAX];
	} object;
};

/*
 * Make a key object.
 *
 * position  of its resource, for informer_object_position()
 * Returns   0, or -ENAMETOOLONG: no object can have this key
 */
int key_object_set(struct key_object *memory, const char *ns, size_t ns_length, const char *name,
		   size_t name_length, uint32_t position, struct informer_object *ret_object);

#endif
