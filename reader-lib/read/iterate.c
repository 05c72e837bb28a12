/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iteration: over all objects of a resource, or those of an index value; narrowed by namespace and selector.
 *
 * An iterator goes through the resource's entries (parts) one after another. What it walks in an entry, the
 * source, is chosen when the entry is begun: all ordinals, or the postings of one value.
 */
#include <string.h>

#include "reader-lib/read/found_object.h"
#include "reader-lib/read/label_selector.h"
#include "reader-lib/read/lookup.h"
#include "shm-layout/ordinal.h"
#include "shm-layout/posting.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/trie.h"

enum source { SOURCE_NONE, SOURCE_ALL, SOURCE_POSTINGS };

/* Objects of postings that are located and prefetched together, so that their cache misses overlap. */
#define AHEAD 16u

struct found_ahead {
	uint32_t ordinal;
	uint32_t ref;	/* where it probably is; 0: not known */
};

/*
 * index, asked   name of the index, and what it is asked for; index NULL: none
 * ns             only objects of this namespace (ns_length 0: all)
 * selector       only objects that it matches; may be NULL
 * filter         of the postings, only objects that answer by this definition (lookup.h); NULL: all
 * fresh          the source is before its first element
 * cells          the resource's shortcuts by ordinal; NULL: none
 * ahead          objects of the postings that are located; those from next to count are not returned yet
 */
struct iter {
	const struct snapshot *s;
	const struct resource_binding *binding;
	const char *index;
	struct index_question asked;
	const char *ns;
	size_t ns_length;
	const struct informer_label_selector *selector;
	const struct resource *resource;
	const struct index_def *filter;
	const void *cells;
	uint32_t cell_count;
	uint32_t part;
	uint32_t leaf;
	enum source source;
	bool fresh;
	bool filter_ns;
	bool drained;		/* the postings were read to their end */
	uint8_t next, count;
	struct found_ahead ahead[AHEAD];
	union {
		struct trie_iter all;
		struct ordinal_iter some;
	} at;
};
_Static_assert(sizeof(struct iter) <= sizeof(struct informer_iter), "iter: private_ is too small");

/* Choose the source. Of two indexes that would do, the one with fewer objects. */
static int
narrow(struct iter *it, const struct part *part)
{
	const struct index_question ns = {it->ns, it->ns_length, false};
	struct index_question label = {0};
	const int *roles = part->definition->roles;
	uint32_t leaf;
	bool found = false;
	int r;

	it->filter_ns = it->ns_length > 0;
	if (it->ns_length > 0 && roles[INDEX_ROLE_NAMESPACE] >= 0) {
		r = index_leaf(it->s, part, it->resource, roles[INDEX_ROLE_NAMESPACE], &ns, &it->leaf, NULL);
		if (r <= 0)
			return r;
		found = true;
		it->filter_ns = false;
	}
	if (it->selector && roles[INDEX_ROLE_LABELS] >= 0 &&
	    selector_equality(it->selector, &label.value, &label.length)) {
		r = index_leaf(it->s, part, it->resource, roles[INDEX_ROLE_LABELS], &label, &leaf, NULL);
		if (r <= 0)
			return r;
		if (!found || leaf_count(it->s, leaf) < leaf_count(it->s, it->leaf)) {
			it->leaf = leaf;
			it->filter_ns = it->ns_length > 0;
		}
		found = true;
	}
	it->source = found ? SOURCE_POSTINGS : SOURCE_ALL;
	return 1;
}

