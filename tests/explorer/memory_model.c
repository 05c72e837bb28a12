/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a load may return: the memory model of C11 by views.
 *
 * Each word (location) has the list of its stores, in the order in which they were made. A thread's view
 * holds, for each location, the oldest store that it may still see. The view grows by the thread's own
 * operations and by joining other views. An acquire load joins the view of the release store it saw; a
 * seq_cst fence joins those of all earlier seq_cst fences. Views carry clocks to compare plain accesses: one
 * happens before another when its clock is in the other thread's view.
 *
 * Real memory always holds the newest store, so that code outside the model (system calls, libraries) can
 * read it.
 *
 * Two facts stay from run to run: which address a location has, and which threads ever used it. Only words
 * that one thread stores and another uses are worth a switch of threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/explorer/machine.h"

#define STORES 160u
#define BUCKETS 8192u
#define VIEWS 32768u

struct store {
	uint64_t value;
	const struct view *given; /* what an acquire load of this store learns; NULL: nothing */
};

/* rewritten: plain bytes were written over it; only the present value can be seen */
struct location {
	uintptr_t canonical;
	unsigned users, writers; /* bits, over all runs */
	unsigned long run;
	uint16_t count, floor;
	bool rewritten;
	struct store stores[STORES];
};

static struct {
	OWN_PAGES struct location *locations;
	unsigned count;
	uint16_t buckets[BUCKETS]; /* location + 1 */
	struct view *views;
	unsigned view_count;
	struct view fences;   /* of all seq_cst fences and stores so far */
	unsigned fence_users; /* bits, over all runs */
} model;

void
model_begin(void)
{
	if (!model.locations) {
		model.locations = own_memory(LOCATIONS * sizeof(model.locations[0]));
		model.views = own_memory(VIEWS * sizeof(model.views[0]));
	}
	model.view_count = 0;
	memset(&model.fences, 0, sizeof(model.fences));
	for (unsigned i = 0; i < thread_count(); i++) {
		struct thread *t = thread_number(i);

		memset(&t->view, 0, sizeof(t->view));
		memset(&t->acquired, 0, sizeof(t->acquired));
		memset(t->saw, 0, sizeof(t->saw));
		t->has_released = t->after_exchange = false;
		t->view.clock[i] = 1;
	}
}

void
view_join(struct view *to, const struct view *from)
{
	for (unsigned i = 0; i < EXPLORER_THREADS; i++)
		to->clock[i] = from->clock[i] > to->clock[i] ? from->clock[i] : to->clock[i];
	for (unsigned i = 0; i < model.count; i++)
		to->at[i] = from->at[i] > to->at[i] ? from->at[i] : to->at[i];
}

static void
view_copy(struct view *to, const struct view *from)
{
	memcpy(to->clock, from->clock, sizeof(to->clock));
	memcpy(to->at, from->at, model.count * sizeof(to->at[0]));
	/* locations that this run has not met yet */
	memset(to->at + model.count, 0, (LOCATIONS - model.count) * sizeof(to->at[0]));
}

static struct view *
new_view(void)
{
	if (model.view_count == VIEWS)
		explorer_bad("the run is too long: %u views", VIEWS);
	return &model.views[model.view_count++];
}

static void
tick(struct thread *t)
{
	t->view.clock[t->number]++;
}

void
model_give(struct view *to)
{
	view_join(to, &running->view);
	tick(running);
}

void
model_take(const struct view *from)
{
	view_join(&running->view, from);
}

/* ---- locations ---- */

static uint64_t
read_word(const void *address, unsigned size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)address;
	case 2:
		return *(const uint16_t *)address;
	case 4:
		return *(const uint32_t *)address;
	default:
		return *(const uint64_t *)address;
	}
}

static void
write_word(void *address, unsigned size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)address = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)address = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)address = (uint32_t)value;
		break;
	default:
		*(uint64_t *)address = value;
		break;
	}
}

static unsigned
find_location(uintptr_t canonical)
{
	unsigned at = (unsigned)(canonical * 0x9e3779b97f4a7c15ull >> 40) % BUCKETS;

	while (model.buckets[at]) {
		if (model.locations[model.buckets[at] - 1].canonical == canonical)
			return model.buckets[at] - 1u;
		at = (at + 1) % BUCKETS;
	}
	if (model.count == LOCATIONS)
		explorer_bad("more than %u atomic words", LOCATIONS);
	model.locations[model.count].canonical = canonical;
	model.buckets[at] = (uint16_t)(model.count + 1);
	return model.count++;
}

