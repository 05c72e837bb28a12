/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue protocol, both sides as threads of one process: also meant for the thread sanitizer (make tsan).
 *
 * A world in miniature: one object, whose state is a number, the seq of its last change. States and roots
 * stand in plain cells that are overwritten with nonsense as soon as the protocol says that nobody can look
 * at them any more.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "writer/serve/ring_out.h"
#include "writer/arena/pins.h"

#define READERS 3
#define CELLS 8192		/* refs */
#define HELD_MAX 300 		/* the budget: who holds back more overflows */
#if defined(__SANITIZE_THREAD__)
#define CHANGES 20000ull	/* at least, and until what follows was seen so often */
#define TOLD 2000		/* each reader, by entries */
#else
#define CHANGES 120000ull
#define TOLD 20000
#endif
#define CAUGHT_UP 20		/* those that rest */

struct cell {
	uint64_t epoch;		/* of a root; 0: a state */
	uint64_t seq;
	uint32_t state;		/* of a root: ref */
};

struct note {
	uint64_t at;		/* epoch, or seq */
	uint32_t ref;
};

/* First in, first out. */
struct notes {
	struct note ring[CELLS];
	unsigned head, count;
};

struct reader {
	struct world *world;
	struct slot *slot;
	struct ring_out *out;
	unsigned pause;		/* 0: never; else it gives its processor away at every so many entries */
	pthread_t thread;
	uint64_t cursor, openings, wrong;
	_Atomic uint64_t told, caught_up;
};

struct world {
	_Atomic uint64_t root;	/* ref */
	struct cell cells[CELLS];
	_Atomic bool stop;
	struct reader readers[READERS];
	struct pins *pins;
	/* the writer's books */
	uint32_t vacant[CELLS];
	unsigned vacant_count;
	struct notes left, retired;
	uint64_t epoch, seq;
};

/* ---- the reader: Q1 to Q5 ---- */

/* Everything up to the root is told by one event a key; here there is one key. */
static void
catch_up(struct reader *r, const struct cell *root)
{
	if (root->seq <= r->cursor)
		return;
	if (r->world->cells[root->state].seq != root->seq)
		r->wrong++;
	r->cursor = root->seq;
	atomic_fetch_add(&r->caught_up, 1);
}

/* False: begin anew at Q1. */
static bool
look(struct reader *r, const struct cell *root)
{
	struct queue *q = (struct queue *)(uintptr_t)ring_out_page(r->out);
	uint64_t consumed = atomic_load_explicit(&r->slot->queues[0].consumed, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&q->head, memory_order_acquire);		/* Q2 */
	uint32_t state;
	uint64_t openings;

	if (r->pause)
		sched_yield();
	state = atomic_load_explicit(&q->state, memory_order_acquire);
	if (r->pause)
		sched_yield();
	openings = atomic_load_explicit(&q->openings, memory_order_acquire);
	if (state == QUEUE_OVERFLOWED) {						/* Q3 */
		catch_up(r, root);
		atomic_store_explicit(&r->slot->queues[0].consumed, head, memory_order_release);
		return true;
	}
	if (openings != r->openings) {							/* Q4 */
		uint64_t base = atomic_load_explicit(&q->base, memory_order_acquire);

		if (root->seq < base)
			return false;
		if (r->cursor < base)
			catch_up(r, root);
		r->openings = openings;
	}
	for (; consumed < head; consumed++) {						/* Q5 */
		struct queue_entry e = queue_ring(q)[consumed % q->capacity];

		if (r->pause && consumed % r->pause == 0)
			sched_yield();
		if (e.seq > r->cursor) {
			/* no gap, and both states are whole */
			if (e.seq != r->cursor + 1 || r->world->cells[e.new_ref].seq != e.seq ||
			    r->world->cells[e.old_ref].seq != e.seq - 1)
				r->wrong++;
			r->cursor = e.seq;
			atomic_fetch_add_explicit(&r->told, 1, memory_order_relaxed);
		}
		atomic_store_explicit(&r->slot->queues[0].consumed, consumed + 1, memory_order_release);
	}
	return true;
}

static void *
read_on(void *context)
{
	struct reader *r = context;
	unsigned turn = 0;
	bool last = false;

	while (!last) {
		struct pin_cell *cell;
		const struct cell *root;

		last = atomic_load(&r->world->stop); /* what was there before is seen below */
		cell = slot_claim(r->slot, turn++);					/* Q1 */
		root = &r->world->cells[atomic_load_explicit(&r->world->root, memory_order_acquire)];
		slot_pin(cell, root->epoch);
		if (r->pause && turn % 64 == 0)
			sched_yield();
		if (!look(r, root))
			last = false;
		slot_unpin(cell);
		if (turn % 256 == 0 || (r->pause && turn % 4 == 0))
			sched_yield();
	}
	return NULL;
}

/* ---- the writer: P1 to P3 ---- */

static void
append(struct notes *n, uint64_t at, uint32_t ref)
{
	assert_true(n->count < CELLS);
	n->ring[(n->head + n->count++) % CELLS] = (struct note){at, ref};
}

static bool
take_below(struct notes *n, uint64_t limit, uint32_t *ret_ref)
{
	if (n->count == 0 || n->ring[n->head].at >= limit)
		return false;
	*ret_ref = n->ring[n->head].ref;
	n->head = (n->head + 1) % CELLS;
	n->count--;
	return true;
}

