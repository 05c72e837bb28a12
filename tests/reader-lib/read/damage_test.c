/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A damaged arena: whatever the bytes say, the library answers, and never crashes. With verification it says
 * CORRUPT.
 *
 * Each test damages the writer's own memory, which the reader has mapped too.
 */
#include "shm-layout/walk.h"
#include "tests/room.h"
#include "tests/support/broker_fixture.h"

static const char pod[] = "{\"metadata\":{\"name\":\"web-%d\",\"namespace\":\"ns-%d\",\"uid\":\"u-%d\","
			  "\"labels\":{\"app\":\"web\"},"
			  "\"annotations\":{\"users\":\"ernie,bert\",\"long\":"
			  "\"0123456789012345678901234567890123456789012345678901234567890123"
			  "456789\"}},\"spec\":{\"nodeName\":\"n1\",\"priority\":1.5,\"containers\":[{"
			  "\"name\":\"c\",\"image\":\"i\"}]},"
			  "\"status\":{\"phase\":\"Running\",\"podIPs\":[{\"ip\":\"10.0.0.%d\"}]}}";

struct world {
	struct broker_fixture *fx;
	struct informer *inf;
	struct informer_path *path;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char text[1024];

	w->fx = broker_fixture_new();
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), pod, i, i % 3, i, i);
		broker_fixture_put(w->fx, (const char *const[]){text, NULL});
	}
	broker_fixture_start(w->fx);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	broker_fixture_free(w->fx);
	free(w);
	return 0;
}

static int
count_bytes(void *context, const char *data, size_t length)
{
	/* every byte that is handed out is there to be read */
	for (size_t i = 0; i < length; i++)
		*(uint64_t *)context += (uint8_t)data[i];
	return 0;
}

/*
 * Use everything once. Returns whether some call said CORRUPT; fails on a result that is none of the
 * documented ones.
 */
static bool
use_everything(struct world *w, struct informer *inf, struct informer_resource *pods)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_snapshot snap;
	struct informer_iter it;
	struct informer_object o;
	const char *data;
	uint64_t sum = 0, count;
	size_t length;
	bool corrupt = false;
	int r;

#define NOTE(call)                                                                                           \
	do {                                                                                                 \
		r = (call);                                                                                  \
		if (r < 0 && r != INFORMER_E_CORRUPT && r != INFORMER_E_NOT_FOUND && r != INFORMER_E_TYPE && \
		    r != INFORMER_E_NO_RESOURCE && r != INFORMER_E_NO_INDEX && r != INFORMER_E_NOT_READY)    \
			fail_msg("%s: %s", #call, informer_error_name(r));                                   \
		corrupt |= r == INFORMER_E_CORRUPT;                                                          \
	} while (0)

	NOTE(informer_begin(inf, &snap));
	if (r < 0)
		return corrupt;
	NOTE(informer_resource_info(&snap, pods, &info));
	for (int i = 0; i < 40; i++) {
		char ns[16], name[16];

		snprintf(ns, sizeof(ns), "ns-%d", i % 3);
		snprintf(name, sizeof(name), "web-%d", i);
		NOTE(informer_get_z(&snap, pods, ns, name, &o));
		if (r == 0) {
			NOTE(informer_get_string(&o, w->path, &data, &length));
			if (r == 0)
				count_bytes(&sum, data, length);
			NOTE(informer_object_to_json(&o, count_bytes, &sum));
		}
	}
	NOTE(informer_list(&snap, pods, &it));
	for (int i = 0; r >= 0 && i < 100000; i++) {
		NOTE(informer_next(&it, &o));
		if (r == 0)
			break;
	}
	NOTE(informer_list_namespace(&snap, pods, "ns-1", 4, &it));
	while (r == 0) {
		NOTE(informer_next(&it, &o));
		if (r <= 0)
			break;
		r = 0;
	}
	NOTE(informer_count_by_index(&snap, pods, "nodeName", "n1", 2, &count));
	NOTE(informer_get_by_uid(&snap, pods, "u-7", 3, &o));
	NOTE(informer_pod_by_ip(&snap, pods, "10.0.0.9", 8, &o));
	NOTE(informer_verify(&snap, NULL, NULL, NULL));
	informer_end(&snap);
#undef NOTE
	return corrupt;
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
find_blocks(struct world *w, struct blocks *blocks)
{
	struct arena *arena = w->fx->store->arena;
	struct walk_visitor visitor = {collect, blocks};
	struct walk_damage damage;

	blocks->count = 0;
	assert_int_equal(walk_seen_init(&blocks->seen, arena->view.committed), 0);
	assert_int_equal(walk_root(&arena->view, atomic_load(&arena->header->root), &visitor, &damage), 0);
	walk_seen_done(&blocks->seen);
	assert_true(blocks->count > 50);
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* Each reachable block, damaged in header, ends and middle in turn: verification finds it. */
TEST(damage_anywhere_is_found_by_verification)
{
	static struct blocks blocks;
	struct arena *arena = w->fx->store->arena;
	struct informer_resource *pods;
	struct informer *inf = broker_fixture_attach(w->fx, INFORMER_VERIFY);

	find_blocks(w, &blocks);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_path_compile(inf, "spec.nodeName", 13, &w->path), 0);
	assert_false(use_everything(w, inf, pods));
	for (unsigned i = 0; i < blocks.count; i++) {
		struct block *b = arena_block(arena, blocks.refs[i]);
		size_t bytes = sizeof(*b) + tag_covered(b); /* the cells of shortcuts are hints */
		struct informer_snapshot snap;
		int r;

		/* a few bytes of each block: header, ends, and one that wanders */
		size_t at[] = {0, 9, 11, 13, 16, bytes - 1, 16 + (i * (size_t)31) % (bytes - 16)};

		for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
			uint8_t *byte = (uint8_t *)b + at[k];

			*byte ^= (uint8_t)(1u << (i + k) % 8);
			r = informer_begin(inf, &snap);
			if (r == 0) {
				r = informer_verify(&snap, NULL, NULL, NULL);
				informer_end(&snap);
			}
			if (r != INFORMER_E_CORRUPT)
				fail_msg("block %u (type %u), byte %zu of %zu: %s", blocks.refs[i],
					 (unsigned)block_type(b), at[k], bytes, informer_error_name(r));
			*byte ^= (uint8_t)(1u << (i + k) % 8);
		}
	}
	/* that handle has met damage, and believes this arena no more; another one finds nothing wrong with
	 * it */
	assert_true(use_everything(w, inf, pods));
	informer_path_free(w->path);
	informer_detach(inf);
	inf = broker_fixture_attach(w->fx, INFORMER_VERIFY);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_path_compile(inf, "spec.nodeName", 13, &w->path), 0);
	assert_false(use_everything(w, inf, pods));
	informer_path_free(w->path);
	informer_detach(inf);
}

