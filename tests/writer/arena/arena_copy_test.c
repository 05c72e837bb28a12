/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying pages into another file. The copy has the pages and the holes of its source.
 * Each page has content of its own.
 */
#include "tests/room.h"
#include "writer/arena/arena_copy.h"

#define PAGE ARENA_COPY_PAGE
#define PAGES 200u
#define MAX_BYTES (8u << 20)
#define BYTES ((uint64_t)PAGES * PAGE)
#define HEADER (HEADER_BYTES / PAGE) /* pages */

static const uint8_t master[TAG_MASTER_BYTES] = {1};

/* A source, and a tmpfs for its copy. */
struct world {
	int directory, fd;
	struct header header;
	struct arena_source source;
	struct arena new;
};

static unsigned last_hole = 3; /* pages in the last hole */

/* Holes of one page and of many pages, at the end and in the middle. */
static bool
is_hole(unsigned page)
{
	return page == 5 || (page >= 20 && page < 60) || page >= PAGES - last_hole;
}

static void
fill_page(unsigned page, uint8_t *ret)
{
	for (unsigned i = 0; i < PAGE; i++)
		ret[i] = (uint8_t)(page * 7 + i * 13 + 1);
}

static uint64_t
memory_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static int
set_up(void **state)
{
	struct world *w = aligned_alloc(_Alignof(struct world), sizeof(*w));
	uint8_t page[PAGE];

	assert_non_null(w);
	memset(w, 0, sizeof(*w));
	w->fd = memfd_create("source", MFD_CLOEXEC);
	assert_true(w->fd >= 0);
	assert_int_equal(ftruncate(w->fd, (off_t)BYTES), 0);
	for (unsigned i = HEADER; i < PAGES; i++) {
		fill_page(i, page);
		if (!is_hole(i))
			assert_int_equal(pwrite(w->fd, page, PAGE, (off_t)i * PAGE), PAGE);
	}
	w->directory = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->directory >= 0);
	atomic_store(&w->header.root, 4711);
	atomic_store(&w->header.server_release, 1036);
	w->source = (struct arena_source){w->fd, &w->header, BYTES};
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	close(w->fd);
	close(w->directory);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

/* Compares by system calls, which leave a hole as it is. */
static void
assert_page(int fd, unsigned page, bool content)
{
	uint8_t is[PAGE], should[PAGE] = {0};

	assert_int_equal(pread(fd, is, PAGE, (off_t)page * PAGE), PAGE);
	if (content)
		fill_page(page, should);
	if (memcmp(is, should, PAGE) != 0)
		fail_msg("page %u is not what it was", page);
}

static void
assert_copied(struct world *w)
{
	unsigned pages = HEADER;
	char name[64];

	snprintf(name, sizeof(name), "informer-test-copy-%d", getpid());
	assert_int_equal(arena_create(&w->new, w->directory, name, 2, MAX_BYTES, master, &w->source), 0);
	unlinkat(w->directory, name, 0);
	assert_int_equal(arena_copy_all(&w->new, &w->source), 0);
	for (unsigned i = HEADER; i < PAGES; i++) {
		assert_page(w->new.fd, i, !is_hole(i));
		assert_page(w->fd, i, !is_hole(i));
		pages += !is_hole(i);
	}
	assert_int_equal(memory_of(w->new.fd), (uint64_t)pages * PAGE);
	assert_int_equal(atomic_load(&w->new.header->root), 4711);
	assert_int_equal(atomic_load(&w->new.header->server_release), 1036);
	arena_close(&w->new);
}

TEST_CASE_OF(struct world *w, set_up, tear_down, a_copy_equals_its_source)
{
	assert_copied(w);
}

static int
set_up_to_the_end(void **state)
{
	last_hole = 0;
	return set_up(state);
}

/* The last page of the source has content here. */
TEST_CASE_OF(struct world *w, set_up_to_the_end, tear_down, the_last_page_is_copied)
{
	assert_copied(w);
}