static bool
is_shared(const struct location *l)
{
	return l->writers && (l->users & (l->users - 1)) != 0;
}

void
location_rewritten(unsigned index)
{
	model.locations[index].rewritten = true;
}

/* Remember the word's user. If the word turns out to be shared, the choices tried so far are incomplete. */
static void
note_user(struct location *l, bool is_writer)
{
	bool before = is_shared(l);

	if (runs_alone())
		return;
	l->users |= 1u << running->number;
	if (is_writer)
		l->writers |= 1u << running->number;
	if (!before && is_shared(l))
		learned_something();
}

/* Another thread may go on first. Returns the location as it is then. */
static struct location *
arrive(void *address, unsigned size, bool is_writer, uintptr_t pc, unsigned *ret_index)
{
	uintptr_t canonical = (uintptr_t)address;
	struct region *r = region_of((uintptr_t)address, &canonical);
	unsigned index;
	struct location *l;

	index = find_location(canonical);
	l = &model.locations[index];
	note_user(l, is_writer);
	if (is_shared(l))
		may_switch();
	if (r && region_is_gone(r)) {
		char here[160];

		where_is(pc, here, sizeof(here));
		explorer_bad("%s touches what is no longer mapped: %s", running->name, here);
	}
	if (r && is_writer)
		region_touched((uintptr_t)address, size);
	if (l->run != run_number()) {
		l->run = run_number();
		l->count = 1;
		l->floor = 0;
		l->rewritten = false;
		l->stores[0] = (struct store){read_word(address, size), NULL};
	}
	if (r)
		races_location(canonical, index);
	if (l->rewritten) {
		l->rewritten = false;
		if (l->count == STORES)
			explorer_bad("a word was stored more than %u times", STORES);
		l->stores[l->count] = (struct store){read_word(address, size), NULL};
		l->floor = l->count++;
	}
	if (r)
		races_atomic(r, canonical, size, is_writer, pc);
	*ret_index = index;
	return l;
}

static bool
acquires(memory_order order)
{
	return order == memory_order_acquire || order == memory_order_consume ||
	       order == memory_order_acq_rel || order == memory_order_seq_cst;
}

static bool
releases(memory_order order)
{
	return order == memory_order_release || order == memory_order_acq_rel ||
	       order == memory_order_seq_cst;
}

static void
raise(uint16_t *to, unsigned value)
{
	if (*to < value)
		*to = (uint16_t)value;
}

static void
saw(const struct store *s, memory_order order)
{
	if (s->given)
		view_join(acquires(order) ? &running->view : &running->acquired, s->given);
}

static struct event *
note(enum explorer_operation kind, const struct location *l, void *address, unsigned size, memory_order order,
     uintptr_t pc)
{
	struct event *e = history_add(kind, pc);
	uintptr_t canonical = (uintptr_t)address;

	region_of((uintptr_t)address, &canonical);
	e->address = canonical;
	e->size = (uint8_t)size;
	e->order = (uint8_t)order;
	e->alone = !is_shared(l);
	return e;
}

uint64_t
model_load(void *address, unsigned size, memory_order order, uintptr_t pc)
{
	int damage = damage_here(pc, EXPLORER_LOAD);
	unsigned index, oldest, behind = 0;
	struct location *l = arrive(address, size, false, pc, &index);
	struct store *s;
	struct event *e;

	if (damage == EXPLORER_RELAX)
		order = memory_order_relaxed;
	if (order == memory_order_seq_cst)
		raise(&running->view.at[index], model.fences.at[index]);
	oldest = running->view.at[index] > l->floor ? running->view.at[index] : l->floor;
	if (damage == EXPLORER_REPEAT)
		behind = l->count - 1u - running->saw[index];
	else if (is_shared(l))
		behind = choose_old(l->count - oldest);
	s = &l->stores[l->count - 1u - behind];
	raise(&running->view.at[index], l->count - 1u - behind);
	running->saw[index] = (uint16_t)(l->count - 1u - behind);
	saw(s, order);
	running->after_exchange = false;
	e = note(EXPLORER_LOAD, l, address, size, order, pc);
	e->value = s->value;
	e->behind = (uint8_t)behind;
	return s->value;
}

