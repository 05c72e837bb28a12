/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object: one state of one Kubernetes object: fixed fields, the key, other strings, and the body, which is
 * a value (value.h). The writer makes a new block for each state; readers read it.
 *
 * BLOCK_OBJECT payload:
 *
 *   0         8             16           24        28         30                 31      32
 *   +---------+-------------+------------+---------+----------+------------------+-------+
 *   | seq     | created_seq | key_hash   | ordinal | resource | namespace_length | flags |
 *   +---------+-------------+------------+---------+----------+------------------+-------+
 *   32            34            36           37               38
 *   +-------------+-------------+------------+----------------+------ - -
 *   | name_length | body_offset | uid_length | version_length | texts
 *   +-------------+-------------+------------+----------------+------ - -
 *
 *   texts:  namespace | name | near strings | source | uid | resourceVersion | body, from body_offset on
 *
 *   seq            number of the change that made this state
 *   created_seq    number of the change that added the object
 *   key_hash       hash of namespace and name under the arena's hash key (key_hash.h)
 *   ordinal        number of the object within its resource, while the object exists
 *   resource       position of the resource in the root that published this state first
 *   flags          OBJECT_NEAR: near strings follow the name
 *                  OBJECT_SOURCE: the 8 bytes before the UID are the writer's own
 *   body_offset    from the payload's start
 *
 * Near strings are copies of fields that most lookups read: {u8 length, bytes} each, in the order of enum
 * object_near. Length 0: look into the body; the field is absent, no string, or longer than 255 bytes. They
 * are in a cache line that a lookup loads anyway: to read spec.nodeName costs 5 ns here and 60 ns in the
 * body.
 *
 * Namespace, name, UID and resourceVersion are stored once, here. The body's metadata has the one-byte values
 * OWN_NAMESPACE, OWN_NAME, OWN_UID and OWN_VERSION in their places. A field that is no string, or that is too
 * long for this header, is in the body only; its length here is 0, as if it were absent.
 */
#ifndef SHM_LAYOUT_OBJECT_H
#define SHM_LAYOUT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/block.h"
#include "shm-layout/key_hash.h"

#define OBJECT_UID_MAX 255u
#define OBJECT_KEY_MAX (OBJECT_NAMESPACE_MAX + 1u + OBJECT_NAME_MAX)

struct object {
	uint64_t seq;
	uint64_t created_seq;
	uint64_t key_hash;
	uint32_t ordinal;
	uint16_t resource;
	uint8_t namespace_length;
	uint8_t flags;
	uint16_t name_length;
	uint16_t body_offset;
	uint8_t uid_length;
	uint8_t version_length;
	char key[];		/* namespace, then name, without a separator; then the other texts */
};
_Static_assert(offsetof(struct object, key_hash) == 16, "object: key_hash moved");
_Static_assert(offsetof(struct object, resource) == 28, "object: resource moved");
_Static_assert(offsetof(struct object, name_length) == 32, "object: name_length moved");
_Static_assert(offsetof(struct object, key) == 38, "object: key moved");

/* The strings that the header stores for the body; value.h has a tag for each, in this order. */
enum object_string { OBJECT_NAME, OBJECT_NAMESPACE, OBJECT_UID, OBJECT_VERSION };
#define OBJECT_STRINGS 4u

#define OBJECT_NEAR 1u
#define OBJECT_SOURCE 2u

enum object_near { NEAR_NODE_NAME = 0, NEAR_PHASE = 1 };	/* spec.nodeName, status.phase */
#define OBJECT_NEARS 2u

/*
 * Checked copies of the lengths in an object's header. Under a revoked reader the header may change, so
 * readers use these copies.
 */
struct object_extent {
	uint32_t namespace_length, name_length, uid_length, version_length;
	uint32_t body_offset;
	uint32_t length; /* of the payload; only object_load() knows */
};

/* Load the lengths, each once. False when they contradict each other. ret->length is not set. */
static inline bool
object_measure(const struct object *o, struct object_extent *ret)
{
	uint16_t name_length = LOAD_ONCE(&o->name_length), body_offset = LOAD_ONCE(&o->body_offset);

	ret->namespace_length = LOAD_ONCE(&o->namespace_length);
	ret->name_length = name_length;
	ret->uid_length = LOAD_ONCE(&o->uid_length);
	ret->version_length = LOAD_ONCE(&o->version_length);
	ret->body_offset = body_offset;
	return name_length <= OBJECT_NAME_MAX &&
	       body_offset >= offsetof(struct object, key) + ret->namespace_length + name_length +
				      ret->uid_length + ret->version_length;
}

/* One of the header's strings, not terminated. *ret_length 0: the header has none. */
static inline const char *
object_string(const struct object *o, const struct object_extent *extent, enum object_string which,
	      size_t *ret_length)
{
	const char *body = (const char *)o + extent->body_offset;

	switch (which) {
	case OBJECT_NAMESPACE:
		*ret_length = extent->namespace_length;
		return o->key;
	case OBJECT_NAME:
		*ret_length = extent->name_length;
		return o->key + extent->namespace_length;
	case OBJECT_UID:
		*ret_length = extent->uid_length;
		return body - extent->version_length - extent->uid_length;
	default:
		*ret_length = extent->version_length;
		return body - extent->version_length;
	}
}

