/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks everything that a root reaches, for verification and for the writer's books. One function for each
 * kind of block checks the block before it goes on. Blocks may turn to zeros meanwhile (a verifying reader's
 * snapshot is revoked), so the walk uses the lengths that it checked.
 */
#include "shm-layout/walk.h"

#include <errno.h>
#include <sys/mman.h>

#include "shm-layout/collision.h"
#include "shm-layout/consumer.h"
#include "shm-layout/object.h"
#include "shm-layout/posting.h"
#include "shm-layout/root.h"
#include "shm-layout/tombstone.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/trie.h"
#include "shm-layout/value.h"

struct walk {
	const struct arena_view *view;
	const struct walk_visitor *visitor;
	struct walk_damage *damage;
	unsigned depth;		/* of shared values */
	uint32_t holder;        /* the block in which the references of a value stand */
};

static int
damaged(struct walk *w, uint32_t ref, const char *why)
{
	w->damage->ref = ref;
	w->damage->why = why;
	return -EBADMSG;
}

/*
 * Load a block, check its bounds and type, and show it to the visitor.
 *
 * holder      the block that refers to it, here and below
 * ret_length  of its payload, as checked
 */
static int
enter(struct walk *w, uint32_t holder, uint32_t ref, enum block_type type, const struct block **ret,
      uint32_t *ret_length)
{
	uint32_t type_length;
	const struct block *b = block_any_load(w->view, ref, &type_length);

	if (!b)
		return damaged(w, holder, "it refers to a place outside the arena");
	if (type_length >> 28 != (uint32_t)type)
		return damaged(w, holder, "it refers to a block of another type than belongs there");
	*ret = b;
	*ret_length = type_length & BLOCK_LENGTH_MAX;
	return w->visitor->block(w->visitor->context, ref, b);
}

/* The type of the block at ref; 0: there is none. */
static unsigned
type_at(const struct walk *w, uint32_t ref)
{
	uint32_t type_length;

	return block_any_load(w->view, ref, &type_length) ? type_length >> 28 : 0;
}

/* ---- values ---- */

static int walk_value_block(struct walk *w, uint32_t holder, uint32_t ref);

static int
walk_shape(struct walk *w, uint32_t holder, uint32_t ref)
{
	const struct block *b;
	uint32_t count = 0, length;
	const uint32_t *names;
	int r = enter(w, holder, ref, BLOCK_SHAPE, &b, &length);

	if (r <= 0)
		return r;
	if (!value_shape(w->view, ref, &names, &count) || count == 0)
		return damaged(w, ref, "a shape whose length does not fit its count");
	for (uint32_t i = 0; i < count && r >= 0; i++)
		r = walk_value_block(w, ref, LOAD_ONCE(&names[i]));
	return r < 0 ? r : 0;
}

/* A ref within a value is a shared value or a shape. */
static int
walk_value_ref(uint32_t ref, void *context)
{
	struct walk *w = context;

	return type_at(w, ref) == BLOCK_SHAPE ? walk_shape(w, w->holder, ref)
					      : walk_value_block(w, w->holder, ref);
}

static int
walk_value_bytes(struct walk *w, uint32_t ref, const uint8_t *at, const uint8_t *end)
{
	uint32_t holder = w->holder;
	int r;

	if (w->depth > VALUE_DEPTH_MAX)
		return damaged(w, ref, "values nested too deep");
	w->depth++;
	w->holder = ref;
	w->damage->ref = 0;
	r = value_each_ref(at, end, walk_value_ref, w);
	w->depth--;
	w->holder = holder;
	if (r == -EBADMSG && w->damage->ref == 0)
		return damaged(w, ref, "a value that is not well-formed");
	return r;
}

static int
walk_value_block(struct walk *w, uint32_t holder, uint32_t ref)
{
	const struct block *b;
	uint32_t length;
	int r = enter(w, holder, ref, BLOCK_VALUE, &b, &length);

	if (r <= 0)
		return r;
	return walk_value_bytes(w, ref, b->payload, b->payload + length);
}

static int
walk_object(struct walk *w, uint32_t holder, uint32_t ref)
{
	const struct block *b;
	struct object_extent extent;
	uint32_t length;
	int r = enter(w, holder, ref, BLOCK_OBJECT, &b, &length);

	if (r <= 0)
		return r;
	if (!object_load(w->view, ref, &extent))
		return damaged(w, ref, "an object whose lengths do not fit its block");
	return walk_value_bytes(w, ref, b->payload + extent.body_offset, b->payload + extent.length);
}

