/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena whose header changes between the check of the header and the mapping: the reader uses the checked
 * values. So the mapping stays within the file and within its own address range.
 *
 * Arenas that follow each other: what the reader keeps of earlier ones.
 */
#include <sys/syscall.h>

#include "reader-lib/attach/mapping.h"
#include "tests/room.h"
#include "tests/support/lone_reader.h"
#include "tests/support/store_fixture.h"

static struct header *change; /* written when a header's mapping is unmapped; NULL: nothing is */
static uint64_t max_bytes_then, committed_then;
static unsigned changed;

int
munmap(void *start, size_t bytes)
{
	if (change && bytes == HEADER_BYTES) {
		change->max_bytes = max_bytes_then;
		atomic_store(&change->committed_bytes, committed_then);
		changed++;
	}
	return (int)syscall(SYS_munmap, start, bytes);
}

TEST_CASE(a_header_is_used_as_it_was_checked)
{
	const uint64_t elsewhere[] = {0, HEADER_BYTES, 1ull << 40, UINT64_MAX};
	struct store_fixture *fx = store_fixture_new(0);
	struct header *h = fx->arena->header;
	uint64_t max_bytes = h->max_bytes, committed = atomic_load(&h->committed_bytes);
	struct informer *inf;
	struct mapping *m;
	struct slot *slot;
	int slot_fd;

	arena_set_state(fx->arena, HEADER_LIVE);
	slot = lone_slot_new(&slot_fd);
	inf = lone_reader_new(fx->arena, fx->arena->fd, slot_fd, 0);
	assert_non_null(inf);
	for (unsigned i = 0; i < 16; i++) {
		max_bytes_then = elsewhere[i / 4];
		committed_then = elsewhere[i % 4];
		change = h;
		assert_int_equal(lone_reader_map(inf, fx->arena->fd, slot_fd, NULL, &m), 0);
		change = NULL;
		assert_int_equal(changed, i + 1);
		assert_int_equal(m->max_bytes, max_bytes);
		assert_int_equal(atomic_load(&m->checked), committed);
		mapping_free(inf, m);
		h->max_bytes = max_bytes;
		atomic_store(&h->committed_bytes, committed);
	}
	informer_detach(inf);
	test_unmap_slot(slot);
	close(slot_fd);
	store_fixture_free(fx);
}

#define RESTARTS 600u

/*
 * A reader of an arena that is served again and again, each time with another slot.
 *
 * blocks, bytes  of the handle's memory
 */
struct served {
	struct store_fixture *fx;
	struct informer *inf;
	struct informer_resource *pods;
	struct slot *slot;	/* as informerd has it */
	int slot_fd;
	long blocks, bytes;
};

static void *
count_in(void *context, size_t size)
{
	struct served *s = context;
	size_t *p = malloc(sizeof(max_align_t) + size);

	if (!p)
		return NULL;
	*p = size;
	s->blocks++;
	s->bytes += (long)size;
	return (char *)p + sizeof(max_align_t);
}

static void
count_out(void *context, void *memory)
{
	struct served *s = context;
	size_t *p;

	if (!memory)
		return;
	p = (size_t *)(void *)((char *)memory - sizeof(max_align_t));
	s->blocks--;
	s->bytes -= (long)*p;
	free(p);
}

/* Serve the arena again, as after a restart of informerd. */
static void
serve_anew(struct served *s)
{
	struct mapping *m;

	if (s->slot)
		test_unmap_slot(s->slot);
	if (s->slot_fd >= 0)
		close(s->slot_fd);
	s->slot = lone_slot_new(&s->slot_fd);
	assert_int_equal(lone_reader_map(s->inf, s->fx->arena->fd, s->slot_fd, NULL, &m), 0);
	pthread_mutex_lock(&s->inf->lock);
	mapping_make_current(s->inf, m);
	mapping_reap(s->inf);
	pthread_mutex_unlock(&s->inf->lock);
}

