/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a posting list, and walks its ordinals.
 */
#include "shm-layout/posting.h"

#include <errno.h>
#include <string.h>

static uint32_t
slots_of(uint32_t count)
{
	return count <= POSTING_ARRAY_MAX ? count : 1;
}

bool
posting_load(const struct arena_view *view, uint32_t ref, struct posting_list *ret)
{
	uint32_t length;
	const struct block *b = block_load(view, ref, BLOCK_POSTINGS, sizeof(struct posting), &length);
	const struct posting *p;

	if (!b)
		return false;
	p = (const struct posting *)(const void *)b->payload;
	ret->count = LOAD_ONCE(&p->count);
	ret->value_length = LOAD_ONCE(&p->value_length);
	ret->ordinals = p->ordinals;
	ret->value = (const char *)(p->ordinals + slots_of(ret->count));
	return (uint64_t)sizeof(*p) + slots_of(ret->count) * sizeof(p->ordinals[0]) + ret->value_length ==
	       length;
}

const struct posting *
posting_at(const struct arena_view *view, uint32_t ref)
{
	struct posting_list list;

	return posting_load(view, ref, &list)
		       ? (const struct posting *)((const uint8_t *)list.ordinals - sizeof(struct posting))
		       : NULL;
}

const char *
posting_value(const struct posting *p)
{
	return (const char *)(p->ordinals + slots_of(p->count));
}

int
ordinal_first(struct ordinal_iter *it, const struct arena_view *view, uint32_t leaf)
{
	struct posting_list p;
	int r;

	memset(it, 0, offsetof(struct ordinal_iter, trie));
	if (link_is_immediate(leaf)) {
		it->ordinal = link_value(leaf);
		return 1;
	}
	if (!posting_load(view, leaf, &p))
		return -EBADMSG;
	if (p.count <= POSTING_ARRAY_MAX) {
		it->array = p.ordinals;
		it->array_left = p.count;
		return ordinal_next(it);
	}
	it->in_trie = true;
	r = trie_first(&it->trie, view, LOAD_ONCE(&p.ordinals[0]));
	if (r <= 0)
		return r;
	if (!link_is_immediate(it->trie.leaf))
		return -EBADMSG;
	it->ordinal = link_value(it->trie.leaf);
	return 1;
}

int
ordinal_next_in_trie(struct ordinal_iter *it)
{
	int r;

	if (!it->in_trie)
		return 0;
	r = trie_next(&it->trie);
	if (r <= 0)
		return r;
	if (!link_is_immediate(it->trie.leaf))
		return -EBADMSG;
	it->ordinal = link_value(it->trie.leaf);
	return 1;
}
