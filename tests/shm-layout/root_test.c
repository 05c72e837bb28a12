/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roots and resources that change while they are read: a reader touches only what it checked. The arena ends
 * at a page without access.
 */
#include "shm-layout/root.h"
#include "tests/room.h"

#define PAGE ((size_t)4096)
#define RESOURCE_AT (PAGE - 512)
#define ROOT_AT (PAGE - 128)		/* a root with four resources ends where the page ends */

struct world {
	uint8_t *base;
	struct arena_view view;
	struct block *root_block, *resource_block;
	struct root *root;
	struct resource *resource;
};

static struct block *
block_put(struct world *w, size_t offset, enum block_type type, size_t length)
{
	struct block *b = (struct block *)(void *)(w->base + offset);

	b->type_length = (uint32_t)type << 28 | (uint32_t)length;
	return b;
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->base = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(w->base, MAP_FAILED);
	assert_int_equal(mprotect(w->base + PAGE, PAGE, PROT_NONE), 0);
	w->view = (struct arena_view){.base = w->base, .committed = PAGE};
	w->root_block = block_put(w, ROOT_AT, BLOCK_ROOT, sizeof(struct root) + 4 * sizeof(uint32_t));
	w->root = (struct root *)(void *)w->root_block->payload;
	w->root->resource_count = 4;
	w->root->resources[0] = RESOURCE_AT / REF_UNIT;
	w->resource_block =
		block_put(w, RESOURCE_AT, BLOCK_RESOURCE, sizeof(struct resource) + 2 * sizeof(uint32_t));
	w->resource = (struct resource *)(void *)w->resource_block->payload;
	w->resource->index_count = 2;
	w->resource->indexes[1] = 77;
	w->resource->version_length = 3;
	memcpy(w->resource->version, "123", 3);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	munmap(w->base, 2 * PAGE);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

TEST(a_root_keeps_the_count_that_was_checked)
{
	const struct root *root;
	uint32_t count = 0;

	root = root_load(&w->view, ROOT_AT, &count);
	assert_ptr_equal(root, w->root);
	assert_int_equal(count, 4);
	w->root->resource_count = UINT32_MAX;
	assert_ptr_equal(root_resource_of(&w->view, root, count, 0), w->resource);
	assert_null(root_resource_of(&w->view, root, count, 4));
	assert_null(root_resource_of(&w->view, root, count, UINT32_MAX));
}

/* A root is refused if it has too many resources for its block or the limit, or ends outside. */
TEST(a_root_that_claims_too_much_is_none)
{
	uint32_t count;

	w->root->resource_count = 5;
	assert_null(root_load(&w->view, ROOT_AT, &count));
	w->root->resource_count = RESOURCE_MAX + 1;
	assert_null(root_load(&w->view, ROOT_AT, &count));
	w->root->resource_count = 5;
	w->root_block->type_length += 4;
	assert_null(root_load(&w->view, ROOT_AT, &count));
	w->root_block->type_length = (uint32_t)BLOCK_RESOURCE << 28 | sizeof(struct root);
	assert_null(root_load(&w->view, ROOT_AT, &count));
	assert_null(root_load(&w->view, ROOT_AT + 8, &count));
}

/* Index links lie in the arena, whatever count a resource claims. Links beyond that count are not used. */
TEST(an_index_beyond_the_arena_is_none)
{
	const struct resource *r = root_resource_of(&w->view, w->root, 4, 0);
	uint32_t link = 0;

	assert_true(resource_index(&w->view, r, 1, &link));
	assert_int_equal(link, 77);
	assert_false(resource_index(&w->view, r, 2, &link));
	w->resource->index_count = UINT32_MAX;
	assert_true(resource_index(&w->view, r, 2, &link));
	assert_false(resource_index(&w->view, r, PAGE, &link));
	assert_false(resource_index(&w->view, r, UINT32_MAX - 1, &link));
	for (uint32_t i = 0; i < PAGE / sizeof(uint32_t); i++)
		resource_index(&w->view, r, i, &link);
}

/* A version is cut at the size of its field. */
TEST(a_version_fits_its_room)
{
	const struct resource *r = root_resource_of(&w->view, w->root, 4, 0);
	size_t length;

	assert_memory_equal(resource_version(r, &length), "123", 3);
	assert_int_equal(length, 3);
	w->resource->version_length = RESOURCE_VERSION_MAX + 1;
	resource_version(r, &length);
	assert_int_equal(length, 0);
	assert_null(root_resource_of(&w->view, w->root, 4, 0));
}