static uint64_t
lowest(struct world *w)
{
	uint64_t lowest = UINT64_MAX;

	for (unsigned i = 0; i < READERS; i++) {
		uint64_t seq = ring_out_lowest(w->readers[i].out);

		lowest = seq < lowest ? seq : lowest;
	}
	return lowest;
}

/* What no queue shows is retired at the working epoch; what no pin protects is overwritten. */
static void
let_go(struct world *w)
{
	uint64_t limit = lowest(w), horizon;
	uint32_t ref;

	while (w->left.count > HELD_MAX && limit != UINT64_MAX) {
		for (unsigned i = 0; i < READERS; i++)
			if (ring_out_lowest(w->readers[i].out) == limit)
				ring_out_overflow(w->readers[i].out);
		limit = lowest(w);
		if (w->left.ring[w->left.head].at < limit)
			break;
	}
	while (take_below(&w->left, limit, &ref))
		append(&w->retired, w->epoch + 1, ref);
	horizon = pins_horizon(w->pins, w->epoch);
	while (take_below(&w->retired, horizon + 1, &ref)) {
		w->cells[ref] = (struct cell){~0ull, ~0ull, ~0u};
		w->vacant[w->vacant_count++] = ref;
	}
}

static uint32_t
new_cell(struct world *w, struct cell content)
{
	uint32_t ref;

	while (w->vacant_count == 0) {
		sched_yield();
		let_go(w);
	}
	ref = w->vacant[--w->vacant_count];
	w->cells[ref] = content;
	return ref;
}

static void
commit(struct world *w, unsigned changes)
{
	struct queue_entry entries[16];
	uint32_t old_root = (uint32_t)atomic_load_explicit(&w->root, memory_order_relaxed), root;
	uint32_t state = w->cells[old_root].state;
	uint64_t base = w->seq;

	for (unsigned i = 0; i < changes; i++) {
		uint32_t next = new_cell(w, (struct cell){.seq = ++w->seq});

		entries[i] = (struct queue_entry){
			.seq = w->seq, .kind = QUEUE_UPDATED, .old_ref = state, .new_ref = next};
		state = next;
	}
	root = new_cell(w, (struct cell){w->epoch + 1, w->seq, state});
	append(&w->retired, w->epoch + 1, old_root);
	atomic_store_explicit(&w->root, root, memory_order_release);			/* W1 */
	w->epoch++;
	for (unsigned i = 0; i < changes; i++)
		append(&w->left, entries[i].seq, entries[i].old_ref);
	for (unsigned i = 0; i < READERS; i++) {
		ring_out_begin(w->readers[i].out, base);				/* P1 */
		for (unsigned k = 0; k < changes; k++)
			ring_out_push(w->readers[i].out, &entries[k], 0);		/* P2, P3 */
		ring_out_publish(w->readers[i].out);
	}
	let_go(w);
}

/* Everything was seen often enough. */
static bool
is_enough(struct world *w)
{
	bool enough = w->seq >= CHANGES;

	for (unsigned i = 0; i < READERS; i++)
		enough &= atomic_load(&w->readers[i].told) >= TOLD;
	return enough && atomic_load(&w->readers[1].caught_up) >= CAUGHT_UP &&
	       atomic_load(&w->readers[2].caught_up) >= CAUGHT_UP;
}

/*
 * Whatever the interleaving, a reader that keeps up, one that rests, and one that rests often find what they
 * follow whole, miss nothing, and end with the last state, though they overflow on the way.
 */
static void
readers_find_what_they_follow_whole(void **state)
{
	static struct world w;
	static const unsigned pauses[READERS] = {0, 64, 1};
	uint32_t first;

	(void)state;
	memset(&w, 0, sizeof(w));
	for (uint32_t i = 1; i < CELLS; i++)
		w.vacant[w.vacant_count++] = i;
	w.pins = pins_new(READERS);
	w.epoch = EPOCH_FIRST;
	first = new_cell(&w, (struct cell){.seq = 0});
	atomic_store(&w.root, new_cell(&w, (struct cell){w.epoch, 0, first}));
	for (unsigned i = 0; i < READERS; i++) {
		struct reader *r = &w.readers[i];
		unsigned id;
		int fd;

		assert_int_equal(pins_add(w.pins, w.epoch, &id, &fd), 0);
		*r = (struct reader){.world = &w, .slot = pins_page(w.pins, id), .pause = pauses[i]};
		assert_int_equal(ring_out_new(i == 2 ? 64 : 1024, &r->slot->queues[0], 0, &r->out, &fd), 0);
	}
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&w.readers[i].thread, NULL, read_on, &w.readers[i]), 0);
	do {
		commit(&w, 1 + (unsigned)(w.seq % 7));
		/* one reader after the other gets its chance to keep up */
		if (w.epoch % 8 == 0)
			sched_yield();
	} while (!is_enough(&w));
	atomic_store(&w.stop, true);
	for (unsigned i = 0; i < READERS; i++) {
		struct reader *r = &w.readers[i];

		pthread_join(r->thread, NULL);
		assert_int_equal(r->wrong, 0);
		assert_int_equal(r->cursor, w.seq);
		assert_true(r->told > 0);
		ring_out_free(r->out);
	}
	pins_free(w.pins);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_find_what_they_follow_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
