/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A damaged arena: verification finds the damage, and an invalid header is refused. (flipped_bits_test.c and
 * revoked_arena_test.c test that readers survive any bytes.)
 *
 * Each test damages the writer's own memory, which the reader has mapped too.
 */
#include "tests/room.h"
#include "tests/support/reader_world.h"

static const char pod[] = "{\"metadata\":{\"name\":\"web-%d\",\"namespace\":\"ns-%d\",\"uid\":\"u-%d\","
			  "\"labels\":{\"app\":\"web\"},\"annotations\":{\"users\":\"ernie,bert\","
			  "\"long\":\"0123456789012345678901234567890123456789012345678901234567890123456789"
			  "\"}},\"spec\":{\"nodeName\":\"n1\",\"priority\":1.5,"
			  "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},"
			  "\"status\":{\"phase\":\"Running\",\"podIPs\":[{\"ip\":\"10.0.0.%d\"}]}}";

static int
set_up(void **state)
{
	struct broker_fixture *fx = broker_fixture_new();
	char text[1024];

	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), pod, i, i % 3, i, i);
		broker_fixture_put(fx, (const char *const[]){text, NULL});
	}
	broker_fixture_start(fx);
	*state = fx;
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct broker_fixture *fx, set_up, broker_fixture_tear_down, name)

/* Verify a whole new snapshot; returns the result. */
static int
verify(struct informer *inf)
{
	struct informer_snapshot snap;
	int r = informer_begin(inf, &snap);

	if (r < 0)
		return r;
	r = informer_verify(&snap, NULL, NULL, NULL);
	informer_end(&snap);
	return r;
}

/* Every reachable block is damaged in turn, in its header, at both ends and in the middle. */
TEST(damage_anywhere_is_found_by_verification)
{
	static uint32_t refs[4096];
	struct arena *arena = fx->store->arena;
	struct informer *inf = broker_fixture_attach(fx, INFORMER_VERIFY);
	unsigned count = store_fixture_blocks(fx->store, refs, 4096);

	assert_true(count > 50);
	assert_int_equal(verify(inf), 0);
	for (unsigned i = 0; i < count; i++) {
		struct block *b = arena_block(arena, refs[i]);
		size_t bytes = sizeof(*b) + tag_covered(b); /* the cells of shortcuts are hints */
		/* some bytes of each block: header, ends, and one that moves */
		size_t at[] = {0, 9, 11, 13, 16, bytes - 1, 16 + (i * (size_t)31) % (bytes - 16)};

		for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
			uint8_t *byte = (uint8_t *)b + at[k];
			int r;

			*byte ^= (uint8_t)(1u << (i + k) % 8);
			r = verify(inf);
			if (r != INFORMER_E_CORRUPT)
				fail_msg("block %u (type %u), byte %zu of %zu: %s", refs[i],
					 (unsigned)block_type(b), at[k], bytes, informer_error_name(r));
			*byte ^= (uint8_t)(1u << (i + k) % 8);
		}
	}
	/* a handle that met damage no longer trusts this arena; another handle finds nothing wrong */
	assert_int_equal(reader_get(inf, "ns-0", "web-0"), INFORMER_E_CORRUPT);
	informer_detach(inf);
	inf = broker_fixture_attach(fx, INFORMER_VERIFY);
	assert_int_equal(reader_get(inf, "ns-0", "web-0"), 0);
	informer_detach(inf);
}

/* An impossible root or size is CORRUPT, or trusted only as far as the file goes. */
TEST(an_impossible_header_is_survived)
{
	static const uint64_t roots[] = {
		1, 8, 15, 17, 8191, 1ull << 34, UINT64_MAX, (1ull << 31) * 16, HEADER_BYTES};
	struct header *h = fx->store->arena->header;
	uint64_t root = atomic_load(&h->root), committed = atomic_load(&h->committed_bytes);
	struct informer *inf = broker_fixture_attach(fx, 0);
	struct informer_snapshot snap;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		int r;

		atomic_store(&h->root, roots[i]);
		atomic_store(&h->committed_bytes, UINT64_MAX);
		r = informer_begin(inf, &snap);
		if (r == 0)
			informer_end(&snap);
		else
			assert_int_equal(r, INFORMER_E_CORRUPT);
		atomic_store(&h->committed_bytes, 0);
		assert_int_equal(informer_begin(inf, &snap), INFORMER_E_CORRUPT);
		atomic_store(&h->committed_bytes, committed);
	}
	atomic_store(&h->root, 0);
	assert_int_equal(informer_begin(inf, &snap), INFORMER_E_NOT_READY);
	atomic_store(&h->root, root);
	assert_int_equal(verify(inf), 0);
	informer_detach(inf);
}

/* An invalid arena is refused at attach, with a message that names the fault. */
TEST(a_foreign_arena_is_refused_at_attach)
{
	static const struct {
		size_t offset;
		uint64_t xor_;
		const char *says;
	} cases[] = {
		{offsetof(struct header, magic), 1, "magic"},
		{offsetof(struct header, layout_major), 2, "it has layout 3.0, this program knows 1.0"},
		{offsetof(struct header, layout_minor), 1, "it has layout 1.1, this program knows 1.0"},
		{offsetof(struct header, byte_order), 0x05000005, "byte order"},
		{offsetof(struct header, incompatible), 1ull << 40, "feature"},
		{offsetof(struct header, fingerprint), 1, "sizes"},
		{offsetof(struct header, max_bytes), 1ull << 60, "maximum size"},
		{offsetof(struct header, committed_bytes), 1ull << 50, "more bytes than its file"},
	};
	uint8_t *header = (uint8_t *)fx->store->arena->header;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct informer_status status = {.size = sizeof(status)};
		struct informer_snapshot snap;
		struct informer *inf;
		uint64_t word;

		memcpy(&word, header + cases[i].offset, sizeof(word));
		word ^= cases[i].xor_;
		memcpy(header + cases[i].offset, &word, sizeof(word));
		inf = broker_fixture_attach(fx, 0);
		assert_int_equal(informer_status(inf, &status), 0);
		assert_false(status.attached);
		if (!strstr(status.reason, cases[i].says))
			fail_msg("'%s' does not say '%s'", status.reason, cases[i].says);
		assert_int_equal(informer_begin(inf, &snap), INFORMER_E_NOT_READY);
		informer_detach(inf);
		word ^= cases[i].xor_;
		memcpy(header + cases[i].offset, &word, sizeof(word));
	}
}
