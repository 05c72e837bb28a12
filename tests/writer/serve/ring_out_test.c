/* SPDX-License-Identifier: Apache-2.0 */
/* One queue: what its reader sees, overflow and reopening, and readers that write garbage. */
#include "tests/room.h"
#include "tests/support/large_pages.h"
#include "writer/serve/ring_out.h"

struct world {
	struct queue_cursor *cursor;
	struct ring_out *out;
	const struct queue *seen;	/* the reader's mapping */
	int fd;
	uint64_t seq;			/* of the last push */
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->cursor = aligned_alloc(64, sizeof(*w->cursor));
	memset(w->cursor, 0, sizeof(*w->cursor));
	assert_int_equal(ring_out_new(64, w->cursor, 7, &w->out, &w->fd), 0);
	w->seen = mmap(NULL, queue_bytes(64), PROT_READ, MAP_SHARED, w->fd, 0);
	assert_ptr_not_equal(w->seen, MAP_FAILED);
	w->seq = 7;
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	munmap((void *)(uintptr_t)w->seen, queue_bytes(64));
	close(w->fd);
	ring_out_free(w->out, false);
	free(w->cursor);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

/* Commit so many events. */
static bool
commit(struct world *w, unsigned events)
{
	ring_out_begin(w->out, w->seq);
	for (unsigned i = 0; i < events; i++) {
		w->seq++;
		ring_out_push(w->out, &(struct queue_entry){.seq = w->seq, .kind = QUEUE_ADDED, .new_ref = 1},
			      w->seq * 1000000u);
	}
	return ring_out_publish(w->out);
}

static uint64_t
head(const struct world *w)
{
	return atomic_load(&w->seen->head);
}

static bool
overflowed(const struct world *w)
{
	return atomic_load(&w->seen->state) == QUEUE_OVERFLOWED;
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* A new queue is complete from its base on. Its size is rounded up, within bounds. */
TEST(a_new_queue_is_open_and_empty)
{
	assert_int_equal(head(w), 0);
	assert_int_equal(w->seen->base, 7);
	assert_int_equal(w->seen->openings, 1);
	assert_false(overflowed(w));
	assert_int_equal(w->seen->capacity, 64);
	assert_int_equal(ring_out_lowest(w->out), UINT64_MAX);
	assert_int_equal(ring_out_capacity(0), QUEUE_ENTRIES_MIN);
	assert_int_equal(ring_out_capacity(65), 128);
	assert_int_equal(ring_out_capacity(UINT32_MAX), QUEUE_ENTRIES_MAX);
}

/* A reader can neither write to the queue nor resize it, even as the same user who opens it again. */
TEST(a_reader_cannot_write_to_its_queue)
{
	char path[64];
	struct stat st;
	int fd;

	assert_int_equal(fcntl(w->fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0), MAP_FAILED);
	assert_int_equal(mprotect((void *)(uintptr_t)w->seen, 4096, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(fstat(w->fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		assert_int_equal(ftruncate(fd, 0), -1);
		assert_int_equal(errno, EPERM);
		close(fd);
	}
}

static size_t
memory_of(const struct world *w)
{
	struct stat st;

	assert_int_equal(fstat(w->fd, &st), 0);
	return (size_t)st.st_blocks * 512;
}

/*
 * A queue has all its memory from the start, so no push allocates. When it is taken back, only its head keeps
 * memory, though its reader maps it. The reader sees the overflow, and follows no entry.
 */
TEST(memory_is_given_and_taken_back)
{
	assert_true(memory_of(w) >= queue_bytes(64));
	commit(w, 3);
	assert_int_equal(queue_ring(w->seen)[1].seq, 9);
	ring_out_free(w->out, true);
	w->out = NULL;
	assert_int_equal(memory_of(w), QUEUE_ENTRIES_OFFSET);
	assert_true(overflowed(w));
	assert_int_equal(head(w), 3);
	assert_int_equal(queue_ring(w->seen)[1].seq, 0);
}

/* Where a page holds the head and entries (arm64), the memory behind that page is taken back. */
TEST(memory_is_taken_back_where_pages_are_large)
{
	struct queue_cursor *cursor = aligned_alloc(64, sizeof(*cursor));
	size_t bytes = queue_bytes(4096);
	struct ring_out *out;
	const struct queue *seen;
	struct stat st;
	int fd;

	memset(cursor, 0, sizeof(*cursor));
	assert_int_equal(ring_out_new(4096, cursor, 7, &out, &fd), 0);
	seen = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(seen, MAP_FAILED);
	ring_out_begin(out, 7);
	for (uint64_t seq = 8; seq < 8 + 4096; seq++)
		ring_out_push(out, &(struct queue_entry){.seq = seq, .kind = QUEUE_ADDED, .new_ref = 1}, seq);
	ring_out_publish(out);
	large_page_bytes = 65536;
	ring_out_free(out, true);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_blocks * 512, 65536);
	assert_int_equal(atomic_load(&((struct queue *)(uintptr_t)seen)->state), QUEUE_OVERFLOWED);
	for (unsigned i = 0; i < 4096; i++)
		assert_int_equal(queue_ring(seen)[i].seq, 0);
	munmap((void *)(uintptr_t)seen, bytes);
	close(fd);
	free(cursor);
	(void)w;
}

/* A queue that is not taken back can be read to its end after its writer ended. */
TEST(a_queue_can_be_read_after_its_writer)
{
	commit(w, 3);
	ring_out_free(w->out, false);
	w->out = NULL;
	assert_int_equal(queue_ring(w->seen)[2].seq, 10);
	assert_false(overflowed(w));
}

/* Published entries come in order, once each, with the time of their push. */
TEST(entries_show_when_published)
{
	ring_out_begin(w->out, w->seq);
	ring_out_push(w->out,
		      &(struct queue_entry){
			      .seq = 8, .kind = QUEUE_UPDATED, .resource = 3, .old_ref = 11, .new_ref = 12},
		      5000000000ull * 1000000u);
	assert_int_equal(head(w), 0);
	assert_true(ring_out_publish(w->out));
	assert_false(ring_out_publish(w->out));
	assert_int_equal(head(w), 1);
	assert_int_equal(queue_ring(w->seen)[0].seq, 8);
	assert_int_equal(queue_ring(w->seen)[0].kind, QUEUE_UPDATED);
	assert_int_equal(queue_ring(w->seen)[0].resource, 3);
	assert_int_equal(queue_ring(w->seen)[0].old_ref, 11);
	assert_int_equal(queue_ring(w->seen)[0].new_ref, 12);
	assert_int_equal(queue_ring(w->seen)[0].pushed_ms, (uint32_t)5000000000ull);
	assert_int_equal(ring_out_age_ms(w->out, 5000000030ull * 1000000u), 30);
	w->seq = 8;
	assert_false(commit(w, 0));
}

TEST(the_lowest_unread_seq_follows_the_reader)
{
	commit(w, 3);
	assert_int_equal(ring_out_lowest(w->out), 8);
	assert_int_equal(ring_out_unread(w->out), 3);
	atomic_store(&w->cursor->consumed, 2);
	assert_int_equal(ring_out_lowest(w->out), 10);
	atomic_store(&w->cursor->consumed, 3);
	assert_int_equal(ring_out_lowest(w->out), UINT64_MAX);
	assert_int_equal(ring_out_age_ms(w->out, UINT64_MAX), 0);
}

/*
 * A full queue overflows and keeps its unread entries. The first commit that finds it empty reopens it, with
 * the seq before that commit as its base. It wakes its reader meanwhile.
 */
TEST(a_full_queue_overflows_and_reopens_when_empty)
{
	commit(w, 60);
	/* 64 fit; a commit that does not fit is not shown in part */
	assert_true(commit(w, 5));
	assert_true(overflowed(w));
	assert_int_equal(head(w), 60);
	assert_int_equal(ring_out_overflows(w->out), 1);
	assert_int_equal(ring_out_lowest(w->out), UINT64_MAX);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(queue_ring(w->seen)[i].seq, 8 + i);
	assert_true(commit(w, 1));
	atomic_store(&w->cursor->consumed, 59);
	assert_true(commit(w, 1));
	assert_true(overflowed(w));
	atomic_store(&w->cursor->consumed, 60);
	assert_int_equal(w->seen->openings, 1);
	assert_false(commit(w, 0));
	assert_false(overflowed(w));
	assert_int_equal(w->seen->openings, 2);
	assert_int_equal(w->seen->base, w->seq);
	assert_true(commit(w, 2));
	assert_int_equal(head(w), 62);
	assert_int_equal(queue_ring(w->seen)[60].seq, w->seq - 1);
	assert_int_equal(ring_out_lowest(w->out), w->seq - 1);
}

/* A commit larger than the queue overflows it, empty or just reopened. */
TEST(a_commit_larger_than_the_queue_overflows_it)
{
	assert_true(commit(w, 65));
	assert_true(overflowed(w));
	assert_int_equal(head(w), 0);
	assert_true(commit(w, 200));
	assert_true(overflowed(w));
	assert_int_equal(w->seen->openings, 2);
	assert_int_equal(ring_out_overflows(w->out), 2);
}

TEST(room_made_during_a_commit_is_used)
{
	commit(w, 64);
	ring_out_begin(w->out, w->seq);
	atomic_store(&w->cursor->consumed, 1);
	ring_out_push(w->out, &(struct queue_entry){.seq = 100}, 0);
	assert_true(ring_out_is_open(w->out));
	assert_true(ring_out_publish(w->out));
	assert_int_equal(queue_ring(w->seen)[0].seq, 100);
}

/* The ring goes around many times, and every entry comes once, in order. */
TEST(the_ring_goes_around)
{
	uint64_t next = 8, read = 0;

	for (unsigned i = 0; i < 1000; i++) {
		commit(w, i % 64);
		for (; read < head(w); read++)
			assert_int_equal(queue_ring(w->seen)[read % 64].seq, next++);
		atomic_store(&w->cursor->consumed, read);
	}
	assert_false(overflowed(w));
	assert_int_equal(next, w->seq + 1);
}

/* Whatever the reader stores as consumed, neither unread entries nor other memory is overwritten. */
TEST(garbage_from_a_reader_harms_only_its_queue)
{
	static const uint64_t nonsense[] = {UINT64_MAX, UINT64_MAX - 63, 1ull << 63, 65, 64 + 1000,
					    0,          1ull << 32};
	commit(w, 64);
	atomic_store(&w->cursor->consumed, 10);
	assert_int_equal(ring_out_unread(w->out), 54);
	for (unsigned i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		atomic_store(&w->cursor->consumed, nonsense[i]);
		assert_int_equal(ring_out_unread(w->out), 54);
		assert_int_equal(ring_out_lowest(w->out), 18);
	}
	atomic_store(&w->cursor->consumed, 9);		/* back */
	assert_int_equal(ring_out_unread(w->out), 54);
	commit(w, 100);
	assert_true(overflowed(w));
	for (unsigned i = 10; i < 64; i++)
		assert_int_equal(queue_ring(w->seen)[i].seq, 8 + i);
	atomic_store(&w->cursor->consumed, UINT64_MAX);
	commit(w, 1);
	assert_true(overflowed(w));
	atomic_store(&w->cursor->consumed, 64);
	commit(w, 1);
	assert_false(overflowed(w));
}
