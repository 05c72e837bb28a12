/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: the reader's side of the pin protocol and of the move to another mapping (steps R0 to R4 of
 * shm-layout/PROTOCOLS.md, Pin and Move).
 *
 * Invariant: no thread reads an arena that mapping_reap() has unmapped. Between R0 and R1' a thread touches
 * only the slot's page, or its replacement, and the struct's `place`. By then the struct may belong to
 * another arena that is current: its place has changed, which R1' sees.
 * Bound: R0 is repeated at most once for each mapping that became current meanwhile, four times at most.
 * Pairs with: mapping_make_current() and mapping_reap().
 *
 * R1' also looks whether the writer has closed the slot (PROTOCOLS.md, Drop). Then the claim is given back,
 * and there is nothing to read until another mapping comes.
 */
#include "reader-lib/attach/snapshot.h"

#include <string.h>
#include <sys/eventfd.h>

#include "reader-lib/attach/connection.h"
#include "reader-lib/attach/fault_guard.h"
#include "shm-layout/time_ns.h"

#define TRIES 4
#define STEP_NS 200000ull

/* Snapshots of different threads lie on different stacks, so their searches begin at different cells. */
static inline unsigned
cell_hint(const void *address)
{
	return (unsigned)(((uintptr_t)address >> 6) * 0x9e3779b97f4a7c15ull >> 40);
}

/*
 * Drive the connection, for callers that never dispatch. Does not wait, not even for a lock. At most once in
 * 200 µs.
 */
static __attribute__((noinline)) void
nudge(struct informer *inf)
{
	uint64_t now = time_ns(CLOCK_MONOTONIC);
	uint64_t next = atomic_load_explicit(&inf->next_step_ns, memory_order_relaxed);
	int saved = errno;

	if (now < next ||
	    !atomic_compare_exchange_strong_explicit(&inf->next_step_ns, &next, now + STEP_NS,
						     memory_order_relaxed, memory_order_relaxed))
		return;
	if (pthread_mutex_trylock(&inf->lock) == 0) {
		/* This step took the news from the descriptors: dispatch must wake up and report it. */
		if (connection_step(inf))
			eventfd_write(inf->untold, 1);
		pthread_mutex_unlock(&inf->lock);
	}
	errno = saved;
}

/*
 * Whether a superseded mapping may be read for now. The first call within a claim drives the connection
 * before it looks.
 */
static __attribute__((noinline)) bool
readable_for_now(struct informer *inf, const struct mapping *m, bool *nudged)
{
	if (!*nudged)
		nudge(inf);
	*nudged = true;
	return atomic_load_explicit(&inf->current, memory_order_relaxed) == m && !slot_is_closed(m->slot);
}

/* Claim a cell of the current mapping. */
static int
claim(struct informer *inf, unsigned hint, struct mapping **ret_mapping, struct pin_cell **ret_cell)
{
	bool nudged = false;

	for (int i = 0; i < TRIES; i++) {
		/*
		 * R0 meets mapping_make_current() (mapping.c): the place was set before. Without acquire a
		 * slot could be claimed through an unset pointer. The second load, R1', comes after R1's
		 * fence, which meets the one in mapping_reap(): either R1' sees the new mapping, or the
		 * reaper sees our cell. Without R1' the arena could be unmapped under us. R1' acquires, too:
		 * the struct may have become another arena's since.
		 */
		struct mapping *m = atomic_load_explicit(&inf->current, memory_order_acquire);	/* R0 */
		struct pin_cell *cell;
		struct slot *slot;

		if (unlikely(!m)) {
			if (nudged)
				break;
			nudge(inf);
			nudged = true;
			continue;
		}
		slot = mapping_place(m);
		cell = slot_claim(slot, hint);							/* R1 */
		if (unlikely(!cell))
			return INFORMER_E_BUSY;
		if (likely(atomic_load_explicit(&inf->current, memory_order_acquire) == m &&	/* R1' */
			   mapping_place(m) == slot)) {
			if (likely(!mapping_superseded(m)) || readable_for_now(inf, m, &nudged)) {
				*ret_mapping = m;
				*ret_cell = cell;
				return 0;
			}
		}
		slot_unpin(cell);
	}
	return INFORMER_E_NOT_READY;
}

