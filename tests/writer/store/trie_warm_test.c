/* SPDX-License-Identifier: Apache-2.0 */
/* Walks side by side end where a lookup ends, and are harmless in a damaged trie. */
#include "tests/room.h"
#include "tests/support/arena_fixture.h"
#include "writer/arena/arena.h"
#include "writer/store/trie_edit.h"
#include "writer/store/trie_warm.h"

#define LEAVES 20000u

struct world {
	struct arena arena;
	struct trie_edit *edit;
	uint32_t root;
};

/* Keys spread over all bits; leaf i stands for i. */
static uint64_t
key_of(uint32_t i)
{
	uint64_t x = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;

	return x ^ x >> 29;
}

static int
key_of_leaf(const struct trie_keys *self, const struct arena_view *view, uint32_t leaf, struct trie_way way,
	    uint64_t *ret_key)
{
	(void)self;
	(void)view;
	(void)way;
	*ret_key = key_of(link_value(leaf));
	return 0;
}

static int
set_up(void **state)
{
	static const struct trie_keys keys = {key_of_leaf, NULL};
	struct world *w = calloc(1, sizeof(*w));

	if (!w || arena_fixture_make(&w->arena, 64u << 20) < 0)
		return -1;
	w->edit = trie_edit_new(&w->arena);
	for (uint32_t i = 0; i < LEAVES; i++)
		assert_int_equal(trie_put(w->edit, &w->root, key_of(i), link_of(i), &keys, NULL), 0);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	trie_edit_free(w->edit);
	arena_close(&w->arena);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* As many walks as possible, of known and unknown keys, end where trie_get() ends. */
TEST(walks_end_where_lookups_end)
{
	for (uint32_t first = 0; first < 2 * LEAVES; first += 997) {
		struct trie_walk walks[TRIE_WARM_MAX];

		for (uint32_t i = 0; i < TRIE_WARM_MAX; i++)
			walks[i] = (struct trie_walk){key_of(first + i), w->root};
		trie_warm(&w->arena.view, walks, TRIE_WARM_MAX);
		for (uint32_t i = 0; i < TRIE_WARM_MAX; i++) {
			uint32_t leaf = 0;

			if (trie_get(&w->arena.view, w->root, key_of(first + i), &leaf) <= 0)
				leaf = 0;
			assert_int_equal(walks[i].link, leaf);
			assert_true(first + i >= LEAVES || leaf == link_of(first + i));
		}
	}
}

/* No trie, a trie of one leaf, and no walk at all. */
TEST(a_trie_without_nodes_has_nothing_to_walk)
{
	struct trie_walk walks[2] = {{7, 0}, {7, link_of(9)}};

	trie_warm(&w->arena.view, walks, 2);
	assert_int_equal(walks[0].link, 0);
	assert_int_equal(walks[1].link, link_of(9));
	trie_warm(&w->arena.view, walks, 0);
}

/* A node that leads to itself, or beyond the arena's end, ends the walk. */
TEST(a_damaged_trie_ends_the_walk)
{
	struct trie_node *node = arena_payload(&w->arena, w->root);
	unsigned count = (unsigned)__builtin_popcountll(node->map);
	struct trie_walk walks[16];

	for (unsigned i = 0; i < count; i++)
		node->links[i] = i % 2 ? w->root : REF_MAX;
	for (uint32_t i = 0; i < 16; i++)
		walks[i] = (struct trie_walk){key_of(i), w->root};
	trie_warm(&w->arena.view, walks, 16);
	for (uint32_t i = 0; i < 16; i++)
		assert_true(walks[i].link == w->root || walks[i].link == REF_MAX || walks[i].link == 0);
}
