/*
 * The root and its resources, looked at with all bounds checked.
 */
#include "shm-layout/root.h"

const struct root *
root_at(const struct arena_view *view, uint64_t offset)
{
	const struct block *b;
	const struct root *root;

	if (offset % REF_UNIT != 0 || offset / REF_UNIT > REF_MAX)
		return NULL;
	b = block_at(view, (uint32_t)(offset / REF_UNIT), BLOCK_ROOT, sizeof(struct root));
	if (!b)
		return NULL;
	root = (const struct root *)(const void *)b->payload;
	if (root->resource_count > RESOURCE_MAX ||
	    block_length(b) < sizeof(*root) + root->resource_count * sizeof(root->resources[0]))
		return NULL;
	return root;
}

const struct resource *
root_resource(const struct arena_view *view, const struct root *root, uint32_t i)
{
	const struct block *b;
	const struct resource *r;

	if (i >= root->resource_count)
		return NULL;
	b = block_at(view, root->resources[i], BLOCK_RESOURCE, sizeof(struct resource));
	if (!b)
		return NULL;
	r = (const struct resource *)(const void *)b->payload;
	if (r->version_length > RESOURCE_VERSION_MAX ||
	    r->index_count > (block_length(b) - sizeof(*r)) / sizeof(r->indexes[0]))
		return NULL;
	return r;
}
