/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files an ordinal under a value of one index and takes it out again, for index_change.c. An edit may change
 * the form of the leaf under the value's hash. It never changes a block that a root reaches.
 */
#include "writer/store/index_edit.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/collision.h"
#include "shm-layout/object.h"
#include "shm-layout/ordinal.h"
#include "shm-layout/posting.h"
#include "writer/store/collision_edit.h"

/* ---- keys and values of leaves ---- */

static int
object_of(const struct index_edit *ix, uint32_t ordinal, uint32_t *ret_ref)
{
	const struct object *o;

	return ordinal_object(&ix->arena->view, ix->ordinals, ordinal, ret_ref, &o) > 0 ? 0 : -EBADMSG;
}

struct hash_search {
	const uint8_t *hash_key;
	struct trie_way way;
	uint64_t found;
};

static int
hash_fits(const char *data, size_t length, void *context)
{
	struct hash_search *s = context;

	s->found = index_value_hash(s->hash_key, data, length);
	return (s->found & s->way.mask) == s->way.bits;
}

/* The hash under which a leaf stands: of its postings' value, or of its object's value that fits the path. */
static int
key_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
	    uint64_t *ret_key)
{
	const struct index_edit *ix = self->context;
	struct hash_search search = {ix->arena->header->hash_key, way, 0};
	uint32_t link = leaf_link(view, leaf, 0), ref;
	int r;

	if (!link_is_immediate(link)) {
		const struct posting *p = posting_at(view, link);

		if (!p)
			return -EBADMSG;
		*ret_key = index_value_hash(search.hash_key, posting_value(p), p->value_length);
		return 0;
	}
	/* the object is half changed: `own` says which values are filed */
	if (link_value(link) == ix->ordinal) {
		for (size_t i = 0; i < ix->own->count; i++) {
			*ret_key = ix->own->entries[i].hash;
			if (ix->own->entries[i].filed && (*ret_key & way.mask) == way.bits)
				return 0;
		}
		return -EBADMSG;
	}
	r = object_of(ix, link_value(link), &ref);
	if (r < 0)
		return r;
	r = index_def_each_filed(ix->def, value_of_object(view, ref), hash_fits, &search);
	if (r <= 0)
		return -EBADMSG;
	*ret_key = search.found;
	return 0;
}

/* Does this entry (no collision) stand for the filed value? 1 yes, 0 no, -EBADMSG */
static int
entry_has_value(const struct index_edit *ix, uint32_t link, const char *value, size_t length)
{
	uint32_t ref;
	int r;

	if (!link_is_immediate(link)) {
		const struct posting *p = posting_at(&ix->arena->view, link);

		return p ? p->value_length == length && memcmp(posting_value(p), value, length) == 0
			 : -EBADMSG;
	}
	if (link_value(link) == ix->ordinal) {
		for (size_t i = 0; i < ix->own->count; i++)
			if (ix->own->entries[i].length == length &&
			    memcmp(value_set_bytes(ix->own, i), value, length) == 0)
				return ix->own->entries[i].filed;
		return 0;
	}
	r = object_of(ix, link_value(link), &ref);
	return r < 0 ? r
		     : index_def_has_filed(ix->def, value_of_object(&ix->arena->view, ref), value, length);
}

/* Find the entry of a leaf for this value: 1 and its position, 0 none. */
static int
find_entry(const struct index_edit *ix, uint32_t leaf, const char *value, size_t length, uint32_t *ret_i,
	   uint32_t *ret_link)
{
	for (uint32_t i = 0; (*ret_link = leaf_link(&ix->arena->view, leaf, i)) != 0; i++) {
		int r = entry_has_value(ix, *ret_link, value, length);

		if (r != 0) {
			*ret_i = i;
			return r;
		}
	}
	return 0;
}

/* ---- postings ---- */

static uint32_t
posting_length(uint32_t slots, size_t value_length)
{
	return (uint32_t)(sizeof(struct posting) + slots * sizeof(uint32_t) + value_length);
}

static int
new_posting(const struct index_edit *ix, uint32_t count, uint32_t slots, const char *value, size_t length,
	    uint32_t *ret_ref, struct posting **ret)
{
	int r = trie_edit_new_block(ix->edit, BLOCK_POSTINGS, posting_length(slots, length), 0, ret_ref);

	if (r < 0)
		return r;
	*ret = arena_payload(ix->arena, *ret_ref);
	(*ret)->count = count;
	(*ret)->value_length = (uint32_t)length;
	memcpy((*ret)->ordinals + slots, value, length);
	return 0;
}

