/*
 * An object: a small fixed header, its key, and its body, which is a value (value.h).
 *
 * BLOCK_OBJECT payload:
 *
 *   0      8             16         24        28         30           31      32            34        36
 *   +------+-------------+----------+---------+----------+------------+-------+-------------+---------+----------- - -
 *   | seq  | created_seq | key_hash | ordinal | resource | namespace_ | flags | name_length | body_   | namespace,
 *   |      |             |          |         |          | length     |       |             | offset  | name, body
 *   +------+-------------+----------+---------+----------+------------+-------+-------------+---------+----------- - -
 *
 *   seq            modification sequence number of the change that made this state
 *   created_seq    of the change that made the object appear
 *   key_hash       SipHash(hash_key, "namespace/name"), or of "name" without a namespace
 *   ordinal        names the object within its resource while it exists
 *   resource       position of its resource in the root
 *   body_offset    where the body starts, from the payload's start
 *
 * Namespace and name stand here once: in the body, metadata.namespace and metadata.name are the one-byte values
 * OWN_NAMESPACE and OWN_NAME. UID and resourceVersion stand in the body only.
 */
#ifndef SHM_LAYOUT_OBJECT_H
#define SHM_LAYOUT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/block.h"

#define OBJECT_NAMESPACE_MAX 255u
#define OBJECT_NAME_MAX 1024u
#define OBJECT_KEY_MAX (OBJECT_NAMESPACE_MAX + 1u + OBJECT_NAME_MAX)

struct object {
	uint64_t seq;
	uint64_t created_seq;
	uint64_t key_hash;
	uint32_t ordinal;
	uint16_t resource;
	uint8_t namespace_length;
	uint8_t flags;		/* zero */
	uint16_t name_length;
	uint16_t body_offset;
	char key[];		/* namespace, then name, without a separator */
};
_Static_assert(offsetof(struct object, key_hash) == 16, "object: key_hash moved");
_Static_assert(offsetof(struct object, resource) == 28, "object: resource moved");
_Static_assert(offsetof(struct object, name_length) == 32, "object: name_length moved");
_Static_assert(offsetof(struct object, key) == 36, "object: key moved");

/* The object of this ref, checked: key and body offset lie within the block. NULL when damaged. */
const struct object *object_at(const struct arena_view *view, uint32_t ref);

static inline const char *
object_namespace(const struct object *o)
{
	return o->key;
}

static inline const char *
object_name(const struct object *o)
{
	return o->key + o->namespace_length;
}

/* The hash of namespace/name (of name alone when namespace_length is 0) under the arena's hash key. */
uint64_t object_key_hash(const uint8_t hash_key[16], const char *ns, size_t ns_length, const char *name, size_t name_length);

/* The hash of an index value. */
uint64_t index_value_hash(const uint8_t hash_key[16], const void *value, size_t length);

static inline bool
object_has_key(const struct object *o, const char *ns, size_t ns_length, const char *name, size_t name_length)
{
	return o->namespace_length == ns_length && o->name_length == name_length &&
	       __builtin_memcmp(o->key, ns, ns_length) == 0 &&
	       __builtin_memcmp(o->key + ns_length, name, name_length) == 0;
}

#endif
