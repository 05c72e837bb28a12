/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena whose header changes while it is being mapped: what is used of it is what was checked. It changes
 * when the look at the header is over and the arena is not mapped yet: the mapping lies within the file and
 * within its own address range all the same.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reader-lib/attach/mapping.h"
#include "tests/room.h"
#include "tests/support/lone_reader.h"
#include "tests/support/store_fixture.h"

static struct header *change; /* when a header's mapping is given back; NULL: nothing does */
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

static int
again(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

TEST_CASE(what_is_checked_of_a_header_is_what_is_used)
{
	const uint64_t elsewhere[] = {0, HEADER_BYTES, 1ull << 40, UINT64_MAX};
	struct store_fixture *fx = store_fixture_new(0);
	struct header *h = fx->arena->header;
	uint64_t max_bytes = h->max_bytes, committed = atomic_load(&h->committed_bytes);
	struct message_welcome welcome = {0};
	struct informer *inf;
	struct mapping *m;
	struct slot *slot;
	int slot_fd;

	arena_set_state(fx->arena, HEADER_LIVE);
	slot = lone_slot_new(&slot_fd);
	inf = lone_reader_new(fx->arena, fx->arena->fd, slot_fd, 0);
	assert_non_null(inf);
	for (unsigned i = 0; i < 16; i++) {
		const int fds[PROTOCOL_DESCRIPTORS] = {again(fx->arena->fd), again(slot_fd),
						       eventfd(0, EFD_CLOEXEC)};

		max_bytes_then = elsewhere[i / 4];
		committed_then = elsewhere[i % 4];
		change = h;
		pthread_mutex_lock(&inf->lock);
		assert_int_equal(mapping_new(inf, fds, &welcome, &m), 0);
		pthread_mutex_unlock(&inf->lock);
		change = NULL;
		assert_int_equal(changed, i + 1);
		assert_int_equal(m->max_bytes, max_bytes);
		assert_int_equal(atomic_load(&m->checked), committed);
		mapping_free(inf, m, false);
		h->max_bytes = max_bytes;
		atomic_store(&h->committed_bytes, committed);
	}
	informer_detach(inf);
	test_unmap_slot(slot);
	close(slot_fd);
	store_fixture_free(fx);
}