/*
 * As object_measure(), for an object that was found before. False also when the bytes before its body do not
 * lie within the committed bytes.
 */
static inline bool
object_measure_within(const struct arena_view *view, const struct object *o, struct object_extent *ret)
{
	return object_measure(o, ret) &&
	       (uint64_t)((const uint8_t *)o - view->base) + ret->body_offset <= view->committed;
}

/* A near string of an object that was found before. False: look into the body. */
static inline bool
object_near(const struct arena_view *view, const struct object *o, enum object_near which,
	    const char **ret_data, size_t *ret_length)
{
	const uint8_t *at, *end;
	uint8_t length;

	if (!(o->flags & OBJECT_NEAR))
		return false;
	at = (const uint8_t *)o->key + o->namespace_length + o->name_length;
	end = (const uint8_t *)o + LOAD_ONCE(&o->body_offset);
	if (__builtin_expect(end > view->base + view->committed, 0))
		return false;
	for (unsigned i = 0; i < (unsigned)which && at < end; i++)
		at += 1u + LOAD_ONCE(at);
	if (at >= end)
		return false;
	length = LOAD_ONCE(at);
	if (length == 0 || length >= end - at)
		return false;
	*ret_data = (const char *)at + 1;
	*ret_length = length;
	return true;
}

/* The object of this ref. Its key and body offset lie within the block; NULL when damaged. */
static inline const struct object *
object_load(const struct arena_view *view, uint32_t ref, struct object_extent *ret_extent)
{
	const struct block *b = block_load(view, ref, BLOCK_OBJECT, offsetof(struct object, key) + 1,
					   &ret_extent->length);
	const struct object *o;

	if (__builtin_expect(!b, 0))
		return NULL;
	o = (const struct object *)(const void *)b->payload;
	if (__builtin_expect(!object_measure(o, ret_extent) || ret_extent->body_offset >= ret_extent->length,
			     0))
		return NULL;
	return o;
}

/* As object_load(), for callers that read only the fixed fields, or whose objects cannot change. */
static inline const struct object *
object_at(const struct arena_view *view, uint32_t ref)
{
	struct object_extent extent;

	return object_load(view, ref, &extent);
}

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

static inline const char *
object_uid(const struct object *o)
{
	return (const char *)o + o->body_offset - o->version_length - o->uid_length;
}

static inline const char *
object_version(const struct object *o)
{
	return (const char *)o + o->body_offset - o->version_length;
}

/*
 * Comparing keys, for each lookup. Overlapping heads and tails are compared, with one branch for each
 * doubling of the length. A loop has one branch for each word, and the processor mispredicts the last one.
 */
static inline uint32_t
differ4(const char *a, const char *b)
{
	uint32_t x, y;

	__builtin_memcpy(&x, a, sizeof(x));
	__builtin_memcpy(&y, b, sizeof(y));
	return x ^ y;
}

static inline uint64_t
differ8(const char *a, const char *b)
{
	uint64_t x, y;

	__builtin_memcpy(&x, a, sizeof(x));
	__builtin_memcpy(&y, b, sizeof(y));
	return x ^ y;
}

static inline uint64_t
differ16(const char *a, const char *b)
{
	return differ8(a, b) | differ8(a + 8, b + 8);
}

static inline bool
same_bytes(const char *a, const char *b, size_t n)
{
	if (n > 64)
		return __builtin_memcmp(a, b, n) == 0;
	if (n > 32)
		return (differ16(a, b) | differ16(a + 16, b + 16) | differ16(a + n - 32, b + n - 32) |
			differ16(a + n - 16, b + n - 16)) == 0;
	if (n > 16)
		return (differ16(a, b) | differ16(a + n - 16, b + n - 16)) == 0;
	if (n >= 8)
		return (differ8(a, b) | differ8(a + n - 8, b + n - 8)) == 0;
	if (n >= 4)
		return (differ4(a, b) | differ4(a + n - 4, b + n - 4)) == 0;
	while (n > 0 && a[n - 1] == b[n - 1])
		n--;
	return n == 0;
}

/* True if the object, whose checked lengths are `extent`, has this key. */
static inline bool
object_is_of_key(const struct object *o, const struct object_extent *extent, const char *ns, size_t ns_length,
		 const char *name, size_t name_length)
{
	return extent->namespace_length == ns_length && extent->name_length == name_length &&
	       same_bytes(o->key, ns, ns_length) && same_bytes(o->key + ns_length, name, name_length);
}

/* As object_is_of_key(), for an object that cannot change: the writer's. */
static inline bool
object_has_key(const struct object *o, const char *ns, size_t ns_length, const char *name, size_t name_length)
{
	return o->namespace_length == ns_length && o->name_length == name_length &&
	       same_bytes(o->key, ns, ns_length) && same_bytes(o->key + ns_length, name, name_length);
}

static inline bool
object_has_uid_of(const struct object *o, const struct object *other)
{
	return o->uid_length == other->uid_length &&
	       same_bytes(object_uid(o), object_uid(other), o->uid_length);
}

static inline bool
object_has_version_of(const struct object *o, const struct object *other)
{
	return o->version_length == other->version_length &&
	       same_bytes(object_version(o), object_version(other), o->version_length);
}

#endif
