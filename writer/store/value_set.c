/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects an object's values in one index, hashes and sorts them, for index_change.c.
 */
#include "writer/store/value_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"

struct filling {
	struct value_set *sets;
	const uint8_t *hash_key;
};

static int
compare(const char *a_bytes, const struct value_entry *a, const char *b_bytes, const struct value_entry *b)
{
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a_bytes + a->offset, b_bytes + b->offset, a->length);
}

int
value_set_compare(const struct value_set *a, size_t i, const struct value_set *b, size_t j)
{
	return compare(a->bytes, &a->entries[i], b->bytes, &b->entries[j]);
}

static int
add(unsigned index, const char *data, size_t length, void *context)
{
	struct filling *f = context;
	struct value_set *set = &f->sets[index];

	if (set->count == set->capacity) {
		size_t wider = set->capacity ? set->capacity * 2 : 32;
		struct value_entry *p = realloc(set->entries, wider * sizeof(*p));

		if (!p)
			return -ENOMEM;
		set->entries = p;
		set->capacity = wider;
	}
	/* an empty first value needs bytes to point into, too */
	if (!set->bytes || set->used + length > set->room) {
		size_t wider = set->room ? set->room * 2 : 4096;
		char *p;

		while (wider < set->used + length)
			wider *= 2;
		p = realloc(set->bytes, wider);
		if (!p)
			return -ENOMEM;
		set->bytes = p;
		set->room = wider;
	}
	memcpy(set->bytes + set->used, data, length);
	set->entries[set->count++] = (struct value_entry){index_value_hash(f->hash_key, data, length),
							  (uint32_t)set->used, (uint32_t)length, false,
							  false};
	set->used += length;
	return 0;
}

static int
compare_entries(const void *a, const void *b, void *bytes)
{
	return compare(bytes, a, bytes, b);
}

/* Sort, and remove duplicates. */
static void
order(struct value_set *set)
{
	size_t kept = 0;

	if (set->count < 2)
		return;
	qsort_r(set->entries, set->count, sizeof(set->entries[0]), compare_entries, set->bytes);
	for (size_t i = 0; i < set->count; i++)
		if (kept == 0 || value_set_compare(set, i, set, kept - 1) != 0)
			set->entries[kept++] = set->entries[i];
	set->count = kept;
}

int
value_sets_fill(struct value_set *sets, unsigned count, struct index_plan *plan, struct value body,
		index_mask wanted, const uint8_t hash_key[16])
{
	struct filling f = {sets, hash_key};
	int r;

	for (unsigned i = 0; i < count; i++)
		value_set_clear(&sets[i]);
	r = index_plan_each(plan, body, wanted, add, &f);
	for (unsigned i = 0; i < count && r == 0; i++)
		order(&sets[i]);
	return r;
}

void
value_set_done(struct value_set *set)
{
	free(set->entries);
	free(set->bytes);
	memset(set, 0, sizeof(*set));
}
