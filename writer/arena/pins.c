/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of all attached readers (pins.h). Each scan reads each cell once and clamps its value into [the
 * cell's last counted value, current epoch].
 *
 * An honest cell only rises: the next claim follows the release of the cell, and so loads the same root or a
 * later one.
 */
#include "writer/arena/pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"

#define ALL_CELLS ((1ull << SLOT_CELLS) - 1)

/*
 * A cell as the last scan saw it.
 *
 * raw       its value
 * pin       the epoch that it protects, or protected before it was freed; at first the epoch at which the
 *           slot was made
 * since_ns  when it was first seen to protect that epoch
 */
struct seen_cell {
	uint64_t raw;
	uint64_t pin;
	uint64_t since_ns;
};

struct seen_slot {
	struct slot *page;	/* NULL: not in use */
	int fd;
	bool revoked;		/* its pins do not count */
	/* all bits ever seen: a reader that clears a bit does not hide the cell */
	uint64_t touched;
	struct seen_cell cells[SLOT_CELLS];
};

/*
 * horizon  the last result of pins_horizon()
 * scanned  the epoch that was current at that scan
 */
struct pins {
	unsigned max;
	unsigned used;		/* all slots in use have ids below it */
	unsigned revoked;
	uint64_t horizon;
	uint64_t scanned;
	struct seen_slot *slots[];
};

struct pins *
pins_new(unsigned max_slots)
{
	struct pins *s = calloc(1, sizeof(*s) + (size_t)max_slots * sizeof(s->slots[0]));

	if (s)
		s->max = max_slots;
	return s;
}

void
pins_free(struct pins *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->used; i++)
		pins_remove(s, i);
	free(s);
}

/*
 * Make a page that its reader may write and no process may resize. Mode 0600: memfd's own 0777 would let
 * other users re-open it.
 */
static int
make_page(struct slot **ret_page, int *ret_fd)
{
	int fd = memfd_create("informer-slot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *page = MAP_FAILED;
	int r;

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0600) < 0 || ftruncate(fd, SLOT_BYTES) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		goto fail;
	page = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED || madvise(page, SLOT_BYTES, MADV_DONTFORK) < 0)
		goto fail;
	*ret_page = page;
	*ret_fd = fd;
	return 0;
fail:
	r = -errno;
	if (page != MAP_FAILED)
		munmap(page, SLOT_BYTES);
	close(fd);
	return r;
}

int
pins_add(struct pins *s, uint64_t epoch, unsigned *ret_id, int *ret_fd)
{
	struct seen_slot *slot;
	unsigned id = 0;
	int r;

	while (id < s->max && s->slots[id])
		id++;
	if (id == s->max)
		return -EUSERS;
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	r = make_page(&slot->page, &slot->fd);
	if (r < 0) {
		free(slot);
		return r;
	}
	for (unsigned c = 0; c < SLOT_CELLS; c++)
		slot->cells[c].pin = epoch;
	s->slots[id] = slot;
	if (id >= s->used)
		s->used = id + 1;
	*ret_id = id;
	*ret_fd = slot->fd;
	return 0;
}

void
pins_remove(struct pins *s, unsigned id)
{
	struct seen_slot *slot = id < s->used ? s->slots[id] : NULL;

	if (!slot)
		return;
	s->revoked -= slot->revoked;
	munmap(slot->page, SLOT_BYTES);
	close(slot->fd);
	free(slot);
	s->slots[id] = NULL;
	while (s->used > 0 && !s->slots[s->used - 1])
		s->used--;
}

void
pins_close(struct pins *s, unsigned id)
{
	struct slot *page = pins_page(s, id);

	if (!page)
		return;
	slot_close(page);
	/*
	 * After D1, before D2. Meets R1's fence in slot_claim() (shm-layout/slot.h): every scan from now on
	 * sees the cell of a reader that looked at `closed` before D1. Without it a slot could be given up
	 * while a snapshot begins in it.
	 */
	slot_fence();
}

void
pins_revoke(struct pins *s, unsigned id)
{
	struct seen_slot *slot = id < s->used ? s->slots[id] : NULL;

	if (!slot || slot->revoked)
		return;
	pins_close(s, id);
	slot->revoked = true;
	s->revoked++;
}

unsigned
pins_revoked(const struct pins *s)
{
	return s->revoked;
}

bool
pins_are_free(struct pins *s, unsigned id)
{
	struct seen_slot *slot = id < s->used ? s->slots[id] : NULL;

	if (!slot)
		return true;
	slot->touched |= atomic_load_explicit(&slot->page->touched, memory_order_relaxed) & ALL_CELLS;
	for (uint64_t rest = slot->touched; rest; rest &= rest - 1)
		/* As in pins_horizon(): what was read under the pin was read before. */
		if (atomic_load_explicit(&slot->page->cells[__builtin_ctzll(rest)].epoch,
					 memory_order_acquire) != CELL_FREE)
			return false;
	return true;
}