static int
walk_tombstone(struct walk *w, uint32_t holder, uint32_t ref)
{
	const struct block *b;
	const struct tombstone *t;
	uint32_t length;
	int r = enter(w, holder, ref, BLOCK_TOMBSTONE, &b, &length);

	if (r <= 0)
		return r;
	t = tombstone_at(w->view, ref);
	if (!t)
		return damaged(w, ref, "a tombstone of another length");
	r = walk_object(w, ref, LOAD_ONCE(&t->object));
	return r < 0 ? r : 0;
}

/* ---- tries ---- */

/* LEAF_CHANGE: a leaf of by-seq, an ordinal or a tombstone. */
enum leaf_kind { LEAF_ORDINAL, LEAF_OBJECT, LEAF_POSTINGS, LEAF_CHANGE, LEAF_TOMBSTONE };

static int walk_trie(struct walk *w, uint32_t holder, uint32_t link, unsigned below, enum leaf_kind kind);

static int
walk_postings(struct walk *w, uint32_t holder, uint32_t ref)
{
	const struct block *b;
	struct posting_list p;
	uint32_t length;
	int r = enter(w, holder, ref, BLOCK_POSTINGS, &b, &length);

	if (r <= 0)
		return r;
	if (!posting_load(w->view, ref, &p) || p.count == 0)
		return damaged(w, ref, "postings whose length does not fit their count");
	if (p.count <= POSTING_ARRAY_MAX)
		return 0;
	return walk_trie(w, ref, LOAD_ONCE(&p.ordinals[0]), TRIE_SHIFT_TOP + 6, LEAF_ORDINAL);
}

static int
walk_leaf(struct walk *w, uint32_t holder, uint32_t link, enum leaf_kind kind)
{
	if (link_is_immediate(link))
		return kind == LEAF_OBJECT || kind == LEAF_TOMBSTONE
			       ? damaged(w, holder, "an ordinal where a block belongs")
			       : 0;
	switch (kind) {
	case LEAF_OBJECT:
		return walk_object(w, holder, link);
	case LEAF_POSTINGS:
		return walk_postings(w, holder, link);
	case LEAF_CHANGE:
	case LEAF_TOMBSTONE:
		return walk_tombstone(w, holder, link);
	case LEAF_ORDINAL:
		break;
	}
	return damaged(w, holder, "a block where an ordinal belongs");
}

static int
walk_collision(struct walk *w, uint32_t holder, uint32_t ref, enum leaf_kind kind)
{
	const struct block *b;
	uint32_t count, length;
	int r = enter(w, holder, ref, BLOCK_COLLISION, &b, &length);

	if (r <= 0)
		return r;
	count = length / (uint32_t)sizeof(uint32_t);
	if (count < 2 || length % sizeof(uint32_t) != 0)
		return damaged(w, ref, "a collision of less than two entries");
	for (uint32_t i = 0; i < count && r >= 0; i++)
		r = walk_leaf(w, ref, LOAD_ONCE(&((const uint32_t *)(const void *)b->payload)[i]), kind);
	return r < 0 ? r : 0;
}

static int
walk_trie(struct walk *w, uint32_t holder, uint32_t link, unsigned below, enum leaf_kind kind)
{
	const struct block *b = NULL;
	struct trie_level level;
	uint32_t length;
	unsigned count, type;
	int r;

	if (link == 0)
		return below > TRIE_SHIFT_TOP ? 0 : damaged(w, holder, "an empty link");
	if (link_is_immediate(link))
		return walk_leaf(w, holder, link, kind);
	type = type_at(w, link);
	if (type == BLOCK_COLLISION && kind != LEAF_OBJECT && kind != LEAF_CHANGE)
		return walk_collision(w, holder, link, kind);
	if (type != 0 && type != BLOCK_NODE)
		return walk_leaf(w, holder, link, kind);
	r = enter(w, holder, link, BLOCK_NODE, &b, &length);
	if (r <= 0)
		return r;
	if (!trie_level_of(b, (uint32_t)BLOCK_NODE << 28 | length, below, &level) ||
	    (level.map & (level.map - 1)) == 0)
		return damaged(w, link, "a trie node that is not well-formed");
	count = (unsigned)__builtin_popcountll(level.map);
	for (unsigned i = 0; i < count && r >= 0; i++)
		r = walk_trie(w, link, LOAD_ONCE(&level.links[i]), level.shift, kind);
	return r < 0 ? r : 0;
}

