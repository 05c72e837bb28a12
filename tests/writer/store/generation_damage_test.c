/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bit of an arena file is flipped before a writer starts. Either the damage is found and logged, and the
 * file is set aside, or it was harmless and all content is the same. Every bit of the header, of the root and
 * of the resources is tried. Of all other bytes in use a random part is tried, of which each must be found;
 * of shortcut cells, which are hints, and of free bytes a few.
 */
#include <inttypes.h>

#include "shm-layout/walk.h"
#include "tests/room.h"
#include "tests/support/arena_text.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"
#include "writer/store/generation.h"

#define PODS 12u
#define WORDS_END 512u /* behind this offset the header has only contacts */
/* numbers of random bytes tried, a bit each: under tags, in the rest of the header, and anywhere */
#define USED_TRIED 2700u
#define REST_TRIED 300u

struct range {
	uint64_t from, to;
};

struct ranges {
	struct range at[4096];
	unsigned count;
	uint64_t bytes;
};

struct world {
	struct generations generations;
	uint8_t *file;
	uint64_t bytes;
	char *text;
	struct ranges whole, used; /* all bits are tried; some are */
	struct walk_seen seen;
	uint64_t random;
	unsigned found, harmless;
};

static uint64_t
draw(struct world *w, uint64_t below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (w->random >> 24) % below;
}

static void
add_range(struct ranges *r, uint64_t from, uint64_t to)
{
	assert_true(r->count < sizeof(r->at) / sizeof(r->at[0]));
	r->at[r->count++] = (struct range){from, to};
	r->bytes += to - from;
}

static int
note_block(void *context, uint32_t ref, const struct block *b)
{
	struct world *w = context;
	bool whole = block_type(b) == BLOCK_ROOT || block_type(b) == BLOCK_RESOURCE;

	if (!walk_seen_first(&w->seen, ref))
		return 0;
	add_range(whole ? &w->whole : &w->used, ref_offset(ref),
		  ref_offset(ref) + (whole ? block_footprint(block_length(b)) : sizeof(*b) + tag_covered(b)));
	return 1;
}

/* Remember the file that the writer left, and remove it. */
static void
take_file(struct world *w, struct store_fixture *fx)
{
	struct walk_visitor visitor = {note_block, w};
	struct walk_damage damage;
	int fd = openat(w->generations.place.directory, "arena.1", O_RDONLY | O_CLOEXEC);

	w->text = arena_text(&fx->arena->view, &fx->arena->keys);
	assert_null(strstr(w->text, "DAMAGED"));
	w->bytes = fx->arena->view.committed;
	w->file = malloc(w->bytes);
	assert_non_null(w->file);
	assert_int_equal(pread(fd, w->file, w->bytes, 0), w->bytes);
	close(fd);
	add_range(&w->whole, 0, WORDS_END);
	assert_int_equal(walk_seen_init(&w->seen, w->bytes), 0);
	assert_int_equal(
		walk_root(&fx->arena->view, atomic_load(&fx->arena->header->root), &visitor, &damage), 0);
	walk_seen_done(&w->seen);
	assert_int_equal(unlinkat(w->generations.place.directory, "arena.1", 0), 0);
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct consumer consumer = {.seq = 3, .name_length = 1, .name = "c"};
	struct store_fixture *fx;

	w->random = test_seed(1);
	print_message("SEED=%" PRIu64 "\n", w->random);
	generations_begin(&w->generations);
	w->generations.place.max_bytes = ARENA_BYTES_MIN;
	fx = generations_store(&w->generations, NULL);
	for (unsigned i = 0; i < PODS; i++)
		assert_int_equal(
			store_fixture_putf(
				fx,
				"{\"metadata\":{\"name\":\"pod-%u\",\"namespace\":\"ns\",\"uid\":\"u%u\","
				"\"resourceVersion\":\"%u\",\"labels\":{\"all\":\"x\",\"own\":\"%u\"}},"
				"\"spec\":{\"nodeName\":\"node-%u\"}}",
				i, i, i + 1, i, i % 3),
			0);
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(store_fixture_delete(fx, "ns", "pod-3"), 0);
	store_set_version(fx->store, fx->pods, "20", 2);
	store_set_state(fx->store, fx->pods, RESOURCE_SYNCED);
	store_lineage(fx->store, consumer.lineage);
	assert_int_equal(store_set_consumers(fx->store, &consumer, 1), 0);
	assert_int_equal(store_commit(fx->store), 0);
	take_file(w, fx);
	store_fixture_free(fx);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	generations_end(&w->generations);
	free(w->file);
	free(w->text);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

/* Write the file again with this bit flipped, and with holes for its zeroes. */
static void
put_file(struct world *w, uint64_t byte, unsigned bit)
{
	int fd = openat(w->generations.place.directory, "arena.1", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)w->bytes), 0);
	w->file[byte] ^= (uint8_t)(1u << bit);
	for (uint64_t at = 0; at < w->bytes; at += 4096)
		if (w->file[at] || memcmp(w->file + at, w->file + at + 1, 4095) != 0)
			assert_int_equal(pwrite(fd, w->file + at, 4096, (off_t)at), 4096);
	w->file[byte] ^= (uint8_t)(1u << bit);
	close(fd);
}

