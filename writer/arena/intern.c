/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of shared blocks: open addressing with linear probing, at most three quarters full. A removal
 * moves later entries of its run up, so there are no tombstones. An entry's place follows from the low 32
 * bits of its content hash, which the block's aux carries: neither growing nor releasing reads a payload.
 */
#include "writer/arena/intern.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/value.h"

#define CAPACITY_MIN 1024u

struct entry {
	uint32_t ref;	/* 0: free */
	uint32_t hash;
	uint32_t count;
};
_Static_assert(sizeof(struct entry) == 12, "intern: 12 bytes an entry");

struct intern {
	struct arena *arena;
	struct entry *entries;
	uint32_t mask;
	uint32_t used;
};

struct intern *
intern_new(struct arena *arena)
{
	struct intern *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->arena = arena;
	in->mask = CAPACITY_MIN - 1;
	in->entries = calloc(CAPACITY_MIN, sizeof(in->entries[0]));
	if (!in->entries) {
		free(in);
		return NULL;
	}
	return in;
}

void
intern_free(struct intern *in)
{
	if (!in)
		return;
	free(in->entries);
	free(in);
}

/* Find the entry of ref, which must exist or be added next, or the free entry where it belongs. */
static struct entry *
entry_of_ref(const struct intern *in, uint32_t ref)
{
	uint32_t i = arena_block(in->arena, ref)->aux & in->mask;

	while (in->entries[i].ref != ref && in->entries[i].ref != 0)
		i = (i + 1) & in->mask;
	return &in->entries[i];
}

static struct entry *
entry_of_content(const struct intern *in, enum block_type type, const void *payload, uint32_t length,
		 uint32_t hash)
{
	uint32_t type_length = (uint32_t)type << 28 | length, i = hash & in->mask;
	const struct block *b;

	for (; in->entries[i].ref != 0; i = (i + 1) & in->mask) {
		if (in->entries[i].hash != hash)
			continue;
		b = arena_block(in->arena, in->entries[i].ref);
		if (b->type_length == type_length && memcmp(b->payload, payload, length) == 0)
			break;
	}
	return &in->entries[i];
}

/* Room for one entry more. Entries move. */
static int
grow(struct intern *in)
{
	uint32_t capacity = in->mask + 1;
	struct entry *bigger, *old = in->entries;

	if (in->used < capacity - capacity / 4)
		return 0;
	if (capacity > UINT32_MAX / 2)
		return -ENOMEM;
	bigger = calloc((size_t)capacity * 2, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	in->mask = capacity * 2 - 1;
	for (uint32_t k = 0; k < capacity; k++) {
		uint32_t i = old[k].hash & in->mask;

		if (old[k].ref == 0)
			continue;
		while (bigger[i].ref != 0)
			i = (i + 1) & in->mask;
		bigger[i] = old[k];
	}
	in->entries = bigger;
	free(old);
	return 0;
}

static void
remove_entry(struct intern *in, struct entry *e)
{
	uint32_t hole = (uint32_t)(e - in->entries), i = hole;

	for (;;) {
		i = (i + 1) & in->mask;
		if (in->entries[i].ref == 0)
			break;
		/* the entry may move into the hole unless its own place lies between the hole and i */
		if (((i - in->entries[i].hash) & in->mask) >= ((i - hole) & in->mask)) {
			in->entries[hole] = in->entries[i];
			hole = i;
		}
	}
	in->entries[hole] = (struct entry){0};
	in->used--;
}

int
intern_get(struct intern *in, enum block_type type, const void *payload, uint32_t length, uint32_t *ret_ref,
	   bool *ret_known)
{
	uint64_t content = tag_content_hash(&in->arena->keys, payload, length);
	uint32_t hash = (uint32_t)content, ref;
	struct entry *e;
	int r = grow(in);

	if (r < 0)
		return r;
	e = entry_of_content(in, type, payload, length, hash);
	if (e->ref != 0) {
		assert(e->count < UINT32_MAX);
		e->count++;
		*ret_ref = e->ref;
		*ret_known = true;
		return 0;
	}
	r = arena_new_block(in->arena, type, length, hash, &ref);
	if (r < 0)
		return r;
	memcpy(arena_payload(in->arena, ref), payload, length);
	arena_seal_hashed(in->arena, ref, content);
	*e = (struct entry){.ref = ref, .hash = hash, .count = 1};
	in->used++;
	*ret_ref = ref;
	*ret_known = false;
	return 0;
}

void
intern_ref_many(struct intern *in, uint32_t ref, uint32_t times)
{
	struct entry *e = entry_of_ref(in, ref);

	assert(e->ref == ref && e->count <= UINT32_MAX - times);
	e->count += times;
}

static int
release(uint32_t ref, void *context)
{
	intern_unref(context, ref);
	return 0;
}

/* Visit each ref in a block. */
static void
each_ref(const struct block *b, int (*visit)(uint32_t ref, void *context), void *context)
{
	const uint32_t *names;
	uint32_t count = 0;

	if (block_type(b) == BLOCK_VALUE) {
		value_each_ref(b->payload, b->payload + block_length(b), visit, context);
		return;
	}
	names = value_shape_names(b, &count);
	for (uint32_t i = 0; names && i < count; i++)
		visit(names[i], context);
}

void
intern_unref_many(struct intern *in, uint32_t ref, uint32_t times)
{
	struct entry *e;

	if (times == 0)
		return;
	e = entry_of_ref(in, ref);
	assert(e->ref == ref && e->count >= times);
	e->count -= times;
	if (e->count > 0)
		return;
	remove_entry(in, e);
	/* release the refs in the block; the recursion is as deep as values nest */
	each_ref(arena_block(in->arena, ref), release, in);
	arena_retire(in->arena, ref);
}

void
intern_release_value(struct intern *in, const uint8_t *at, const uint8_t *end)
{
	value_each_ref(at, end, release, in);
}

struct own_bytes {
	const struct intern *intern;
	uint64_t sum;
};

static int
add_own(uint32_t ref, void *context)
{
	struct own_bytes *own = context;
	const struct block *b = arena_block(own->intern->arena, ref);

	if (entry_of_ref(own->intern, ref)->count != 1)
		return 0;
	own->sum += block_footprint(block_length(b));
	each_ref(b, add_own, own);
	return 0;
}

uint64_t
intern_own_bytes(const struct intern *in, const uint8_t *at, const uint8_t *end)
{
	struct own_bytes own = {in, 0};

	value_each_ref(at, end, add_own, &own);
	return own.sum;
}

int
intern_restore(struct intern *in, uint32_t ref, bool *ret_first)
{
	struct entry *e;
	int r = grow(in);

	if (r < 0)
		return r;
	e = entry_of_ref(in, ref);
	*ret_first = e->ref == 0;
	if (*ret_first) {
		*e = (struct entry){.ref = ref, .hash = arena_block(in->arena, ref)->aux};
		in->used++;
	}
	e->count++;
	return 0;
}

uint64_t
intern_count(const struct intern *in)
{
	return in->used;
}

uint64_t
intern_private_bytes(const struct intern *in)
{
	return sizeof(*in) + ((uint64_t)in->mask + 1) * sizeof(in->entries[0]);
}