/* ---- root and resources ---- */

/* A table of hints. Its cells are not followed: they count only where the tries agree. */
static int
walk_shortcut(struct walk *w, uint32_t holder, uint32_t ref, enum shortcut_kind kind)
{
	const struct block *b;
	uint32_t cells, length;
	int r;

	if (ref == 0)
		return 0;
	r = enter(w, holder, ref, BLOCK_SHORTCUT, &b, &length);
	if (r < 0)
		return r;
	return shortcut_cells(w->view, ref, kind, &cells)
		       ? 0
		       : damaged(w, ref, "a shortcut whose lengths do not fit its block");
}

static int
walk_resource(struct walk *w, uint32_t holder, uint32_t ref)
{
	const struct block *b;
	const struct resource *res;
	uint32_t link, length;
	int r = enter(w, holder, ref, BLOCK_RESOURCE, &b, &length);

	if (r <= 0)
		return r;
	res = (const struct resource *)(const void *)b->payload;
	if (length < sizeof(*res) || res->version_length > RESOURCE_VERSION_MAX ||
	    (length - sizeof(*res)) / sizeof(res->indexes[0]) < res->index_count)
		return damaged(w, ref, "a resource whose lengths do not fit its block");
	r = walk_value_block(w, ref, res->descriptor);
	if (r >= 0 && res->status)
		r = walk_value_block(w, ref, res->status);
	/* objects first: the other tries lead to them, and they lie in the order of their ordinals */
	if (r >= 0)
		r = walk_trie(w, ref, res->ordinals, TRIE_SHIFT_TOP + 6, LEAF_OBJECT);
	if (r >= 0)
		r = walk_trie(w, ref, res->identity, TRIE_SHIFT_TOP + 6, LEAF_ORDINAL);
	if (r >= 0)
		r = walk_trie(w, ref, res->by_seq, TRIE_SHIFT_TOP + 6, LEAF_CHANGE);
	if (r >= 0)
		r = walk_trie(w, ref, res->deleted, TRIE_SHIFT_TOP + 6, LEAF_TOMBSTONE);
	for (uint32_t i = 0; r >= 0 && resource_index(w->view, res, i, &link); i++)
		r = walk_trie(w, ref, link, TRIE_SHIFT_TOP + 6, LEAF_POSTINGS);
	if (r >= 0)
		r = walk_shortcut(w, ref, res->by_key, SHORTCUT_BY_KEY);
	if (r >= 0)
		r = walk_shortcut(w, ref, res->by_ordinal, SHORTCUT_BY_ORDINAL);
	return r < 0 ? r : 0;
}

static int
walk_consumers(struct walk *w, uint32_t holder, uint32_t ref)
{
	const struct block *b;
	uint32_t length;
	int r = enter(w, holder, ref, BLOCK_CONSUMERS, &b, &length);

	if (r <= 0)
		return r;
	return length % sizeof(struct consumer) == 0
		       ? 0
		       : damaged(w, ref, "named consumers that end within a record");
}

int
walk_root(const struct arena_view *view, uint64_t root_offset, const struct walk_visitor *visitor,
	  struct walk_damage *ret_damage)
{
	struct walk w = {.view = view, .visitor = visitor, .damage = ret_damage};
	uint32_t ref = (uint32_t)(root_offset / REF_UNIT), count = 0;
	const struct root *root = root_load(view, root_offset, &count);
	int r;

	ret_damage->ref = 0;
	ret_damage->why = NULL;
	if (!root)
		return damaged(&w, ref, "no root where the header points");
	r = visitor->block(visitor->context, ref, block_any(view, ref));
	if (r >= 0 && root->consumers)
		r = walk_consumers(&w, ref, root->consumers);
	for (uint32_t i = 0; i < count && r >= 0; i++) {
		uint32_t resource = LOAD_ONCE(&root->resources[i]);

		if (resource || i + 1 < count)
			r = walk_resource(&w, ref, resource);
	}
	return r < 0 ? r : 0;
}

/* ---- what was seen ---- */

int
walk_seen_init(struct walk_seen *seen, uint64_t arena_bytes)
{
	void *p;

	seen->bytes = (arena_bytes / REF_UNIT + 63) / 64 * 8 + 8;
	p = mmap(NULL, seen->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	seen->bits = p;
	return 0;
}

void
walk_seen_done(struct walk_seen *seen)
{
	if (seen->bits)
		munmap(seen->bits, seen->bytes);
	seen->bits = NULL;
}
