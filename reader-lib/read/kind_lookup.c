/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/read/kind_lookup.h"

#include <errno.h>
#include <string.h>

#include "reader-lib/read/found_object.h"
#include "reader-lib/read/known_text.h"
#include "reader-lib/read/lookup.h"

static struct known_field group_field = KNOWN_FIELD("group"), version_field = KNOWN_FIELD("version"),
			  kind_field = KNOWN_FIELD("kind"), namespaced_field = KNOWN_FIELD("namespaced");

/* The part of an apiVersion before its '/'; "" for the core group. */
static struct informer_text
group_of(const struct informer_text *api_version)
{
	const char *slash = memchr(api_version->data, '/', api_version->length);

	return (struct informer_text){api_version->data, slash ? (size_t)(slash - api_version->data) : 0};
}

/* at == NULL: there is no such entry, or it is not resolved yet, or damaged. */
static struct value
descriptor_at(const struct snapshot *s, uint32_t position)
{
	const struct resource *r = snapshot_resource(s, position);

	return r ? value_of_block(&s->view, r->descriptor) : (struct value){0};
}

/* ---- where a kind is ---- */

/*
 * A memo of the first entry of each kind. A word has the upper 48 bits of a keyed hash of the question (the
 * kind, and the table of which arena), and in the lower 16 bits the entry's position, or that there is none.
 * Zeroed is empty. Threads share it.
 */
#define MEMOS 32u
#define MEMO_CLUSTER_SCOPED 0x8000u
#define MEMO_NONE 0xffffu
_Static_assert(RESOURCE_MAX < MEMO_CLUSTER_SCOPED, "kind_lookup: a position needs more bits");
static _Atomic uint64_t memos[MEMOS];

#define QUESTION_MAX 256u

/* The hash of the question; 0: it is too long for the memo. */
static uint64_t
hash_of(const struct snapshot *s, const struct informer_text *group, const struct informer_text *kind)
{
	const uint64_t which[] = {s->root->table, s->mapping->serial, s->mapping->generation, kind->length};
	char question[QUESTION_MAX];

	if (sizeof(which) + kind->length + group->length > sizeof(question))
		return 0;
	memcpy(question, which, sizeof(which));
	memcpy(question + sizeof(which), kind->data, kind->length);
	memcpy(question + sizeof(which) + kind->length, group->data, group->length);
	return index_value_hash(s->mapping->hash_key, question, sizeof(which) + kind->length + group->length);
}

/* Search entries from `from` on. Returns the position with its scope, as in the memo. */
static uint32_t
search(const struct snapshot *s, const struct informer_text *group, const struct informer_text *kind,
       uint32_t from)
{
	for (uint32_t i = from; i < s->resource_count; i++) {
		struct value d = descriptor_at(s, i);

		if (d.at && text_same(known_text(d, &kind_field), *kind) &&
		    text_same(known_text(d, &group_field), *group))
			return i | (flag_of(known_field(d, &namespaced_field), true) ? 0
										       : MEMO_CLUSTER_SCOPED);
	}
	return MEMO_NONE;
}

static uint32_t
first_of_kind(const struct snapshot *s, const struct informer_text *group, const struct informer_text *kind)
{
	uint64_t hash = hash_of(s, group, kind), word;
	_Atomic uint64_t *memo = &memos[hash % MEMOS];
	uint32_t first;

	word = atomic_load_explicit(memo, memory_order_relaxed);
	if (hash && word && (word ^ hash) <= MEMO_NONE)
		return (uint32_t)(word & MEMO_NONE);
	first = search(s, group, kind, 0);
	/* What was read from zeros is not remembered. */
	if (hash && snapshot_validate(s, 0) == 0)
		atomic_store_explicit(memo, (hash & ~(uint64_t)MEMO_NONE) | first, memory_order_relaxed);
	return first;
}

int
object_of_kind(const struct snapshot *s, const struct informer_text *api_version,
	       const struct informer_text *kind, const struct informer_text *ns,
	       const struct informer_text *name, struct informer_object *ret_object)
{
	struct informer_text group = group_of(api_version);
	uint32_t at = first_of_kind(s, &group, kind);
	int r = INFORMER_E_NO_RESOURCE;

	while (at != MEMO_NONE) {
		uint32_t position = at & (MEMO_CLUSTER_SCOPED - 1);
		size_t ns_length = at & MEMO_CLUSTER_SCOPED ? 0 : ns->length;

		r = object_at_key(s, position, ns->data, ns_length, name->data, name->length, ret_object);
		if (r != INFORMER_E_NOT_FOUND)
			return r;
		at = search(s, &group, kind, position + 1);
	}
	return r;
}

void
kind_of_object(const struct snapshot *s, const struct informer_object *object, struct object_kind *ret_kind)
{
	struct value d = descriptor_at(s, object->entry_ & OBJECT_POSITION);

	*ret_kind = (struct object_kind){known_text(d, &group_field), known_text(d, &version_field),
					 known_text(d, &kind_field)};
}