static int
key_of_ordinal(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf,
	       struct trie_way way, uint64_t *ret_key)
{
	(void)self;
	(void)view;
	(void)way;
	*ret_key = link_value(leaf);
	return link_is_immediate(leaf) ? 0 : -EBADMSG;
}

static const struct trie_keys ordinal_keys = {key_of_ordinal, NULL};

/* Set a trie posting's link and count; in place if the block is fresh. */
static int
set_posting_trie(const struct index_edit *ix, uint32_t link, uint32_t count, uint32_t trie,
		 uint32_t *ret_link)
{
	struct posting *old = arena_payload(ix->arena, link), *p;
	int r;

	if (trie_edit_is_fresh(ix->edit, link)) {
		old->count = count;
		old->ordinals[0] = trie;
		*ret_link = link;
		return 0;
	}
	r = trie_edit_new_block(ix->edit, BLOCK_POSTINGS, posting_length(1, old->value_length), 0, ret_link);
	if (r < 0)
		return r;
	old = arena_payload(ix->arena, link);
	p = arena_payload(ix->arena, *ret_link);
	memcpy(p, old, posting_length(1, old->value_length));
	p->count = count;
	p->ordinals[0] = trie;
	trie_edit_drop_block(ix->edit, link);
	return 0;
}

/* Insert an ordinal into the array, within its block. False: the block is not fresh, or full. */
static bool
grow_array(const struct index_edit *ix, uint32_t link, uint32_t at, uint32_t ordinal)
{
	struct posting *p = arena_payload(ix->arena, link);
	uint32_t length = posting_length(p->count, p->value_length),
		 longer = length + (uint32_t)sizeof(p->ordinals[0]);

	if (!trie_edit_is_fresh(ix->edit, link) || block_footprint(longer) != block_footprint(length))
		return false;
	memmove(p->ordinals + at + 1, p->ordinals + at,
		(p->count - at) * sizeof(p->ordinals[0]) + p->value_length);
	p->ordinals[at] = ordinal;
	p->count++;
	arena_block(ix->arena, link)->type_length = (uint32_t)BLOCK_POSTINGS << 28 | longer;
	return true;
}

/* Add one ordinal to an immediate ordinal or postings. */
static int
entry_add(const struct index_edit *ix, uint32_t link, const char *value, size_t length, uint32_t ordinal,
	  uint32_t *ret_link)
{
	const struct posting *old;
	struct posting *p;
	uint32_t trie = 0, at, ref;
	int r;

	if (link_is_immediate(link)) {
		uint32_t other = link_value(link);

		r = new_posting(ix, 2, 2, value, length, ret_link, &p);
		if (r < 0)
			return r;
		p->ordinals[ordinal > other] = ordinal;
		p->ordinals[ordinal < other] = other;
		return 0;
	}
	old = posting_at(&ix->arena->view, link);
	if (!old)
		return -EBADMSG;
	if (old->count > POSTING_ARRAY_MAX) {
		uint32_t count = old->count, before;

		trie = old->ordinals[0];
		r = trie_put(ix->edit, &trie, ordinal, link_of(ordinal), &ordinal_keys, &before);
		if (r < 0)
			return r;
		return before ? -EBADMSG : set_posting_trie(ix, link, count + 1, trie, ret_link);
	}
	at = old->count; /* mostly the new ordinal is the greatest */
	while (at > 0 && old->ordinals[at - 1] > ordinal)
		at--;
	if (at > 0 && old->ordinals[at - 1] == ordinal)
		return -EBADMSG;
	if (old->count == POSTING_ARRAY_MAX) { /* the array becomes a trie */
		for (uint32_t i = 0; i < old->count; i++) {
			r = trie_put(ix->edit, &trie, old->ordinals[i], link_of(old->ordinals[i]),
				     &ordinal_keys, NULL);
			if (r < 0)
				return r;
		}
		r = trie_put(ix->edit, &trie, ordinal, link_of(ordinal), &ordinal_keys, NULL);
		if (r < 0)
			return r;
		r = new_posting(ix, POSTING_ARRAY_MAX + 1, 1, value, length, ret_link, &p);
		if (r < 0)
			return r;
		p->ordinals[0] = trie;
		trie_edit_drop_block(ix->edit, link);
		return 0;
	}
	if (grow_array(ix, link, at, ordinal)) {
		*ret_link = link;
		return 0;
	}
	r = new_posting(ix, old->count + 1, old->count + 1, value, length, &ref, &p);
	if (r < 0)
		return r;
	old = arena_payload(ix->arena, link);
	memcpy(p->ordinals, old->ordinals, at * sizeof(uint32_t));
	p->ordinals[at] = ordinal;
	memcpy(p->ordinals + at + 1, old->ordinals + at, (old->count - at) * sizeof(uint32_t));
	trie_edit_drop_block(ix->edit, link);
	*ret_link = ref;
	return 0;
}

