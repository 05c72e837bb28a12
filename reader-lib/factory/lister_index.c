/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups of listers by index: the daemon's indexes and private ones.
 *
 * Objects are collected first, then passed to the caller in order of key. So no lock is held during the
 * caller's function, and the order does not depend on the index.
 */
#include <string.h>

#include "reader-lib/factory/lister.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/resource_open.h"

/* The private index of this name, or NULL. */
static struct private_index *
index_of_name(struct informer_lister *lister, const char *name)
{
	struct private_index *ix;

	pthread_mutex_lock(&lister->lock);
	for (ix = lister->indexes; ix && strcmp(ix->name, name) != 0; ix = ix->next)
		;
	pthread_mutex_unlock(&lister->lock);
	return ix;
}

/* Whether the daemon has an index of this name, by the newest snapshot. */
static bool
daemon_has_index(struct informer_lister *lister, const char *name)
{
	struct informer_snapshot snapshot;
	const struct resource_binding *b;
	bool has = false;

	if (informer_begin(lister->scope.inf, &snapshot) < 0)
		return false;
	if (resource_bind(snapshot_of(&snapshot), lister->scope.resource, &b) == 0) {
		for (uint32_t i = 0; i < b->count; i++)
			has |= definition_index(b->parts[i].definition, name) >= 0;
	}
	informer_end(&snapshot);
	return has;
}

int
informer_add_index(struct informer_lister *lister, const char *name, index_function function, void *context)
{
	struct private_index *ix, *known;
	int r;

	if (!lister || !name || !*name || !function)
		return -EINVAL;
	if (forked(lister->scope.inf))
		return INFORMER_E_FORKED;
	if (daemon_has_index(lister, name))
		return error_set(-EEXIST, "informerd has an index of the name '%.60s' already", name);
	r = private_index_new(&lister->scope, name, function, context, &ix);
	if (r < 0)
		return r;
	pthread_mutex_lock(&lister->lock);
	for (known = lister->indexes; known && strcmp(known->name, name) != 0; known = known->next)
		;
	if (!known) {
		ix->next = lister->indexes;
		lister->indexes = ix;
	}
	pthread_mutex_unlock(&lister->lock);
	if (!known)
		return 0;
	private_index_free(ix);
	return error_set(-EEXIST, "there is an index of the name '%.60s' already", name);
}

/* ---- objects ---- */

static int
find_in_daemons(const struct scope *scope, const struct informer_snapshot *snapshot, const char *index,
		const char *value, size_t length, struct found_list *list)
{
	struct informer_object object;
	struct informer_iter it;
	int r = informer_by_index(snapshot, scope->resource, index, value, length, &it);

	while (r == 0 && (r = informer_next(&it, &object)) > 0) {
		r = scope_has(scope, &object);
		if (r > 0)
			r = found_list_add(list, &object);
	}
	return r;
}

static int
find(struct informer_lister *lister, const struct informer_snapshot *snapshot, const char *index,
     const char *value, size_t length, struct found_list *list)
{
	struct private_index *ix = index_of_name(lister, index);

	if (ix)
		return private_index_find(ix, snapshot, value, length, list);
	return find_in_daemons(&lister->scope, snapshot, index, value, length, list);
}

/* Pass the objects to the caller, and free the list. */
static int
give_out(const struct scope *scope, struct found_list *list, int r,
	 int (*each)(void *context, const struct informer_object *object), void *context)
{
	const struct found_item *items = NULL;
	struct informer_object object;
	size_t count = 0;

	if (r == 0)
		items = found_list_sort(list, &count);
	for (size_t i = 0; i < count && r == 0; i++) {
		r = scope_show(scope, &items[i].object, &object);
		if (r == 0)
			r = each(context, &object);
	}
	found_list_done(list);
	return r;
}

int
informer_lister_by_index(struct informer_lister *lister, const struct informer_snapshot *snapshot,
			 const char *index, const char *value, size_t length,
			 int (*each)(void *context, const struct informer_object *object), void *context)
{
	struct found_list list;
	int r;

	if (!lister || !index || (!value && length) || !each)
		return -EINVAL;
	found_list_init(&list, lister->scope.inf);
	r = find(lister, snapshot, index, length ? value : "", length, &list);
	return give_out(&lister->scope, &list, r, each, context);
}

