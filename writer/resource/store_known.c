/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a DeltaFIFO's questions (what is known under this key, is it the same, what is there at all) out
 * of the store, for cached_resource.c: so that the FIFO knows no store.
 */
#include "writer/resource/store_known.h"

#include <string.h>

static const struct object *
known_object(void *context, uint32_t ref)
{
	const struct store_known *k = context;

	return object_at(&store_arena(k->store)->view, ref);
}

static uint32_t
known_find(void *context, uint64_t key_hash, const char *ns, size_t ns_length, const char *name,
	   size_t name_length)
{
	const struct store_known *k = context;

	return store_find(k->store, k->resource, key_hash, ns, ns_length, name, name_length);
}

static uint32_t
known_look(void *context, uint32_t draft, bool *ret_same)
{
	const struct store_known *k = context;

	return store_look(k->store, k->resource, draft, ret_same);
}

static void
known_each(void *context, void (*visit)(void *visitor, uint32_t ref), void *visitor)
{
	const struct store_known *k = context;
	uint64_t end = store_resource(k->store, k->resource)->next_ordinal;

	for (uint64_t ordinal = 0; ordinal < end; ordinal++) {
		uint32_t ref = store_by_ordinal(k->store, k->resource, (uint32_t)ordinal);

		if (ref != 0)
			visit(visitor, ref);
	}
}

static uint64_t
known_count(void *context)
{
	const struct store_known *k = context;

	return store_resource(k->store, k->resource)->object_count;
}

static bool
known_same_uid(void *context, uint32_t ref, uint32_t other)
{
	const struct store_known *k = context;
	const char *uid, *other_uid, *version;
	size_t length, other_length, version_length;

	store_object_identity(k->store, ref, &uid, &length, &version, &version_length);
	store_object_identity(k->store, other, &other_uid, &other_length, &version, &version_length);
	return length == other_length && memcmp(uid, other_uid, length) == 0;
}

static void
known_discard(void *context, uint32_t draft)
{
	const struct store_known *k = context;

	draft_discard(store_arena(k->store), store_intern(k->store), (struct draft){draft});
}

/* The lines with its header, its key and the beginning of its body; what follows the processor foresees. */
static void
known_expect(void *context, uint32_t draft)
{
	const struct store_known *k = context;
	const uint8_t *at = store_arena(k->store)->view.base + ref_offset(draft);

	for (unsigned i = 0; i < 8; i++)
		__builtin_prefetch(at + (size_t)i * 64);
}

struct known_objects
store_known_objects(struct store_known *known)
{
	return (struct known_objects){
		known,       known_object,   known_find,    known_look,   known_each,
		known_count, known_same_uid, known_discard, known_expect,
	};
}