/*
 * Take one ordinal out; *ret_link is 0 when none is left. Within a collision a single ordinal stays in
 * postings.
 */
static int
entry_remove(const struct index_edit *ix, bool collision, uint32_t link, const char *value, size_t length,
	     uint32_t ordinal, uint32_t *ret_link)
{
	const struct posting *old;
	struct posting *p;
	uint32_t trie, at = 0, ref;
	int r;

	if (link_is_immediate(link)) {
		*ret_link = 0;
		return link_value(link) == ordinal ? 0 : -EBADMSG;
	}
	old = posting_at(&ix->arena->view, link);
	if (!old)
		return -EBADMSG;
	if (old->count > POSTING_ARRAY_MAX) {
		uint32_t count = old->count, n = 0;
		struct trie_iter it;

		trie = old->ordinals[0];
		r = trie_remove(ix->edit, &trie, ordinal, link_of(ordinal));
		if (r < 0)
			return r;
		if (count - 1 > POSTING_ARRAY_MAX)
			return set_posting_trie(ix, link, count - 1, trie, ret_link);
		/* the trie becomes an array */
		r = new_posting(ix, count - 1, count - 1, value, length, ret_link, &p);
		if (r < 0)
			return r;
		for (r = trie_first(&it, &ix->arena->view, trie); r > 0 && n < count - 1; r = trie_next(&it))
			p->ordinals[n++] = link_value(it.leaf);
		trie_retire_all(ix->edit, trie);
		trie_edit_drop_block(ix->edit, link);
		return r < 0 || n != count - 1 ? -EBADMSG : 0;
	}
	while (at < old->count && old->ordinals[at] != ordinal)
		at++;
	if (at == old->count)
		return -EBADMSG;
	if (old->count == 1 || (old->count == 2 && !collision)) {
		*ret_link = old->count == 1 ? 0 : link_of(old->ordinals[!at]);
		trie_edit_drop_block(ix->edit, link);
		return 0;
	}
	r = new_posting(ix, old->count - 1, old->count - 1, value, length, &ref, &p);
	if (r < 0)
		return r;
	old = arena_payload(ix->arena, link);
	memcpy(p->ordinals, old->ordinals, at * sizeof(uint32_t));
	memcpy(p->ordinals + at, old->ordinals + at + 1, (old->count - at - 1) * sizeof(uint32_t));
	trie_edit_drop_block(ix->edit, link);
	*ret_link = ref;
	return 0;
}

/* ---- values that share a hash ---- */

/* Make postings for the ordinal that stands alone under this hash. */
static int
single_posting(const struct index_edit *ix, uint32_t ordinal, const char *value, size_t length,
	       uint32_t *ret_link)
{
	struct posting *p;
	int r = new_posting(ix, 1, 1, value, length, ret_link, &p);

	if (r == 0)
		p->ordinals[0] = ordinal;
	return r;
}

struct posting_maker {
	const struct index_edit *ix;
	uint64_t hash;
	uint32_t ordinal;
	uint32_t link;
};

static int
make_if_hash(const char *data, size_t length, void *context)
{
	struct posting_maker *m = context;
	int r;

	if (index_value_hash(m->ix->arena->header->hash_key, data, length) != m->hash)
		return 0;
	r = single_posting(m->ix, m->ordinal, data, length, &m->link);
	return r < 0 ? r : 1;
}

/*
 * Make a collision of postings: `leaf`, which stands under this hash for another value, and the changing
 * object under `value`.
 */
static int
collide(const struct index_edit *ix, uint32_t leaf, uint64_t hash, const char *value, size_t length,
	uint32_t *ret_leaf)
{
	uint32_t link;
	int r = single_posting(ix, ix->ordinal, value, length, &link);

	if (r == 0 && link_is_immediate(leaf) && link_value(leaf) == ix->ordinal) {
		size_t i = 0;

		while (i < ix->own->count && !(ix->own->entries[i].filed && ix->own->entries[i].hash == hash))
			i++;
		if (i == ix->own->count)
			return -EBADMSG;
		r = single_posting(ix, ix->ordinal, value_set_bytes(ix->own, i), ix->own->entries[i].length,
				   &leaf);
	} else if (r == 0 && link_is_immediate(leaf)) {
		struct posting_maker m = {ix, hash, link_value(leaf), 0};
		uint32_t ref;

		r = object_of(ix, m.ordinal, &ref);
		if (r == 0)
			r = index_def_each_filed(ix->def, value_of_object(&ix->arena->view, ref),
						 make_if_hash, &m);
		if (r == 0)
			r = -EBADMSG;
		leaf = m.link;
	}
	return r < 0 ? r : collision_add(ix->edit, ix->arena, leaf, link, ret_leaf);
}