struct slot *
pins_page(struct pins *s, unsigned id)
{
	return id < s->used && s->slots[id] ? s->slots[id]->page : NULL;
}

static uint64_t
max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The lowest epoch that a changed cell can protect. The change is another claim, unless the same claim went
 * from ACQUIRING to its epoch. A claim made after a scan meets that scan's fence, so it loads the root that
 * was current then (`scanned`) or a later one.
 */
static uint64_t
cell_floor(const struct pins *s, const struct seen_cell *cell)
{
	return cell->raw == CELL_ACQUIRING ? cell->pin : max_of(s->scanned, cell->pin);
}

/*
 * Note a cell's new value. since_ns changes if the cell was free or protects another epoch: a reader that
 * stores the same epoch anew keeps the pin's age.
 */
static void
look_at_cell(const struct pins *s, struct seen_cell *cell, uint64_t raw, uint64_t current, uint64_t *now)
{
	uint64_t pin = cell->pin;
	bool was_free = cell->raw == CELL_FREE;

	if (raw == cell->raw)
		return;
	if (raw != CELL_FREE)
		pin = min_of(max_of(raw == CELL_ACQUIRING ? 0 : raw, cell_floor(s, cell)), current);
	if (was_free || pin != cell->pin) {
		if (!*now)
			*now = time_ns(CLOCK_BOOTTIME);
		cell->since_ns = *now;
	}
	cell->pin = pin;
	cell->raw = raw;
}

uint64_t
pins_horizon(struct pins *s, uint64_t current)
{
	uint64_t oldest = current, now = 0;

	/*
	 * After W1, before W2. Meets R1's fence in slot_claim() (shm-layout/slot.h): the scan below sees the
	 * cell of a reader that loaded the root before W1. Without it the scan could finish before the new
	 * root is visible. A reader then pins the old root unseen, and its blocks are reused.
	 */
	slot_fence();
	for (unsigned i = 0; i < s->used; i++) {
		struct seen_slot *slot = s->slots[i];

		if (!slot)
			continue;
		slot->touched |= atomic_load_explicit(&slot->page->touched, memory_order_relaxed) & ALL_CELLS;
		for (uint64_t rest = slot->touched; rest; rest &= rest - 1) {
			unsigned c = (unsigned)__builtin_ctzll(rest);
			struct seen_cell *cell = &slot->cells[c];

			/*
			 * Meets the release stores of slot_pin() and slot_unpin() (shm-layout/slot.h): the
			 * reader's reads end before the writer reuses a block. Without it a late read could
			 * find the next block in that place.
			 */
			look_at_cell(s, cell,
				     atomic_load_explicit(&slot->page->cells[c].epoch, memory_order_acquire),
				     current, &now);
			if (cell->raw != CELL_FREE && !slot->revoked && cell->pin < oldest)
				oldest = cell->pin;
		}
	}
	s->scanned = max_of(s->scanned, current);
	s->horizon = max_of(s->horizon, oldest);
	return s->horizon;
}

bool
pins_take_armed(struct pins *s, unsigned id, uint32_t answers)
{
	struct seen_slot *slot = id < s->used ? s->slots[id] : NULL;

	if (!slot || (atomic_load_explicit(&slot->page->armed, memory_order_relaxed) & answers) == 0)
		return false;
	/*
	 * One step, as the fetch_or of arm() and arm_for_handlers() (reader-lib/events): a bit that is set
	 * meanwhile is answered here or stays. A load and a store could clear it unanswered, and its reader
	 * would sleep on.
	 */
	return (atomic_fetch_and_explicit(&slot->page->armed, ~answers, memory_order_seq_cst) & answers) != 0;
}

static void
add_to_stat(const struct seen_slot *slot, struct slot_stat *stat)
{
	for (unsigned c = 0; c < SLOT_CELLS; c++) {
		const struct seen_cell *cell = &slot->cells[c];

		if (cell->raw == CELL_FREE)
			continue;
		stat->pins++;
		if (!stat->oldest_epoch || cell->pin < stat->oldest_epoch ||
		    (cell->pin == stat->oldest_epoch && cell->since_ns < stat->oldest_since_ns)) {
			stat->oldest_epoch = cell->pin;
			stat->oldest_since_ns = cell->since_ns;
		}
	}
}

void
pins_stat(struct pins *s, unsigned id, struct slot_stat *ret)
{
	*ret = (struct slot_stat){ 0 };
	if (id >= s->used || !s->slots[id])
		return;
	add_to_stat(s->slots[id], ret);
	ret->revoked = s->slots[id]->revoked;
}

int
pins_oldest(struct pins *s, struct slot_stat *ret)
{
	int oldest = -1;

	*ret = (struct slot_stat){ 0 };
	for (unsigned i = 0; i < s->used; i++) {
		struct slot_stat stat;

		pins_stat(s, i, &stat);
		if (stat.pins && !stat.revoked && (oldest < 0 || stat.oldest_epoch < ret->oldest_epoch)) {
			*ret = stat;
			oldest = (int)i;
		}
	}
	return oldest;
}
