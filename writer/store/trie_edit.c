/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits the persistent trie: finds the place, copies the path up to the first fresh node, and exchanges one
 * link there.
 *
 * Each edit builds new nodes bottom-up; its last step changes one fresh node or *root. A failure before that
 * frees the new nodes and changes nothing.
 */
#include "writer/store/trie_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define AHEAD 8u
/* Entries of `made` whose memory is kept between commits; only a large list needs more. */
#define KEEP 65536u

struct trie_edit {
	struct arena *arena;
	uint64_t *fresh;	/* bitmap over refs: node made since the last seal */
	uint64_t fresh_bytes;
	uint32_t *made;		/* refs made since the last seal; some were freed again, some stand twice */
	size_t made_count, made_capacity;
};

/* The path from the root to a leaf: which link of which node was taken. */
struct trail {
	unsigned depth;
	struct {
		uint32_t ref;
		unsigned shift;
		unsigned rank;
	} step[TRIE_DEPTH_MAX];
	struct trie_way way;
	uint32_t leaf;		/* 0: the last step's digit was missing, rank is where it belongs */
	bool skipped;		/* some level on the path has no node */
};

/* New nodes of one edit, and those they replace. */
struct change {
	uint32_t made[TRIE_DEPTH_MAX + 1], replaced[TRIE_DEPTH_MAX + 1];
	unsigned made_count, replaced_count;
};