static int
set_up_served(void **state)
{
	static const char *const pod = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"x\",\"uid\":\"u\","
				       "\"resourceVersion\":\"1\"}}";
	struct served *s = calloc(1, sizeof(*s));
	struct informer_options options = {.size = sizeof(options),
					   .socket_path = "/nonexistent/informer.sock",
					   .allocate = count_in,
					   .release = count_out,
					   .allocator_context = s};

	assert_non_null(s);
	s->slot_fd = -1;
	s->fx = store_fixture_new(0);
	arena_set_state(s->fx->arena, HEADER_LIVE);
	assert_int_equal(store_fixture_put(s->fx, pod), 0);
	store_set_state(s->fx->store, s->fx->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(s->fx->store), 0);
	assert_int_equal(informer_attach(&options, &s->inf), 0);
	assert_int_equal(informer_resource_open(s->inf, "pods", &s->pods), 0);
	serve_anew(s);
	*state = s;
	return 0;
}

static int
tear_down_served(void **state)
{
	struct served *s = *state;

	informer_detach(s->inf);
	assert_int_equal(s->blocks, 0);
	test_unmap_slot(s->slot);
	close(s->slot_fd);
	store_fixture_free(s->fx);
	free(s);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct served *s, set_up_served, tear_down_served, name)

static void
read_a_pod(struct served *s)
{
	struct informer_snapshot snap;
	struct informer_object o;

	assert_int_equal(informer_begin(s->inf, &snap), 0);
	assert_int_equal(informer_get_z(&snap, s->pods, "x", "a", &o), 0);
	informer_end(&snap);
}

static long
mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	long lines = 0;
	int c;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		lines += c == '\n';
	fclose(f);
	return lines;
}

/* After many restarts a reader has grown only by a mapping for each field of slot places. */
TEST(a_reader_does_not_grow_with_restarts)
{
	long lines = 0, bytes = 0;

	for (unsigned i = 0; i < RESTARTS; i++) {
		read_a_pod(s);
		serve_anew(s);
		if (i == 20) {
			lines = mappings();
			bytes = s->bytes;
		}
		/* within the first field */
		if (i == 220) {
			assert_int_equal(mappings(), lines);
			assert_int_equal(s->bytes, bytes);
		}
	}
	assert_in_range(mappings(), 1, (unsigned long)lines + RESTARTS / 200);
	assert_in_range(s->bytes, 1, (unsigned long)bytes + RESTARTS / 200 * 64ul);
	read_a_pod(s);
}

/* A snapshot open over restarts stays unchanged, and so does what it found of its resource. */
TEST(an_old_snapshot_keeps_its_arena)
{
	struct informer_snapshot old;
	struct informer_object o;

	assert_int_equal(informer_begin(s->inf, &old), 0);
	for (unsigned i = 0; i < 10; i++) {
		serve_anew(s);
		read_a_pod(s);
		assert_int_equal(informer_get_z(&old, s->pods, "x", "a", &o), 0);
	}
	informer_end(&old);
	serve_anew(s);
	read_a_pod(s);
}

/* A thread between R0 and R1 (snapshot.c) while arenas change claims a cell of a slot that is not in use. */
TEST(a_late_claim_takes_no_cell_of_a_later_slot)
{
	struct mapping *m = atomic_load(&s->inf->current);					/* R0 */
	struct slot *slot = mapping_place(m);
	struct pin_cell *cell;
	unsigned late = 0;

	for (unsigned i = 0; i < 10; i++) {
		serve_anew(s);
		if (atomic_load(&s->inf->current) != m)
			continue;
		late++;
		cell = slot_claim(slot, 7);							/* R1 */
		assert_non_null(cell);
		assert_ptr_not_equal(mapping_place(m), slot);					/* R1' */
		for (unsigned k = 0; k < SLOT_CELLS; k++)
			assert_int_equal(atomic_load(&s->slot->cells[k].epoch), CELL_FREE);
		slot_unpin(cell);
	}
	assert_true(late > 2);
	read_a_pod(s);
}

/* A mapping that does not become current leaves nothing behind, however often it is made. */
TEST(a_discarded_mapping_leaves_nothing)
{
	long lines = mappings(), bytes = 0;
	struct mapping *m;

	for (unsigned i = 0; i < RESTARTS; i++) {
		assert_int_equal(lone_reader_map(s->inf, s->fx->arena->fd, s->slot_fd, NULL, &m), 0);
		pthread_mutex_lock(&s->inf->lock);
		mapping_free(s->inf, m);
		pthread_mutex_unlock(&s->inf->lock);
		bytes = bytes ? bytes : s->bytes;
	}
	assert_int_equal(mappings(), lines);
	assert_int_equal(s->bytes, bytes);
	serve_anew(s);
	read_a_pod(s);
}
