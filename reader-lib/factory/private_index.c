/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private indexes: their records and values, and how they follow the store.
 */
#include <string.h>

#include "reader-lib/read/by_seq.h"
#include "reader-lib/read/copy.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/factory/private_index.h"

/* Records of absent keys that are kept. If there are more, all are removed. */
#define ABSENT_MAX 1024u

int
private_index_new(const struct scope *scope, const char *name, index_function function, void *context,
		  struct private_index **ret_index)
{
	struct informer *inf = scope->inf;
	size_t length = strlen(name);
	struct private_index *ix = memory_get(inf, sizeof(*ix) + length + 1);

	if (!ix)
		return -ENOMEM;
	memcpy(ix->name, name, length + 1);
	ix->scope = scope;
	ix->function = function;
	ix->context = context;
	ix->memory = inf->memory;
	if (key_table_init(&ix->records, &ix->memory, offsetof(struct index_record, key)) < 0 ||
	    key_table_init(&ix->values, &ix->memory, offsetof(struct index_value, bytes)) < 0) {
		key_table_done(&ix->records);
		memory_put(inf, ix);
		return -ENOMEM;
	}
	pthread_mutex_init(&ix->lock, NULL);
	*ret_index = ix;
	return 0;
}

/* ---- records, values, entries ---- */

static void
unlink_record(struct private_index *ix, struct index_record *record)
{
	*(record->newer ? &record->newer->older : &ix->newest) = record->older;
	*(record->older ? &record->older->newer : &ix->oldest) = record->newer;
}

static void
link_newest(struct private_index *ix, struct index_record *record, uint64_t seq)
{
	record->seq = seq;
	record->newer = NULL;
	record->older = ix->newest;
	*(ix->newest ? &ix->newest->newer : &ix->oldest) = record;
	ix->newest = record;
}

/* A value without objects is removed. */
static void
remove_entries(struct private_index *ix, struct index_record *record)
{
	while (record->entries) {
		struct index_entry *e = record->entries;
		struct index_value *v = e->value;

		record->entries = e->next_of_record;
		*e->at_of_value = e->next_of_value;
		if (e->next_of_value)
			e->next_of_value->at_of_value = e->at_of_value;
		if (!v->first) {
			key_table_remove(&ix->values, &v->node);
			allocator_put(&ix->memory, v);
		}
		allocator_put(&ix->memory, e);
	}
}

static void
free_record(struct private_index *ix, struct index_record *record)
{
	remove_entries(ix, record);
	unlink_record(ix, record);
	key_table_remove(&ix->records, &record->node);
	allocator_put(&ix->memory, record);
}

static void
forget_all(struct private_index *ix)
{
	while (ix->newest)
		free_record(ix, ix->newest);
	ix->absent = 0;
	ix->valid = false;
}

/* Remove the records of absent keys: what changed before ix->seq is not known any more. */
static void
forget_absent(struct private_index *ix)
{
	struct index_record *older;

	for (struct index_record *record = ix->newest; record; record = older) {
		older = record->older;
		if (!record->present)
			free_record(ix, record);
	}
	ix->absent = 0;
	ix->known_from = ix->seq;
}

void
private_index_free(struct private_index *ix)
{
	if (!ix)
		return;
	forget_all(ix);
	key_table_done(&ix->records);
	key_table_done(&ix->values);
	pthread_mutex_destroy(&ix->lock);
	memory_put(ix->scope->inf, ix);
}

static struct index_record *
record_of(struct private_index *ix, const char *key, size_t length)
{
	size_t before = ix->records.count;
	struct index_record *record = (struct index_record *)(void *)key_table_get(&ix->records, key, length);

	if (record && ix->records.count > before) {
		ix->absent++;
		link_newest(ix, record, 0);
	}
	return record;
}

static int
add_entry(struct private_index *ix, struct index_record *record, const char *data, size_t length)
{
	struct index_value *v = (struct index_value *)(void *)key_table_get(&ix->values, data, length);
	struct index_entry *e;

	if (!v)
		return -ENOMEM;
	e = allocator_get(&ix->memory, sizeof(*e));
	if (!e) {
		if (!v->first) {
			key_table_remove(&ix->values, &v->node);
			allocator_put(&ix->memory, v);
		}
		return -ENOMEM;
	}
	*e = (struct index_entry){record, v, record->entries, v->first, &v->first};
	if (v->first)
		v->first->at_of_value = &e->next_of_value;
	v->first = e;
	record->entries = e;
	return 0;
}

/* ---- calling the index function ---- */

struct emission {
	struct text_set *values;
	int result;
};

static void
take_value(void *context, const char *data, size_t length)
{
	struct emission *em = context;

	if (em->result >= 0 && (data || length == 0))
		em->result = text_set_add(em->values, data, length);
}

int
private_index_values_of(const struct private_index *ix, const struct informer_object *object,
			struct text_set *values)
{
	struct emission em = {values, 0};
	struct informer_object copy;
	int r;

	if (!ix->scope->transform) {
		ix->function(ix->context, object, take_value, &em);
	} else {
		r = object_copy_filtered(ix->scope->inf, object, ix->scope->transform, &copy);
		if (r < 0)
			return r;
		ix->function(ix->context, &copy, take_value, &em);
		informer_object_free(&copy);
	}
	return em.result < 0 ? em.result : 0;
}

