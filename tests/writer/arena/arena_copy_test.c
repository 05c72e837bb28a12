/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying pages over into another file, of which each has content of its own: a copy has what the source has
 * and holes where that has none; a move that breaks off anywhere goes on where its journal says, and each
 * page stands in one of the two files all the while.
 */
#include <fcntl.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/room.h"
#include "writer/arena/arena_copy.h"
#include "writer/arena/arena_pages.h"

#define PAGE ARENA_COPY_PAGE
#define PAGES 200u
#define MAX_BYTES (8u << 20)
#define BYTES ((uint64_t)PAGES * PAGE)
#define HEADER (HEADER_BYTES / PAGE) /* pages */

static const uint8_t master[TAG_MASTER_BYTES] = {1};

/* A source, as a file and by a descriptor that can only be read: nothing can be punched through that. */
struct world {
	char path[64];
	int fd, reading;
	struct header header;
	struct arena_source source;
	struct arena new;
	bool has_new;
};

/* Holes of one page and of many, at the end and amid. */
static bool
is_hole(unsigned page)
{
	return page == 5 || (page >= 20 && page < 60) || page >= PAGES - 3;
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
	snprintf(w->path, sizeof(w->path), "/proc/self/fd/%d", w->fd);
	w->reading = open(w->path, O_RDONLY | O_CLOEXEC);
	assert_true(w->reading >= 0);
	atomic_store(&w->header.root, 4711);
	atomic_store(&w->header.server_release, 1036);
	w->source = (struct arena_source){w->fd, &w->header, BYTES};
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	if (w->has_new)
		arena_close(&w->new);
	close(w->fd);
	close(w->reading);
	free(w);
	return 0;
}