/*
 * Without verification wrong answers are possible, but each is an answer: random damage, everything used,
 * nothing crashes.
 */
TEST(random_damage_is_survived_without_verification)
{
	static struct blocks blocks;
	struct arena *arena = w->fx->store->arena;
	struct informer_resource *pods;
	struct informer *inf = broker_fixture_attach(w->fx, 0);
	const char *env = getenv("SEED");
	unsigned seed = env ? (unsigned)atoi(env) : 5, corrupt = 0;

	print_message("SEED=%u\n", seed);
	srand(seed);
	find_blocks(w, &blocks);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_path_compile(inf, "spec.nodeName", 13, &w->path), 0);
	for (int i = 0; i < 4000; i++) {
		struct block *b = arena_block(arena, blocks.refs[(unsigned)rand() % blocks.count]);
		size_t bytes = sizeof(*b) + block_length(b), n = (size_t)rand() % 3 + 1, at[3];
		uint8_t old[3];

		for (size_t k = 0; k < n; k++) {
			at[k] = 8 + (size_t)rand() % (bytes - 8);
			old[k] = ((uint8_t *)b)[at[k]];
			((uint8_t *)b)[at[k]] = (uint8_t)rand();
		}
		corrupt += use_everything(w, inf, pods);
		while (n-- > 0)
			((uint8_t *)b)[at[n]] = old[n];
	}
	assert_true(corrupt > 100);
	assert_false(use_everything(w, inf, pods));
	informer_path_free(w->path);
	informer_detach(inf);
}

/*
 * Words of the header that change: an impossible root or size is CORRUPT, or believed only as far as the file
 * goes.
 */
TEST(an_impossible_header_is_survived)
{
	static const uint64_t roots[] = {
		1, 8, 15, 17, 8191, 1ull << 34, UINT64_MAX, (1ull << 31) * 16, HEADER_BYTES};
	struct header *h = w->fx->store->arena->header;
	uint64_t root = atomic_load(&h->root), committed = atomic_load(&h->committed_bytes);
	struct informer_resource *pods;
	struct informer *inf = broker_fixture_attach(w->fx, 0);
	struct informer_snapshot snap;

	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_path_compile(inf, "spec.nodeName", 13, &w->path), 0);
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
	assert_false(use_everything(w, inf, pods));
	informer_path_free(w->path);
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
	uint8_t *header = (uint8_t *)w->fx->store->arena->header;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct informer_status status = {.size = sizeof(status)};
		struct informer_snapshot snap;
		struct informer *inf;
		uint64_t word;

		memcpy(&word, header + cases[i].offset, sizeof(word));
		word ^= cases[i].xor_;
		memcpy(header + cases[i].offset, &word, sizeof(word));
		inf = broker_fixture_attach(w->fx, 0);
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