/* Set the values of a key to those of its object; NULL: the object is gone. */
static int
set_record(struct private_index *ix, const char *key, size_t length, uint64_t seq,
	   const struct informer_object *object)
{
	struct index_record *record;
	struct text_set values = {0};
	int r = object ? scope_has(ix->scope, object) : 0;
	bool was;

	if (r > 0) {
		r = text_set_init(&values, &ix->scope->inf->memory);
		if (r == 0)
			r = private_index_values_of(ix, object, &values);
	}
	record = r < 0 ? NULL : record_of(ix, key, length);
	if (r == 0 && !record)
		r = -ENOMEM;
	if (r == 0) {
		was = record->present;
		remove_entries(ix, record);
		for (const struct set_text *v = values.first; v && r == 0; v = v->next)
			r = add_entry(ix, record, v->bytes, v->node.length);
		record->present = values.first != NULL;
		ix->absent += was - (size_t)record->present;
		unlink_record(ix, record);
		link_newest(ix, record, seq);
	}
	text_set_done(&values);
	return r;
}

/* ---- following the store ---- */

static uint64_t
parts_of(const struct resource_binding *b)
{
	uint64_t sum = b->count;

	for (uint32_t i = 0; i < b->count; i++)
		sum += b->parts[i].fingerprint * 0x9e3779b97f4a7c15ull;
	return sum;
}

static int
make_anew(struct private_index *ix, const struct informer_snapshot *snapshot)
{
	const struct snapshot *s = snapshot_of(snapshot);
	char key[OBJECT_KEY_MAX + 1];
	struct informer_object object;
	struct scope_walk walk;
	size_t length;
	int r;

	forget_all(ix);
	r = scope_start(&walk, ix->scope, snapshot, NULL, 0, NULL);
	while (r == 0 && (r = scope_next(&walk, &object)) > 0) {
		r = informer_object_key(&object, key, sizeof(key), &length);
		if (r == 0)
			r = set_record(ix, key, length, informer_object_seq(&object), &object);
	}
	ix->seq = s->root->seq;
	memcpy(ix->lineage, s->root->lineage, sizeof(ix->lineage));
	forget_absent(ix);
	return r;
}

/*
 * Take in one change. A resource with several entries may have a key in more than one of them: then a lookup
 * gives its state.
 */
static int
follow(struct private_index *ix, const struct informer_snapshot *snapshot, const struct resource_binding *b,
       const struct found *found)
{
	char key[OBJECT_KEY_MAX + 1];
	struct informer_object object;
	size_t length;
	int r;

	object_set(&object, snapshot_of(snapshot), found->object, found->ref, b->parts[found->part].position);
	r = informer_object_key(&object, key, sizeof(key), &length);
	if (r < 0)
		return r;
	if (b->count > 1) {
		r = informer_get_key(snapshot, ix->scope->resource, key, length, &object);
		if (r < 0 && r != INFORMER_E_NOT_FOUND)
			return r;
		return set_record(ix, key, length, found->seq, r == 0 ? &object : NULL);
	}
	return set_record(ix, key, length, found->seq, found->gone ? NULL : &object);
}

static int
follow_all(struct private_index *ix, const struct informer_snapshot *snapshot,
	   const struct resource_binding *b)
{
	const struct snapshot *s = snapshot_of(snapshot);
	struct by_seq walk = {0};
	struct found found;
	int r = by_seq_start(&walk, s, b, ix->seq);

	while (r == 0 && (r = by_seq_next(&walk, &found)) > 0)
		r = follow(ix, snapshot, b, &found);
	by_seq_done(s->inf, &walk);
	ix->seq = s->root->seq;
	if (ix->absent > ABSENT_MAX)
		forget_absent(ix);
	return r;
}

/* Whether the store still knows all changes since ix->seq. */
static bool
can_follow(const struct private_index *ix, const struct snapshot *s, const struct resource_binding *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct resource *resource = part_resource(s, &b->parts[i]);

		if (!resource || resource->tombstone_floor > ix->seq)
			return false;
	}
	return true;
}

int
private_index_bring_to(struct private_index *ix, const struct informer_snapshot *snapshot)
{
	const struct snapshot *s = snapshot_of(snapshot);
	const struct resource_binding *b;
	uint64_t parts;
	int r = resource_bind(s, ix->scope->resource, &b);

	if (r < 0)
		return r;
	parts = parts_of(b);
	if (!ix->valid || ix->parts != parts ||
	    memcmp(ix->lineage, s->root->lineage, sizeof(ix->lineage)) != 0) {
		r = make_anew(ix, snapshot);
	} else if (s->root->seq < ix->seq) {
		return 0;
	} else if (s->root->seq > ix->seq) {
		r = can_follow(ix, s, b) ? follow_all(ix, snapshot, b) : make_anew(ix, snapshot);
	}
	r = snapshot_validate(s, r);
	ix->parts = parts;
	ix->valid = r == 0;
	return r < 0 ? r : 1;
}