int
informer_lister_by_index_z(struct informer_lister *lister, const struct informer_snapshot *snapshot,
			   const char *index, const char *value,
			   int (*each)(void *context, const struct informer_object *object), void *context)
{
	return informer_lister_by_index(lister, snapshot, index, value, value ? strlen(value) : 1, each,
					context);
}

/* ---- values ---- */

static int
add_value(const char *data, size_t length, void *context)
{
	int r = length <= INDEX_VALUE_MAX ? text_set_add(context, data, length) : 0;

	return r < 0 ? r : 0;
}

/* An object's values in one of the daemon's indexes. */
static int
daemons_values_of(const struct resource_binding *b, const char *index, const struct informer_object *object,
		  struct text_set *values)
{
	const struct snapshot *s = snapshot_of(object->snapshot_);

	if (object_is_key_only(object))
		return INFORMER_E_NOT_FOUND;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct definition *d = b->parts[i].definition;
		int number = definition_index(d, index);

		if (b->parts[i].position != informer_object_position(object))
			continue;
		if (number < 0)
			return INFORMER_E_NO_INDEX;
		return snapshot_validate(s, index_def_each(&d->indexes[number],
							   value_of_object(&s->view, object->ref_), add_value,
							   values));
	}
	return -EINVAL;
}

static int
daemons_values(const struct scope *scope, const struct informer_snapshot *snapshot, const char *index,
	       struct text_set *values)
{
	struct informer_object object;
	const struct resource_binding *b = NULL;
	struct scope_walk walk;
	int r = snapshot_usable(snapshot_of(snapshot));

	if (r == 0)
		r = resource_bind(snapshot_of(snapshot), scope->resource, &b);
	if (r == 0)
		r = scope_start(&walk, scope, snapshot, NULL, 0, NULL);
	while (r == 0 && (r = scope_next(&walk, &object)) > 0)
		r = daemons_values_of(b, index, &object, values);
	return r == INFORMER_E_NO_INDEX ? 0 : r;
}

int
informer_index_values(struct informer_lister *lister, const struct informer_snapshot *snapshot,
		      const char *index, int (*each)(void *context, const char *value, size_t length),
		      void *context)
{
	struct text_set values = {0};
	struct private_index *ix;
	int r;

	if (!lister || !index || !each)
		return -EINVAL;
	r = text_set_init(&values, &lister->scope.inf->memory);
	if (r == 0) {
		ix = index_of_name(lister, index);
		r = ix ? private_index_values(ix, snapshot, &values)
		       : daemons_values(&lister->scope, snapshot, index, &values);
	}
	for (const struct set_text *v = values.first; v && r == 0; v = v->next)
		r = each(context, v->bytes, v->node.length);
	text_set_done(&values);
	return r;
}

int
informer_lister_index(struct informer_lister *lister, const struct informer_snapshot *snapshot,
		      const char *index, const struct informer_object *object,
		      int (*each)(void *context, const struct informer_object *object), void *context)
{
	struct text_set values = {0};
	struct private_index *ix;
	struct found_list list;
	const struct resource_binding *b;
	int r;

	if (!lister || !index || !object || !each)
		return -EINVAL;
	r = snapshot_usable(snapshot_of(snapshot));
	if (r == 0)
		r = resource_bind(snapshot_of(snapshot), lister->scope.resource, &b);
	if (r == 0)
		r = text_set_init(&values, &lister->scope.inf->memory);
	if (r < 0)
		return r;
	ix = index_of_name(lister, index);
	if (ix) {
		pthread_mutex_lock(&ix->lock);
		r = private_index_values_of(ix, object, &values);
		pthread_mutex_unlock(&ix->lock);
	} else {
		r = daemons_values_of(b, index, object, &values);
	}
	found_list_init(&list, lister->scope.inf);
	for (const struct set_text *v = values.first; v && r == 0; v = v->next)
		r = find(lister, snapshot, index, v->bytes, v->node.length, &list);
	text_set_done(&values);
	return give_out(&lister->scope, &list, r, each, context);
}
