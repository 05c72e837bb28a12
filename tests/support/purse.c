/* SPDX-License-Identifier: Apache-2.0 */
/* Counts a handle's allocations, and refuses more. */
#include "tests/support/purse.h"

#include "tests/room.h"

void *
purse_allocate(void *purse, size_t size)
{
	struct purse *p = purse;

	if (p->left == 0 && p->fails > 0) {
		p->fails -= p->fails != SIZE_MAX;
		p->failed++;
		return NULL;
	}
	p->left -= p->left > 0 && p->left != SIZE_MAX;
	p->out++;
	return malloc(size);
}

void
purse_release(void *purse, void *memory)
{
	struct purse *p = purse;

	p->out -= memory != NULL;
	free(memory);
}

struct informer *
purse_attach(struct purse *purse, const char *socket_path)
{
	struct informer_options o = {.size = sizeof(o),
				     .socket_path = socket_path,
				     .reader_name = "test",
				     .allocate = purse_allocate,
				     .release = purse_release,
				     .allocator_context = purse};
	struct informer *inf;

	assert_int_equal(informer_attach(&o, &inf), 0);
	return inf;
}