/* Outside a collision a single ordinal is an immediate one. */
static uint32_t
without_single_posting(const struct index_edit *ix, uint32_t link)
{
	const struct posting *p = link && !link_is_immediate(link) ? posting_at(&ix->arena->view, link)
								   : NULL;
	uint32_t ordinal;

	if (!p || p->count != 1)
		return link;
	ordinal = p->ordinals[0];
	trie_edit_drop_block(ix->edit, link);
	return link_of(ordinal);
}

/* ---- the index ---- */

int
index_file(const struct index_edit *ix, uint32_t *root, size_t n)
{
	struct trie_keys keys = {key_of_leaf, (void *)(uintptr_t)ix};
	struct value_entry *entry = &ix->own->entries[n];
	const char *value = value_set_bytes(ix->own, n);
	uint32_t leaf = 0, link, next, i;
	bool collision;
	int r = trie_insert(ix->edit, root, entry->hash, link_of(ix->ordinal), &keys, &leaf);

	if (r <= 0) {
		entry->filed = r == 0;
		return r;
	}
	collision = leaf_is_collision(&ix->arena->view, leaf);
	r = find_entry(ix, leaf, value, entry->length, &i, &link);
	if (r < 0)
		return r;
	if (r == 0) {
		r = collide(ix, leaf, entry->hash, value, entry->length, &next);
	} else {
		r = entry_add(ix, link, value, entry->length, ix->ordinal, &next);
		if (r == 0 && next == link) { /* grown in place */
			entry->filed = true;
			return 0;
		}
		if (r == 0 && collision)
			r = collision_set(ix->edit, ix->arena, leaf, i, next, &next);
	}
	if (r == 0)
		r = trie_exchange(ix->edit, root, entry->hash, leaf, next);
	entry->filed = r == 0;
	return r;
}

int
index_unfile(const struct index_edit *ix, uint32_t *root, size_t n)
{
	struct trie_keys keys = {key_of_leaf, (void *)(uintptr_t)ix};
	struct value_entry *entry = &ix->own->entries[n];
	const char *value = value_set_bytes(ix->own, n);
	uint32_t leaf = 0, link, next, i;
	bool collision;
	int r = trie_find(ix->edit, *root, entry->hash, &keys, &leaf);

	if (r < 0)
		return r;
	if (r == 0 || find_entry(ix, leaf, value, entry->length, &i, &link) <= 0)
		return -EBADMSG;
	collision = leaf_is_collision(&ix->arena->view, leaf);
	r = entry_remove(ix, collision, link, value, entry->length, ix->ordinal, &next);
	if (r == 0 && next == link) { /* shrunk in place */
		entry->filed = false;
		return 0;
	}
	if (r == 0 && collision) {
		r = collision_set(ix->edit, ix->arena, leaf, i, next, &next);
		if (r == 0)
			next = without_single_posting(ix, next);
	}
	if (r == 0 && next == 0)
		r = trie_remove(ix->edit, root, entry->hash, leaf);
	else if (r == 0)
		r = trie_exchange(ix->edit, root, entry->hash, leaf, next);
	entry->filed = r < 0;
	return r;
}

void
index_retire_all(struct trie_edit *edit, struct arena *arena, uint32_t root)
{
	struct trie_iter it;

	for (int r = trie_first(&it, &arena->view, root); r > 0; r = trie_next(&it)) {
		uint32_t link;

		for (uint32_t i = 0; (link = leaf_link(&arena->view, it.leaf, i)) != 0; i++) {
			const struct posting *p;

			if (link_is_immediate(link))
				continue;
			p = posting_at(&arena->view, link);
			if (!p)
				continue;
			if (p->count > POSTING_ARRAY_MAX)
				trie_retire_all(edit, p->ordinals[0]);
			trie_edit_drop_block(edit, link);
		}
		if (leaf_is_collision(&arena->view, it.leaf))
			trie_edit_drop_block(edit, it.leaf);
	}
	trie_retire_all(edit, root);
}

void
index_edit_need(size_t value_length, struct arena_need *need)
{
	uint64_t path = TRIE_DEPTH_MAX * block_footprint(sizeof(struct trie_node) + 64 * sizeof(uint32_t)),
		 postings = block_footprint(posting_length(POSTING_ARRAY_MAX, value_length));

	/*
	 * a path of the index; a path of the postings' trie, or the array that becomes one; the postings,
	 * which are larger than any node; a collision
	 */
	arena_need_add(need, 2 * path + postings + 4096, postings);
}
