/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private indexes: lookups for the version that the index shows, and for older ones.
 */
#include <string.h>

#include "reader-lib/attach/snapshot.h"
#include "reader-lib/factory/private_index.h"

static struct index_value *
known_value(const struct private_index *ix, const char *value, size_t length)
{
	return (struct index_value *)(void *)key_table_find(
		&ix->values, key_table_hash(&ix->values, value, length), value, length);
}

/* Add an object if it is in the scope and has this value now. */
static int
add_if_it_has(const struct private_index *ix, const struct informer_object *object, const char *value,
	      size_t length, struct found_list *list)
{
	struct text_set values = {0};
	int r = text_set_init(&values, &ix->scope->inf->memory);

	if (r == 0)
		r = private_index_values_of(ix, object, &values);
	if (r == 0) {
		uint64_t hash = key_table_hash(&values.table, value, length);

		if (key_table_find(&values.table, hash, value, length))
			r = found_list_add(list, object);
	}
	text_set_done(&values);
	return r;
}

/* Call the index function for each object. */
static int
find_slowly(const struct private_index *ix, const struct informer_snapshot *snapshot, const char *value,
	    size_t length, struct found_list *list)
{
	struct informer_object object;
	struct scope_walk walk;
	int r = scope_start(&walk, ix->scope, snapshot, NULL, 0, NULL);

	while (r == 0 && (r = scope_next(&walk, &object)) > 0)
		r = add_if_it_has(ix, &object, value, length, list);
	return r;
}

/* Objects whose last change is not after seq: in the snapshot they have the values that the index has. */
static int
find_unchanged(const struct private_index *ix, const struct informer_snapshot *snapshot, uint64_t seq,
	       const char *value, size_t length, struct found_list *list)
{
	const struct index_value *v = known_value(ix, value, length);
	struct informer_object object;
	int r = 0;

	for (const struct index_entry *e = v ? v->first : NULL; e && r == 0; e = e->next_of_value) {
		const struct index_record *record = e->record;

		if (record->seq > seq)
			continue;
		r = informer_get_key(snapshot, ix->scope->resource, record->key, record->node.length,
				     &object);
		/* the index follows the store, so an object that it has is there */
		if (r == 0)
			r = found_list_add(list, &object);
		else if (r == INFORMER_E_NOT_FOUND)
			r = INFORMER_E_CORRUPT;
	}
	return r;
}

/* Objects that changed after seq: they are read in the snapshot. */
static int
find_changed(const struct private_index *ix, const struct informer_snapshot *snapshot, uint64_t seq,
	     const char *value, size_t length, struct found_list *list)
{
	struct informer_object object;
	int r;

	for (const struct index_record *record = ix->newest; record && record->seq > seq;
	     record = record->older) {
		r = informer_get_key(snapshot, ix->scope->resource, record->key, record->node.length,
				     &object);
		if (r == INFORMER_E_NOT_FOUND)
			continue;
		if (r == 0)
			r = scope_has(ix->scope, &object);
		if (r > 0)
			r = add_if_it_has(ix, &object, value, length, list);
		if (r < 0)
			return r;
	}
	return 0;
}

int
private_index_find(struct private_index *ix, const struct informer_snapshot *snapshot, const char *value,
		   size_t length, struct found_list *list)
{
	const struct snapshot *s = snapshot_of(snapshot);
	uint64_t seq;
	int r = snapshot_usable(s);

	if (r < 0)
		return r;
	seq = s->root->seq;
	pthread_mutex_lock(&ix->lock);
	r = private_index_bring_to(ix, snapshot);
	if (r == 0 && seq < ix->known_from) {
		r = find_slowly(ix, snapshot, value, length, list);
	} else if (r >= 0) {
		r = r == 0 ? find_changed(ix, snapshot, seq, value, length, list) : 0;
		if (r == 0)
			r = find_unchanged(ix, snapshot, seq, value, length, list);
	}
	pthread_mutex_unlock(&ix->lock);
	return snapshot_validate(s, r);
}

int
private_index_values(struct private_index *ix, const struct informer_snapshot *snapshot,
		     struct text_set *values)
{
	const struct snapshot *s = snapshot_of(snapshot);
	struct informer_object object;
	struct scope_walk walk;
	int r = snapshot_usable(s);

	if (r < 0)
		return r;
	pthread_mutex_lock(&ix->lock);
	r = private_index_bring_to(ix, snapshot);
	if (r > 0) {
		r = 0;
		for (size_t i = 0; i < ix->values.bucket_count; i++) {
			for (const struct key_node *n = ix->values.buckets[i]; n && r >= 0; n = n->next)
				r = text_set_add(values, key_table_key(&ix->values, n), n->length);
		}
	} else if (r == 0) {
		r = scope_start(&walk, ix->scope, snapshot, NULL, 0, NULL);
		while (r == 0 && (r = scope_next(&walk, &object)) > 0)
			r = private_index_values_of(ix, &object, values);
	}
	pthread_mutex_unlock(&ix->lock);
	return snapshot_validate(s, r < 0 ? r : 0);
}
