/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postings: the checked look at one, and walking its ordinals.
 */
#include "shm-layout/posting.h"

#include <errno.h>
#include <string.h>

static uint32_t
slots_of(const struct posting *p)
{
	return p->count <= POSTING_ARRAY_MAX ? p->count : 1;
}

const struct posting *
posting_at(const struct arena_view *view, uint32_t ref)
{
	const struct block *b = block_at(view, ref, BLOCK_POSTINGS, sizeof(struct posting));
	const struct posting *p;

	if (!b)
		return NULL;
	p = (const struct posting *)(const void *)b->payload;
	if ((uint64_t)sizeof(*p) + slots_of(p) * sizeof(p->ordinals[0]) + p->value_length != block_length(b))
		return NULL;
	return p;
}

const char *
posting_value(const struct posting *p)
{
	return (const char *)(p->ordinals + slots_of(p));
}

int
ordinal_first(struct ordinal_iter *it, const struct arena_view *view, uint32_t leaf)
{
	const struct posting *p;
	int r;

	memset(it, 0, offsetof(struct ordinal_iter, trie));
	if (link_is_immediate(leaf)) {
		it->ordinal = link_value(leaf);
		return 1;
	}
	p = posting_at(view, leaf);
	if (!p)
		return -EBADMSG;
	if (p->count <= POSTING_ARRAY_MAX) {
		it->array = p->ordinals;
		it->array_left = p->count;
		return ordinal_next(it);
	}
	it->in_trie = true;
	r = trie_first(&it->trie, view, p->ordinals[0]);
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
