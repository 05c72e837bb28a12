/* SPDX-License-Identifier: Apache-2.0 */
/* Where pages are larger than slots and headers (arm64), what is mapped at a fixed address begins a page. */
#include "reader-lib/attach/fault_guard.h"
#include "reader-lib/attach/slot_places.h"
#include "shm-layout/page_size.h"
#include "tests/room.h"
#include "tests/support/large_pages.h"

#define PAGE ((size_t)65536)

TEST_CASE(bytes_are_rounded_up_to_whole_pages)
{
	large_page_bytes = PAGE;
	assert_int_equal(page_round_up(0), 0);
	assert_int_equal(page_round_up(1), PAGE);
	assert_int_equal(page_round_up(PAGE), PAGE);
	assert_int_equal(page_round_up(PAGE + 1), 2 * PAGE);
}

TEST_CASE(each_slot_begins_a_page)
{
	struct slot_places places = {0};
	struct allocator memory;
	struct slot *slots[300]; /* more than a field has places */
	int fd = memfd_create("slot", MFD_CLOEXEC);

	large_page_bytes = PAGE;
	assert_int_equal(allocator_init(&memory, NULL, NULL, NULL), 0);
	assert_int_equal(ftruncate(fd, SLOT_BYTES), 0);
	for (unsigned i = 0; i < 300; i++) {
		assert_int_equal(slot_places_map(&places, &memory, fd, &slots[i]), 0);
		slot_places_take(&places);
		atomic_store(&slots[i]->armed, i);
	}
	for (unsigned i = 1; i < 300; i++)
		assert_int_equal(((uintptr_t)slots[i] - (uintptr_t)slots[i - 1]) % PAGE, 0);
	/* each of them is the same file */
	assert_int_equal(atomic_load(&slots[0]->armed), 299);
	slot_places_done(&places, &memory, false);
	close(fd);
}

TEST_CASE(zeros_begin_behind_the_page_of_the_header)
{
	uint8_t *arena = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(arena != MAP_FAILED);
	memset(arena, 1, 4 * PAGE);
	large_page_bytes = PAGE;
	assert_true(fault_guard_blank((const struct header *)(void *)arena, 4 * PAGE));
	assert_int_equal(arena[PAGE - 1], 1);
	for (size_t at = PAGE; at < 4 * PAGE; at++)
		assert_int_equal(arena[at], 0);
	/* an arena that fits into one page has nothing that could fault */
	assert_true(fault_guard_blank((const struct header *)(void *)arena, HEADER_BYTES + 4096));
	assert_int_equal(arena[PAGE - 1], 1);
	munmap(arena, 4 * PAGE);
}