struct trie_edit *
trie_edit_new(struct arena *arena)
{
	struct trie_edit *e = calloc(1, sizeof(*e));
	void *map;

	if (!e)
		return NULL;
	e->arena = arena;
	e->fresh_bytes = (arena->max_bytes / REF_UNIT + 63) / 64 * 8;
	map = mmap(NULL, e->fresh_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (map == MAP_FAILED) {
		free(e);
		return NULL;
	}
	e->fresh = map;
	return e;
}

void
trie_edit_free(struct trie_edit *e)
{
	if (!e)
		return;
	munmap(e->fresh, e->fresh_bytes);
	free(e->made);
	free(e);
}

bool
trie_edit_is_fresh(const struct trie_edit *e, uint32_t ref)
{
	return e->fresh[ref / 64] >> (ref % 64) & 1;
}

static struct trie_node *
node_at(const struct trie_edit *e, uint32_t ref)
{
	return arena_payload(e->arena, ref);
}

static unsigned
node_count(const struct trie_node *node)
{
	return (unsigned)__builtin_popcountll(node->map);
}

static uint32_t
node_length(unsigned count)
{
	return (uint32_t)(sizeof(struct trie_node) + count * sizeof(uint32_t));
}

/* ---- creating and dropping blocks ---- */

int
trie_edit_reserve(struct trie_edit *e, size_t blocks)
{
	size_t wider = e->made_capacity ? e->made_capacity : 256;
	uint32_t *p;

	while (wider < e->made_count + blocks)
		wider *= 2;
	if (wider == e->made_capacity)
		return 0;
	p = realloc(e->made, wider * sizeof(*p));
	if (!p)
		return -ENOMEM;
	e->made = p;
	e->made_capacity = wider;
	return 0;
}

int
trie_edit_new_block(struct trie_edit *e, enum block_type type, uint32_t length, uint32_t aux,
		    uint32_t *ret_ref)
{
	int r = trie_edit_reserve(e, 1);

	if (r < 0)
		return r;
	r = arena_new_block(e->arena, type, length, aux, ret_ref);
	if (r < 0)
		return r;
	e->fresh[*ret_ref / 64] |= 1ull << (*ret_ref % 64);
	e->made[e->made_count++] = *ret_ref;
	return 0;
}

static int
make_node(struct trie_edit *e, struct change *c, unsigned shift, unsigned count, uint32_t *ret_ref)
{
	int r = trie_edit_new_block(e, BLOCK_NODE, node_length(count), shift, ret_ref);

	if (r == 0)
		c->made[c->made_count++] = *ret_ref;
	return r;
}

void
trie_edit_drop_block(struct trie_edit *e, uint32_t ref)
{
	if (trie_edit_is_fresh(e, ref)) {
		e->fresh[ref / 64] &= ~(1ull << (ref % 64));
		arena_free(e->arena, ref);
	} else {
		arena_retire(e->arena, ref);
	}
}

static int
give_up(struct trie_edit *e, const struct change *c, int r)
{
	for (unsigned i = 0; i < c->made_count; i++)
		trie_edit_drop_block(e, c->made[i]);
	return r;
}

static void
drop_replaced(struct trie_edit *e, const struct change *c)
{
	for (unsigned i = 0; i < c->replaced_count; i++)
		trie_edit_drop_block(e, c->replaced[i]);
}

/*
 * Store `link` in the place that trail's first `depth` steps lead to, copying nodes upwards as far as
 * needed.
 */
static int
place_link(struct trie_edit *e, struct change *c, uint32_t *root, const struct trail *t, unsigned depth,
	   uint32_t link)
{
	while (depth > 0) {
		uint32_t ref = t->step[depth - 1].ref, copy;
		const struct trie_node *old;
		struct trie_node *node;
		unsigned count;
		int r;

		if (trie_edit_is_fresh(e, ref)) {
			node_at(e, ref)->links[t->step[depth - 1].rank] = link;
			drop_replaced(e, c);
			return 0;
		}
		count = node_count(node_at(e, ref));
		r = make_node(e, c, t->step[depth - 1].shift, count, &copy);
		if (r < 0)
			return give_up(e, c, r);
		old = node_at(e, ref);
		node = node_at(e, copy);
		memcpy(node, old, node_length(count));
		node->links[t->step[depth - 1].rank] = link;
		c->replaced[c->replaced_count++] = ref;
		link = copy;
		depth--;
	}
	*root = link;
	drop_replaced(e, c);
	return 0;
}

/* ---- finding ---- */

/*
 * Follow key's digits. If one is missing, stop there when `exact`; else follow the first link down to some
 * leaf. `known` is a link that the caller knows to be a leaf: it is not read (0: none).
 */
static int
follow(const struct trie_edit *e, uint32_t root, uint64_t key, bool exact, uint32_t known, struct trail *t)
{
	const struct arena_view *view = &e->arena->view;
	uint32_t link = root;
	unsigned below = TRIE_SHIFT_TOP + 6;

	t->depth = 0;
	t->skipped = false;
	t->way = (struct trie_way){0, 0};
	t->leaf = 0;
	for (;;) {
		const struct block *b = NULL;
		const struct trie_node *node;
		unsigned digit, rank;

		if (link == 0)
			return -EBADMSG;
		if (!link_is_immediate(link) && link != known) {
			b = block_any(view, link);
			if (!b)
				return -EBADMSG;
		}
		if (!b || block_type(b) != BLOCK_NODE) {
			t->leaf = link;
			t->skipped |= below != 0;
			return 0;
		}
		node = trie_node_of(b, below);
		if (!node || node->map == 0)
			return -EBADMSG;
		t->skipped |= b->aux + 6 != below;
		below = b->aux;
		digit = trie_digit(key, below);
		rank = (unsigned)__builtin_popcountll(node->map & ((1ull << digit) - 1));
		t->step[t->depth].ref = link;
		t->step[t->depth].shift = below;
		t->step[t->depth].rank = rank;
		t->depth++;
		if (!(node->map >> digit & 1)) {
			if (exact)
				return 0;
			t->step[t->depth - 1].rank = rank = 0;
			digit = (unsigned)__builtin_ctzll(node->map);
		}
		trie_way_add(&t->way, below, digit);
		link = node->links[rank];
	}
}

/* ---- put ---- */

/* Put leaf as a further link of the node at trail's step `depth - 1`, whose digit for key is missing. */
static int
add_link(struct trie_edit *e, uint32_t *root, const struct trail *t, unsigned depth, uint64_t key,
	 uint32_t leaf)
{
	uint32_t ref = t->step[depth - 1].ref, wider;
	unsigned shift = t->step[depth - 1].shift, digit = trie_digit(key, shift);
	struct trie_node *node = node_at(e, ref), *copy;
	unsigned count = node_count(node);
	unsigned rank = (unsigned)__builtin_popcountll(node->map & ((1ull << digit) - 1));
	struct change c = {0};
	int r;

	if (trie_edit_is_fresh(e, ref) &&
	    block_footprint(node_length(count + 1)) == block_footprint(node_length(count))) {
		struct block *b = arena_block(e->arena, ref);

		memmove(node->links + rank + 1, node->links + rank, (count - rank) * sizeof(node->links[0]));
		node->links[rank] = leaf;
		node->map |= 1ull << digit;
		b->type_length = (uint32_t)BLOCK_NODE << 28 | node_length(count + 1);
		return 0;
	}
	r = make_node(e, &c, shift, count + 1, &wider);
	if (r < 0)
		return r;
	node = node_at(e, ref);
	copy = node_at(e, wider);
	copy->map = node->map | 1ull << digit;
	memcpy(copy->links, node->links, rank * sizeof(node->links[0]));
	copy->links[rank] = leaf;
	memcpy(copy->links + rank + 1, node->links + rank, (count - rank) * sizeof(node->links[0]));
	c.replaced[c.replaced_count++] = ref;
	return place_link(e, &c, root, t, depth - 1, wider);
}

/* Put a new node of two links, old_link (of key `other`) and leaf, where t's first `depth` steps lead. */
static int
add_fork(struct trie_edit *e, uint32_t *root, const struct trail *t, unsigned depth, unsigned shift,
	 uint64_t other, uint32_t old_link, uint64_t key, uint32_t leaf)
{
	unsigned digit = trie_digit(key, shift), other_digit = trie_digit(other, shift);
	struct change c = {0};
	struct trie_node *node;
	uint32_t ref;
	int r = make_node(e, &c, shift, 2, &ref);

	if (r < 0)
		return r;
	node = node_at(e, ref);
	node->map = 1ull << digit | 1ull << other_digit;
	node->links[digit > other_digit] = leaf;
	node->links[digit < other_digit] = old_link;
	return place_link(e, &c, root, t, depth, ref);
}

static int
put(struct trie_edit *e, uint32_t *root, uint64_t key, uint32_t leaf, const struct trie_keys *keys,
    bool exchange, uint32_t *ret_old)
{
	struct change c = {0};
	struct trail t;
	uint64_t other;
	unsigned differ, depth;
	int r;

	*ret_old = 0;
	if (*root == 0) {
		*root = leaf;
		return 0;
	}
	r = follow(e, *root, key, true, 0, &t);
	if (r < 0)
		return r;
	/* every level has a node: the missing digit is the only difference */
	if (t.leaf == 0 && !t.skipped)
		return add_link(e, root, &t, t.depth, key, leaf);
	if (t.leaf == 0) {
		r = follow(e, *root, key, false, 0, &t);
		if (r < 0)
			return r;
	}
	r = keys->key_of(keys, &e->arena->view, t.leaf, t.way, &other);
	if (r < 0)
		return r;
	if (other == key) {
		*ret_old = t.leaf;
		return exchange ? place_link(e, &c, root, &t, t.depth, leaf) : 1;
	}
	differ = TRIE_SHIFT_TOP;
	while (key >> differ == other >> differ)
		differ -= 6;
	depth = 0;
	while (depth < t.depth && t.step[depth].shift > differ)
		depth++;
	if (depth < t.depth && t.step[depth].shift == differ)
		return add_link(e, root, &t, depth + 1, key, leaf);
	return add_fork(e, root, &t, depth, differ, other, depth < t.depth ? t.step[depth].ref : t.leaf, key,
			leaf);
}

int
trie_find(struct trie_edit *e, uint32_t root, uint64_t key, const struct trie_keys *keys, uint32_t *ret_leaf)
{
	struct trail t;
	uint64_t other;
	int r;

	if (root == 0)
		return 0;
	r = follow(e, root, key, true, 0, &t);
	if (r < 0 || t.leaf == 0)
		return r;
	r = keys->key_of(keys, &e->arena->view, t.leaf, t.way, &other);
	if (r < 0 || other != key)
		return r;
	*ret_leaf = t.leaf;
	return 1;
}

int
trie_put(struct trie_edit *e, uint32_t *root, uint64_t key, uint32_t leaf, const struct trie_keys *keys,
	 uint32_t *ret_old)
{
	uint32_t old;

	return put(e, root, key, leaf, keys, true, ret_old ? ret_old : &old);
}

int
trie_insert(struct trie_edit *e, uint32_t *root, uint64_t key, uint32_t leaf, const struct trie_keys *keys,
	    uint32_t *ret_known)
{
	return put(e, root, key, leaf, keys, false, ret_known);
}

int
trie_exchange(struct trie_edit *e, uint32_t *root, uint64_t key, uint32_t old_leaf, uint32_t leaf)
{
	struct change c = {0};
	struct trail t;
	int r = follow(e, *root, key, true, old_leaf, &t);

	if (r < 0)
		return r;
	return t.leaf == old_leaf ? place_link(e, &c, root, &t, t.depth, leaf) : -EBADMSG;
}

/* ---- remove ---- */

int
trie_remove(struct trie_edit *e, uint32_t *root, uint64_t key, uint32_t leaf)
{
	struct change c = {0};
	struct trail t;
	const struct trie_node *node;
	struct trie_node *copy;
	unsigned count, rank, shift, digit;
	uint32_t ref, narrower;
	int r = follow(e, *root, key, true, leaf, &t);

	if (r < 0)
		return r;
	if (t.leaf != leaf)
		return -EBADMSG;
	if (t.depth == 0) {
		*root = 0;
		return 0;
	}
	ref = t.step[t.depth - 1].ref;
	rank = t.step[t.depth - 1].rank;
	shift = t.step[t.depth - 1].shift;
	digit = trie_digit(key, shift);
	node = node_at(e, ref);
	count = node_count(node);
	if (count <= 2) { /* a node of one link is not needed: the link takes its place */
		uint32_t remaining = node->links[!rank];

		c.replaced[c.replaced_count++] = ref;
		return place_link(e, &c, root, &t, t.depth - 1, remaining);
	}
	if (trie_edit_is_fresh(e, ref)) {
		copy = node_at(e, ref);
		memmove(copy->links + rank, copy->links + rank + 1,
			(count - rank - 1) * sizeof(copy->links[0]));
		copy->map &= ~(1ull << digit);
		arena_trim_block(e->arena, ref, node_length(count - 1));
		return 0;
	}
	r = make_node(e, &c, shift, count - 1, &narrower);
	if (r < 0)
		return r;
	node = node_at(e, ref);
	copy = node_at(e, narrower);
	copy->map = node->map & ~(1ull << digit);
	memcpy(copy->links, node->links, rank * sizeof(node->links[0]));
	memcpy(copy->links + rank, node->links + rank + 1, (count - rank - 1) * sizeof(node->links[0]));
	c.replaced[c.replaced_count++] = ref;
	return place_link(e, &c, root, &t, t.depth - 1, narrower);
}

/* ---- the whole trie ---- */

void
trie_edit_seal(struct trie_edit *e)
{
	for (size_t i = 0; i < e->made_count; i++) {
		uint32_t ref = e->made[i];

		/* the blocks have left the caches: prefetch some */
		if (i + AHEAD < e->made_count)
			__builtin_prefetch(arena_block(e->arena, e->made[i + AHEAD]));
		if (!trie_edit_is_fresh(e, ref))
			continue;
		arena_seal(e->arena, ref);
		e->fresh[ref / 64] &= ~(1ull << (ref % 64));
	}
	e->made_count = 0;
	if (e->made_capacity > KEEP) {
		free(e->made);
		e->made = NULL;
		e->made_capacity = 0;
	}
}

void
trie_retire_all(struct trie_edit *e, uint32_t root)
{
	const struct block *b;
	const struct trie_node *node;

	if (root == 0 || link_is_immediate(root))
		return;
	b = block_any(&e->arena->view, root);
	node = b ? trie_node_of(b, TRIE_SHIFT_TOP + 6) : NULL;
	if (!node)
		return; /* a leaf */
	for (unsigned i = 0; i < node_count(node); i++)
		trie_retire_all(e, node->links[i]);
	trie_edit_drop_block(e, root);
}