static bool
there(struct world *w, const char *name)
{
	return faccessat(w->generations.place.directory, name, F_OK, 0) == 0;
}

/* A writer starts on the file with this bit flipped. */
static void
try_bit(struct world *w, uint64_t byte, unsigned bit)
{
	const struct arena_place *place = &w->generations.place;
	struct adoption adoption;
	struct intern *intern;
	struct arena arena;
	char *text;

	put_file(w, byte, bit);
	assert_int_equal(generation_adopt(place, &arena, &intern, &adoption), 0);
	if (adoption.how == ADOPTION_ADOPTED) {
		text = arena_text(&arena.view, &arena.keys);
		if (strcmp(text, w->text) != 0)
			fail_msg("bit %u of byte %" PRIu64 ": adopted, and otherwise than it was:\n%s", bit,
				 byte, text);
		free(text);
		w->harmless++;
	} else {
		if (adoption.how != ADOPTION_REBUILD || !strstr(adoption.message, "set aside as arena.bad") ||
		    !there(w, "arena.bad"))
			fail_msg("bit %u of byte %" PRIu64 ": how %d: %s", bit, byte, (int)adoption.how,
				 adoption.message);
		w->found++;
	}
	intern_free(intern);
	unlinkat(place->directory, arena.name, 0);
	arena_close(&arena);
	generation_leave(&adoption);
	unlinkat(place->directory, "arena.1", 0);
	unlinkat(place->directory, "arena.bad", 0);
}

TEST_CASE_IN(set_up, tear_down, a_flipped_bit_is_found_or_harmless)
{
	struct world *w = *state;
	unsigned step = test_is_long() ? 1 : 17, next = (unsigned)draw(w, step);
	unsigned used_tried = USED_TRIED / step, rest_tried = REST_TRIED / step;

	for (unsigned i = 0; i < w->whole.count; i++)
		for (uint64_t byte = w->whole.at[i].from; byte < w->whole.at[i].to; byte++, next -= 8)
			for (; next < 8; next += step)
				try_bit(w, byte, next);
	print_message("%" PRIu64 " bits of header, root and resources: %u found, %u harmless\n",
		      w->whole.bytes * 8 / step, w->found, w->harmless);
	/* the identity, the root's offset, epoch and state, the root and the resource */
	assert_true(w->found > 8 * (256 + 8 + 300) / step);
	w->found = w->harmless = 0;
	for (unsigned i = 0; i < used_tried; i++) {
		const struct range *r = &w->used.at[draw(w, w->used.count)];

		try_bit(w, r->from + draw(w, r->to - r->from), (unsigned)draw(w, 8));
	}
	print_message("%u bits of other blocks, %" PRIu64 " bytes: %u found, %u harmless\n", used_tried,
		      w->used.bytes, w->found, w->harmless);
	assert_int_equal(w->found, used_tried); /* tags cover all but the cells of shortcuts */
	w->found = w->harmless = 0;
	for (unsigned i = 0; i < rest_tried; i++)
		try_bit(w, WORDS_END + draw(w, (i % 2 ? w->bytes : HEADER_BYTES) - WORDS_END),
			(unsigned)draw(w, 8));
	print_message("%u bits anywhere: %u found, %u harmless\n", rest_tried, w->found, w->harmless);
}