/* Make this the newest store of the location. before: what an exchange saw, whose sequence goes on. */
static void
add_store(struct location *l, unsigned index, void *address, unsigned size, uint64_t value,
	  memory_order order, const struct view *before)
{
	struct view *given = NULL;

	if (l->count == STORES)
		explorer_bad("a word was stored more than %u times", STORES);
	raise(&running->view.at[index], l->count);
	if (releases(order) || running->has_released || before) {
		given = new_view();
		if (releases(order))
			view_copy(given, &running->view);
		else if (running->has_released)
			view_copy(given, &running->released);
		else
			view_copy(given, before);
		if (before)
			view_join(given, before);
		raise(&given->at[index], l->count);
	}
	if (order == memory_order_seq_cst)
		raise(&model.fences.at[index], l->count);
	l->stores[l->count++] = (struct store){value, given};
	write_word(address, size, value);
	tick(running);
}

void
model_store(void *address, unsigned size, uint64_t value, memory_order order, uintptr_t pc)
{
	int damage = damage_here(pc, EXPLORER_STORE);
	unsigned index;
	struct location *l;

	if (damage == EXPLORER_DROP)
		return;
	if (damage == EXPLORER_RELAX)
		order = memory_order_relaxed;
	l = arrive(address, size, true, pc, &index);
	running->after_exchange = false;
	note(EXPLORER_STORE, l, address, size, order, pc)->value = value;
	add_store(l, index, address, size, value, order, NULL);
}

uint64_t
model_exchange(void *address, unsigned size, model_change change, uint64_t argument, const uint64_t *expected,
	       memory_order order, memory_order failed, uintptr_t pc)
{
	int damage = damage_here(pc, EXPLORER_EXCHANGE);
	unsigned index;
	struct location *l = arrive(address, size, true, pc, &index);
	struct store newest = l->stores[l->count - 1u];
	uint64_t mask = size == 8 ? UINT64_MAX : (1ull << 8 * size) - 1;
	bool fails = expected && newest.value != *expected;
	struct event *e;

	if (damage == EXPLORER_RELAX)
		order = memory_order_relaxed;
	if (fails)
		order = failed;
	e = note(EXPLORER_EXCHANGE, l, address, size, order, pc);
	e->before = newest.value;
	e->value = fails ? newest.value : change(newest.value, argument) & mask;
	e->failed = fails;
	raise(&running->view.at[index], l->count - 1u);
	if (order == memory_order_seq_cst)
		raise(&running->view.at[index], model.fences.at[index]);
	saw(&newest, order);
	if (!fails && damage != EXPLORER_DROP)
		add_store(l, index, address, size, e->value, order, newest.given);
	running->after_exchange = !fails && order == memory_order_seq_cst;
	return newest.value;
}

/* ---- fences ---- */

static void
full_fence(void)
{
	struct thread *t = running;

	view_join(&t->view, &t->acquired);
	view_join(&t->view, &model.fences);
	view_join(&model.fences, &t->view);
	view_copy(&t->released, &t->view);
	t->has_released = true;
	tick(t);
}

void
model_fence(memory_order order, uintptr_t pc)
{
	int damage = damage_here(pc, EXPLORER_FENCE);
	struct thread *t = running;

	if (damage >= 0)
		return;
	if (order == memory_order_seq_cst) {
		unsigned before = model.fence_users;

		if (!runs_alone())
			model.fence_users |= 1u << t->number;
		if (before && !(before & (before - 1)) && before != model.fence_users)
			learned_something();
		if (model.fence_users & (model.fence_users - 1))
			may_switch();
	}
	history_add(EXPLORER_FENCE, pc)->order = (uint8_t)order;
	if (order == memory_order_seq_cst) {
		full_fence();
		return;
	}
	if (acquires(order))
		view_join(&t->view, &t->acquired);
	if (releases(order)) {
		view_copy(&t->released, &t->view);
		t->has_released = true;
		tick(t);
	}
}

/* A compiler fence. After a seq_cst exchange the sources use it where that is a full fence. */
void
model_signal_fence(memory_order order)
{
	if (order != memory_order_seq_cst || !running->after_exchange)
		return;
	running->after_exchange = false;
	full_fence();
}