/* R2 and R3, with a claimed cell. Gives the cell back on failure. */
static inline int
open_snapshot(struct informer *inf, struct mapping *m, struct pin_cell *cell, struct snapshot *s)
{
	struct header *h = (struct header *)(uintptr_t)m->header;
	uint64_t newest, offset, committed, epoch = 0;
	int r;

	newest = slot_load_newest(h);                                                           /* R2' */
	offset = slot_load_root(h);								/* R2 */
	/*
	 * R2'' (PROTOCOLS.md, Revoke): a pin does not protect a root that was published after our slot was
	 * closed. A thread that loaded such a root, by acquire, sees the slot closed here.
	 */
	if (unlikely(slot_is_closed(m->slot))) {
		s->cell = NULL;
		s->alive = NULL;
		slot_unpin(cell);
		return INFORMER_E_NOT_READY;
	}
	/*
	 * Meets the release stores in writer/arena/arena.c. It comes after R2, so it covers all that the root
	 * reaches. Loaded before the root it could be too small, and good refs would look damaged.
	 */
	committed = atomic_load_explicit(&h->committed_bytes, memory_order_acquire);
	if (unlikely(committed > atomic_load_explicit(&m->checked, memory_order_relaxed)))
		committed = mapping_grown(m, committed);
	s->view = (struct arena_view){(const uint8_t *)h, committed, m->verifier};
	s->inf = inf;
	s->mapping = m;
	s->cell = cell;
	s->loans = NULL;
	s->alive = inf->alive;
	s->root = root_load(&s->view, offset, &s->resource_count);
	if (likely(s->root))
		epoch = __atomic_load_n(&s->root->epoch, __ATOMIC_RELAXED);
	if (unlikely(epoch < EPOCH_FIRST || epoch < newest)) {
		r = offset == 0 ? INFORMER_E_NOT_READY : snapshot_validate(s, INFORMER_E_CORRUPT);
		s->cell = NULL;
		s->alive = NULL;
		slot_unpin(cell);
		return r == INFORMER_E_EXPIRED ? INFORMER_E_NOT_READY : r;
	}
	slot_pin(cell, epoch);									/* R3 */
	return 0;
}

int
informer_begin(struct informer *inf, struct informer_snapshot *ret_snapshot)
{
	struct snapshot *s = (struct snapshot *)(void *)ret_snapshot;
	struct mapping *m;
	struct pin_cell *cell;
	int r;

	if (unlikely(!inf || !s))
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	r = claim(inf, cell_hint(s), &m, &cell);
	return unlikely(r < 0) ? r : open_snapshot(inf, m, cell, s);
}

int
snapshot_begin_on(struct informer *inf, struct mapping *m, struct informer_snapshot *ret_snapshot)
{
	struct snapshot *s = (struct snapshot *)(void *)ret_snapshot;
	struct pin_cell *cell = slot_claim(m->slot, cell_hint(s));				/* R1 */

	if (!cell)
		return INFORMER_E_BUSY;
	if (slot_is_closed(m->slot)) {								/* R1' */
		slot_unpin(cell);
		return INFORMER_E_NOT_READY;
	}
	return open_snapshot(inf, m, cell, s);
}

void
snapshot_expire(const struct snapshot *s)
{
	struct mapping *m = s->mapping;

	/*
	 * In a replaced arena, informerd does not take back the pages that readers touch again: map our own
	 * zeros. In an arena that goes on, informerd does, and a reader that was only dropped may still read
	 * lent strings. Relaxed: a second thread need not wait for the zeros.
	 */
	if (atomic_load_explicit(m->state, memory_order_relaxed) == HEADER_REVOKED &&
	    !atomic_exchange_explicit(&m->blank, true, memory_order_relaxed))
		(void)!fault_guard_blank(m->header, (size_t)m->max_bytes);
}

void
snapshot_stretch(struct informer_snapshot *snapshot)
{
	struct snapshot *s = (struct snapshot *)(void *)snapshot;
	struct header *h = (struct header *)(uintptr_t)s->mapping->header;
	/* As in open_snapshot(). */
	uint64_t committed = atomic_load_explicit(&h->committed_bytes, memory_order_acquire);

	if (unlikely(committed > atomic_load_explicit(&s->mapping->checked, memory_order_relaxed)))
		committed = mapping_grown(s->mapping, committed);
	if (committed > s->view.committed)
		s->view.committed = committed;
}

static __attribute__((noinline)) void
end_loans(struct snapshot *s)
{
	while (s->loans) {
		struct snapshot_loan *loan = s->loans;

		s->loans = loan->next;
		allocator_put(&loan->memory, loan);
	}
}

void
informer_end(struct informer_snapshot *snapshot)
{
	struct snapshot *s = (struct snapshot *)(void *)snapshot;

	if (unlikely(!s || !s->cell))
		return;
	if (unlikely(s->loans))
		end_loans(s);
	if (!forked(s->inf))
		slot_unpin(s->cell);
	s->cell = NULL;
	s->alive = NULL;
}

int
informer_snapshot_moment(const struct informer_snapshot *snapshot, struct informer_moment *ret)
{
	const struct snapshot *s = snapshot_of(snapshot);
	struct informer_moment moment;
	int r = snapshot_usable(s);

	if (r < 0)
		return r;
	moment.generation = s->mapping->generation;
	moment.epoch = s->root->epoch;
	moment.seq = s->root->seq;
	memcpy(moment.lineage, s->root->lineage, sizeof(moment.lineage));
	moment.committed_boot_ns = s->root->committed_boot_ns;
	moment.committed_wall_ns = s->root->committed_wall_ns;
	r = snapshot_validate(s, 0);
	if (r == 0)
		*ret = moment;
	return r;
}