/* Begin an entry. Returns 1; 0: nothing in it can match; or negative. */
static int
begin_part(struct iter *it)
{
	const struct part *part = &it->binding->parts[it->part];
	int r;

	it->source = SOURCE_NONE;
	it->filter = NULL;
	it->fresh = true;
	it->drained = false;
	it->next = it->count = 0;
	it->resource = part_resource(it->s, part);
	if (!it->resource)
		return -EBADMSG;
	it->cells = it->resource->by_ordinal && !it->s->view.verifier
			    ? shortcut_cells(&it->s->view, it->resource->by_ordinal, SHORTCUT_BY_ORDINAL,
					     &it->cell_count)
			    : NULL;
	if (!it->index)
		return narrow(it, part);
	r = index_leaf(it->s, part, it->resource, definition_index(part->definition, it->index), &it->asked,
		       &it->leaf, &it->filter);
	if (r > 0)
		it->source = SOURCE_POSTINGS;
	return r;
}

/* Begin the next entry in which something can match. Returns 1; 0: the end; or negative. */
static int
seek_part(struct iter *it)
{
	int r = 0;

	while (it->part < it->binding->count && (r = begin_part(it)) == 0)
		it->part++;
	return r;
}

/* Where an ordinal probably is: by the shortcut, else by the trie. 0: not known. */
static inline uint32_t
likely_ref(const struct iter *it, uint32_t ordinal)
{
	uint32_t ref = it->cells ? shortcut_cell(it->cells, it->cell_count, ordinal) : 0;

	if (unlikely(ref == 0) &&
	    (trie_get(&it->s->view, it->resource->ordinals, ordinal, &ref) <= 0 || link_is_immediate(ref)))
		ref = 0;
	return ref <= REF_MAX ? ref : 0;
}

/* Locate the next objects of the postings. Returns how many; 0: the end; or negative. */
static int
look_ahead(struct iter *it)
{
	unsigned n = 0;
	int r = 1;

	while (n < AHEAD && !it->drained) {
		struct found_ahead *found = &it->ahead[n];

		r = it->fresh ? ordinal_first(&it->at.some, &it->s->view, it->leaf)
			      : ordinal_next(&it->at.some);
		it->fresh = false;
		if (r < 0)
			return r;
		it->drained = r == 0;
		if (r == 0)
			break;
		found->ordinal = it->at.some.ordinal;
		found->ref = likely_ref(it, found->ordinal);
		__builtin_prefetch(it->s->view.base + ref_offset(found->ref));
		__builtin_prefetch(it->s->view.base + ref_offset(found->ref) + 64);
		n++;
	}
	if (unlikely(it->cells && slot_is_closed(it->s->mapping->slot)))			/* S2' */
		return -EBADMSG;
	it->next = 0;
	it->count = (uint8_t)n;
	return (int)n;
}

/* The source's next object: 1, 0 at its end, or negative. */
static inline int
step(struct iter *it, uint32_t *ret_ref, const struct object **ret_object)
{
	const struct found_ahead *found;
	int r;

	if (it->source == SOURCE_ALL) {
		r = it->fresh ? trie_first(&it->at.all, &it->s->view, it->resource->ordinals)
			      : trie_next(&it->at.all);
		it->fresh = false;
		if (r <= 0)
			return r;
		*ret_ref = it->at.all.leaf;
		*ret_object = link_is_immediate(*ret_ref) ? NULL : object_at(&it->s->view, *ret_ref);
		return *ret_object ? 1 : -EBADMSG;
	}
	if (it->next == it->count) {
		r = look_ahead(it);
		if (r <= 0)
			return r;
	}
	found = &it->ahead[it->next++];
	*ret_ref = found->ref;
	*ret_object = shortcut_object(&it->s->view, found->ref, it->s->root->seq, found->ordinal);
	/* it changed since, so ask the trie; if the trie has no object for the ordinal, that is damage */
	if (unlikely(!*ret_object) &&
	    ordinal_object(&it->s->view, it->resource->ordinals, found->ordinal, ret_ref, ret_object) <= 0)
		return -EBADMSG;
	return 1;
}

static inline int
wanted(const struct iter *it, uint32_t ref)
{
	struct object_extent extent;

	if (it->filter)
		return index_question_fits(&it->asked, it->filter, value_of_object(&it->s->view, ref));
	if (it->filter_ns) {
		const struct object *o = object_load(&it->s->view, ref, &extent);

		if (!o)
			return -EBADMSG;
		if (extent.namespace_length != it->ns_length || memcmp(o->key, it->ns, it->ns_length) != 0)
			return 0;
	}
	return it->selector ? selector_match(it->selector, value_of_object(&it->s->view, ref)) : 1;
}

