/*
 * Objects: the checked look at one, and the hashes under which it is filed.
 */
#include "shm-layout/object.h"

#include <sodium.h>
#include <string.h>

const struct object *
object_at(const struct arena_view *view, uint32_t ref)
{
	const struct block *b = block_at(view, ref, BLOCK_OBJECT, offsetof(struct object, key) + 1);
	const struct object *o;
	uint32_t key_end;

	if (!b)
		return NULL;
	o = (const struct object *)(const void *)b->payload;
	key_end = (uint32_t)offsetof(struct object, key) + o->namespace_length + o->name_length;
	if (o->name_length > OBJECT_NAME_MAX || o->body_offset < key_end || o->body_offset >= block_length(b))
		return NULL;
	return o;
}

uint64_t
object_key_hash(const uint8_t hash_key[16], const char *ns, size_t ns_length, const char *name, size_t name_length)
{
	unsigned char key[OBJECT_KEY_MAX];
	size_t n = 0;
	uint64_t hash;

	if (ns_length > OBJECT_NAMESPACE_MAX || name_length > OBJECT_NAME_MAX)
		return 0;	/* no object has such a key, so whatever is found compares unequal */
	if (ns_length > 0) {
		memcpy(key, ns, ns_length);
		key[ns_length] = '/';
		n = ns_length + 1;
	}
	memcpy(key + n, name, name_length);
	crypto_shorthash((unsigned char *)&hash, key, n + name_length, hash_key);
	return hash;
}

uint64_t
index_value_hash(const uint8_t hash_key[16], const void *value, size_t length)
{
	uint64_t hash;

	crypto_shorthash((unsigned char *)&hash, value, length, hash_key);
	return hash;
}
