/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that have only a key: a header without a body. Their ref is 0, which names nothing.
 */
#include "reader-lib/read/key_object.h"

#include <string.h>

#include "reader-lib/read/found_object.h"

int
key_object_set(struct key_object *memory, const char *ns, size_t ns_length, const char *name,
	       size_t name_length, uint32_t position, struct informer_object *ret_object)
{
	struct object *o = &memory->object.header;
	char *key = memory->object.bytes + offsetof(struct object, key);

	if (ns_length > OBJECT_NAMESPACE_MAX || name_length > OBJECT_NAME_MAX)
		return -ENAMETOOLONG;
	private_home_set(&memory->home, NULL, 0);
	*o = (struct object){.resource = (uint16_t)position, .namespace_length = (uint8_t)ns_length,
			     .name_length = (uint16_t)name_length};
	if (ns_length > 0)
		memcpy(key, ns, ns_length);
	if (name_length > 0)
		memcpy(key + ns_length, name, name_length);
	object_set(ret_object, &memory->home.snapshot, o, 0, position);
	return 0;
}