int
informer_next(struct informer_iter *iter, struct informer_object *ret_object)
{
	struct iter *it = (struct iter *)(void *)iter;
	const struct object *o = NULL;
	uint32_t ref = 0;
	int r;

	if (unlikely(!it || !ret_object))
		return -EINVAL;
	r = snapshot_usable(it->s);
	if (unlikely(r < 0))
		return r;
	while (it->part < it->binding->count) {
		r = step(it, &ref, &o);
		if (r > 0)
			r = wanted(it, ref);
		else if (r == 0) {
			it->part++;
			r = seek_part(it);
			if (r > 0)
				continue;
			if (r == 0)
				return snapshot_validate(it->s, 0);
		}
		if (r < 0)
			it->part = it->binding->count;	/* an iterator that failed is at its end */
		r = snapshot_validate(it->s, r);
		if (r < 0)
			return r;
		if (r > 0) {
			object_set(ret_object, it->s, o, ref, it->binding->parts[it->part].position);
			return 1;
		}
	}
	return 0;
}

static int
start(const struct informer_snapshot *snapshot, struct informer_resource *res, const struct iter *what,
      struct informer_iter *ret_iter)
{
	struct iter *it = (struct iter *)(void *)ret_iter;
	const struct snapshot *s = snapshot_of(snapshot);
	const struct resource_binding *b;
	int r = snapshot_usable(s);

	if (r == 0 && !it)
		r = -EINVAL;
	if (r == 0)
		r = resource_bind(s, res, &b);
	if (r < 0)
		return r;
	memcpy(it, what, offsetof(struct iter, at));
	it->s = s;
	it->binding = b;
	it->part = 0;
	r = snapshot_validate(s, seek_part(it));
	return r < 0 ? r : 0;
}

int
informer_list(const struct informer_snapshot *snapshot, struct informer_resource *res,
	      struct informer_iter *ret_iter)
{
	return start(snapshot, res, &(struct iter){0}, ret_iter);
}

int
informer_list_namespace(const struct informer_snapshot *snapshot, struct informer_resource *res,
			const char *ns, size_t ns_length, struct informer_iter *ret_iter)
{
	return informer_select(snapshot, res, ns, ns_length, NULL, ret_iter);
}

int
informer_by_index(const struct informer_snapshot *snapshot, struct informer_resource *res, const char *index,
		  const char *value, size_t value_length, struct informer_iter *ret_iter)
{
	if (!index || (!value && value_length))
		return -EINVAL;
	return start(snapshot, res,
		     &(struct iter){.index = index,
				    .asked = {value_length ? value : "", value_length, false}},
		     ret_iter);
}

int
informer_by_index_prefix(const struct informer_snapshot *snapshot, struct informer_resource *res,
			 const char *index, const char *prefix, size_t length, struct informer_iter *ret_iter)
{
	if (!index || !prefix)
		return -EINVAL;
	return start(snapshot, res, &(struct iter){.index = index, .asked = {prefix, length, true}},
		     ret_iter);
}

int
informer_by_index_z(const struct informer_snapshot *snapshot, struct informer_resource *res,
		    const char *index, const char *value, struct informer_iter *ret_iter)
{
	return informer_by_index(snapshot, res, index, value, value ? strlen(value) : 1, ret_iter);
}

int
informer_select(const struct informer_snapshot *snapshot, struct informer_resource *res, const char *ns,
		size_t ns_length, const struct informer_label_selector *selector,
		struct informer_iter *ret_iter)
{
	if (!ns && ns_length)
		return -EINVAL;
	return start(snapshot, res, &(struct iter){.ns = ns, .ns_length = ns_length, .selector = selector},
		     ret_iter);
}
