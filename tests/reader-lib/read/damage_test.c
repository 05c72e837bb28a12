/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A damaged arena: verification finds it, and a header that is none is refused. (That whatever bytes are
 * survived: flipped_bits_test.c, revoked_arena_test.c.)
 *
 * Each test damages the writer's own memory, which the reader has mapped too.
 */
#include "shm-layout/walk.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"

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

struct blocks {
	uint32_t refs[4096];
	unsigned count;
	struct walk_seen seen;
};

static int
collect(void *context, uint32_t ref, const struct block *b)
{
	struct blocks *blocks = context;

	(void)b;
	if (!walk_seen_first(&blocks->seen, ref) || blocks->count == 4096)
		return 0;
	blocks->refs[blocks->count++] = ref;
	return 1;
}

static void
find_blocks(struct broker_fixture *fx, struct blocks *blocks)
{
	struct arena *arena = fx->store->arena;
	struct walk_visitor visitor = {collect, blocks};
	struct walk_damage damage;

	blocks->count = 0;
	assert_int_equal(walk_seen_init(&blocks->seen, arena->view.committed), 0);
	assert_int_equal(walk_root(&arena->view, atomic_load(&arena->header->root), &visitor, &damage), 0);
	walk_seen_done(&blocks->seen);
	assert_true(blocks->count > 50);
}

#define TEST(name) TEST_CASE_OF(struct broker_fixture *fx, set_up, broker_fixture_tear_down, name)

/* What a new snapshot says when all of it is verified. */
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

/* What a lookup says. */
static int
look_up(struct informer *inf)
{
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_object o;
	int r;

	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	r = informer_get_z(&snap, pods, "ns-0", "web-0", &o);
	informer_end(&snap);
	return r;
}

/* Each reachable block, damaged in header, ends and middle in turn: verification finds it. */
TEST(damage_anywhere_is_found_by_verification)
{
	static struct blocks blocks;
	struct arena *arena = fx->store->arena;
	struct informer *inf = broker_fixture_attach(fx, INFORMER_VERIFY);

	find_blocks(fx, &blocks);
	assert_int_equal(verify(inf), 0);
	for (unsigned i = 0; i < blocks.count; i++) {
		struct block *b = arena_block(arena, blocks.refs[i]);
		size_t bytes = sizeof(*b) + tag_covered(b); /* the cells of shortcuts are hints */
		/* a few bytes of each block: header, ends, and one that wanders */
		size_t at[] = {0, 9, 11, 13, 16, bytes - 1, 16 + (i * (size_t)31) % (bytes - 16)};

		for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
			uint8_t *byte = (uint8_t *)b + at[k];
			int r;

			*byte ^= (uint8_t)(1u << (i + k) % 8);
			r = verify(inf);
			if (r != INFORMER_E_CORRUPT)
				fail_msg("block %u (type %u), byte %zu of %zu: %s", blocks.refs[i],
					 (unsigned)block_type(b), at[k], bytes, informer_error_name(r));
			*byte ^= (uint8_t)(1u << (i + k) % 8);
		}
	}
	/* that handle has met damage, and believes this arena no more; another one finds nothing wrong */
	assert_int_equal(look_up(inf), INFORMER_E_CORRUPT);
	informer_detach(inf);
	inf = broker_fixture_attach(fx, INFORMER_VERIFY);
	assert_int_equal(look_up(inf), 0);
	informer_detach(inf);
}

/* An impossible root or size is CORRUPT, or believed only as far as the file goes. */
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

/* An arena that is not one is refused at attach, with a sentence that says what is off. */
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
