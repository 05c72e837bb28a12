/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of large blocks goes back to the system when they are freed. */
#include "tests/room.h"
#include "writer/base/heap.h"

#define LARGEST ((size_t)16 << 20)
#define LARGE ((size_t)8 << 20)

static size_t
private_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	size_t kib = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %zu", &kib) == 1)
			break;
	fclose(f);
	assert_true(kib > 0);
	return kib << 10;
}

static void *
filled(size_t bytes)
{
	void *p = malloc(bytes);

	assert_non_null(p);
	memset(p, 1, bytes);
	return p;
}

/* A large block below a small one goes back to the system, though a larger block was freed before. */
TEST_CASE(a_large_block_goes_back)
{
	void *large, *small;
	size_t before;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* a sanitizer has its own malloc */
#endif
	heap_give_back_large();
	free(filled(LARGEST));
	large = filled(LARGE);
	small = filled(64 << 10);
	before = private_bytes();
	free(large);
	assert_true(private_bytes() + LARGE / 2 < before);
	free(small);
}