/* The file that it comes to; one that is there already is taken over, as after a kill. */
static void
open_new(struct world *w)
{
	int fd = w->has_new ? dup(w->new.fd) : memfd_create("new", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (w->has_new)
		arena_close(&w->new);
	assert_int_equal(arena_copy_reopen(&w->new, fd, "new", 2, MAX_BYTES, master, &w->source), 0);
	w->has_new = true;
}

/* By system calls: a hole stays one. */
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
assert_all_there(struct world *w)
{
	unsigned pages = HEADER;

	for (unsigned i = HEADER; i < PAGES; i++) {
		assert_page(w->new.fd, i, !is_hole(i));
		pages += !is_hole(i);
	}
	assert_int_equal(memory_of(w->new.fd), (uint64_t)pages * PAGE);
	assert_int_equal(atomic_load(&w->new.header->root), 4711);
	assert_int_equal(atomic_load(&w->new.header->server_release), 1036);
}

static uint64_t
journal(struct world *w)
{
	return atomic_load(&w->new.header->moved_bytes);
}

#define TEST(test) TEST_CASE_OF(struct world *w, set_up, tear_down, test)

TEST(a_copy_has_what_its_source_has)
{
	open_new(w);
	assert_int_equal(arena_copy_all(&w->new, &w->source, NULL), 0);
	assert_all_there(w);
	for (unsigned i = HEADER; i < PAGES; i++)
		assert_page(w->fd, i, !is_hole(i));
}

/* Of a page whose bit is not set nothing comes along. */
TEST(a_copy_has_the_pages_that_are_asked_for)
{
	uint64_t pages[PAGES / 64 + 2] = {0};
	unsigned asked = 0;

	for (unsigned i = HEADER; i < PAGES; i++)
		if (i == HEADER || i == PAGES - 1 || (i % 3 == 0 && i < 150)) {
			pages[i / 64] |= 1ull << (i % 64);
			asked++;
		}
	open_new(w);
	assert_int_equal(arena_copy_all(&w->new, &w->source, pages), 0);
	for (unsigned i = HEADER; i < PAGES; i++)
		assert_page(w->new.fd, i, (pages[i / 64] >> (i % 64) & 1) && !is_hole(i));
	assert_int_equal(memory_of(w->new.fd), (uint64_t)(asked + HEADER) * PAGE);
}

TEST(a_source_that_is_too_short_is_an_error)
{
	uint64_t pages[PAGES / 64 + 2];

	memset(pages, 0xff, sizeof(pages));
	open_new(w);
	assert_int_equal(ftruncate(w->fd, (off_t)BYTES / 2), 0);
	assert_int_equal(arena_copy_all(&w->new, &w->source, pages), -EIO);
}

TEST(a_move_leaves_nothing_behind)
{
	open_new(w);
	atomic_store(&w->new.header->moved_bytes, HEADER_BYTES);
	assert_int_equal(arena_copy_move(&w->new, &w->source), 0);
	assert_all_there(w);
	assert_int_equal(memory_of(w->fd), 0);
	/* once more is nothing */
	assert_int_equal(arena_copy_move(&w->new, &w->source), 0);
	assert_all_there(w);
}

/*
 * A move that breaks off where a chunk is to be punched has written down that it is there, no more than what
 * is, and no less: what is told of is gone when the next one begins.
 */
TEST(a_move_goes_on_where_its_journal_says)
{
	struct arena_source reading = w->source;
	uint64_t before = HEADER_BYTES;

	reading.fd = w->reading;
	open_new(w);
	atomic_store(&w->new.header->moved_bytes, before);
	for (unsigned chunks = 0; arena_copy_move(&w->new, &reading) < 0; chunks++) {
		assert_true(chunks < 20);
		assert_true(journal(w) > before);
		/* a chunk, and the holes before it */
		assert_true(journal(w) - before <= (45ull + 32) * PAGE);
		before = journal(w);
		for (unsigned i = HEADER; i < PAGES; i++)
			assert_page(w->new.fd, i, i < before / PAGE && !is_hole(i));
		/* as the next one does, which can */
		assert_int_equal(arena_pages_punch(w->fd, HEADER_BYTES, before), 0);
		open_new(w);
		assert_int_equal(journal(w), before);
	}
	assert_all_there(w);
}

/* A chunk that cannot be read is not told of. */
TEST(a_move_tells_of_nothing_that_is_not_there)
{
	struct arena_source writing = w->source;

	writing.fd = open(w->path, O_WRONLY | O_CLOEXEC);
	assert_true(writing.fd >= 0);
	open_new(w);
	atomic_store(&w->new.header->moved_bytes, HEADER_BYTES);
	assert_int_equal(arena_copy_move(&w->new, &writing), -EBADF);
	assert_int_equal(journal(w), HEADER_BYTES);
	close(writing.fd);
	assert_int_equal(arena_copy_move(&w->new, &w->source), 0);
	assert_all_there(w);
}

/* What was moved and has memory again, for somebody touched it, is not taken for the content. */
TEST(what_was_touched_is_not_moved_again)
{
	static const uint8_t zeros[PAGE];

	open_new(w);
	atomic_store(&w->new.header->moved_bytes, HEADER_BYTES);
	assert_int_equal(arena_copy_move(&w->new, &w->source), 0);
	assert_int_equal(pwrite(w->fd, zeros, PAGE, HEADER_BYTES), PAGE);
	open_new(w);
	assert_int_equal(arena_copy_move(&w->new, &w->source), 0);
	assert_all_there(w);
	assert_int_equal(memory_of(w->fd), 0);
}

TEST(a_journal_that_cannot_be_is_damage)
{
	static const uint64_t bad[] = {0, HEADER_BYTES - PAGE, HEADER_BYTES + 1, BYTES + PAGE, UINT64_MAX};

	open_new(w);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		atomic_store(&w->new.header->moved_bytes, bad[i]);
		assert_int_equal(arena_copy_move(&w->new, &w->source), -EBADMSG);
	}
	for (unsigned i = HEADER; i < PAGES; i++)
		assert_page(w->fd, i, !is_hole(i));
}
