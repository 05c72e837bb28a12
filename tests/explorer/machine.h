/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the explorer's parts know of each other: threads, choices, views, regions.
 *
 * Everything that a run changes in here is begun anew by *_begin(); what stays from run to run says so.
 */
#ifndef TESTS_EXPLORER_MACHINE_H
#define TESTS_EXPLORER_MACHINE_H

#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "tests/explorer/explorer.h"

/* What the linker leads to the explorer (--wrap) it calls by these names itself. */
void *__real_memcpy(void *to, const void *from, size_t length);
void *__real_memset(void *to, int value, size_t length);
#define memcpy __real_memcpy
#define memset __real_memset

#define LOCATIONS 2048u
#define FRAMES 64u
#define STACK_BYTES (size_t)262144
/* Before the first member: the explorer's own variables share no page with those that are put back after a
 * run. */
#define OWN_PAGES _Alignas(4096)

/*
 * What a thread knows: of each thread how far (its clock), of each location the oldest store that it may
 * still see.
 */
struct view {
	uint16_t clock[EXPLORER_THREADS];
	uint16_t at[LOCATIONS];
};

/* A function that was entered: from where, and how many operations of each kind it did. */
struct frame {
	uintptr_t from;
	uint16_t done[EXPLORER_FENCE + 1];
};

/*
 * acquired  what relaxed loads saw, for the next acquire fence
 * released  what the last release fence gives to later relaxed stores
 * ready     what it sleeps for, and its argument; NULL: it can go on
 */
struct thread {
	const char *name;
	void (*run)(void);
	unsigned number;
	ucontext_t context;
	void *stack;
	bool over;
	bool (*ready)(void *what);
	void *what;
	struct view view, acquired, released;
	uint16_t saw[LOCATIONS]; /* which store of each location it saw last */
	bool has_released, after_exchange;
	struct frame frames[FRAMES];
	unsigned depth;
};

/* ---- schedule.c ---- */

/* The thread that runs; NULL: no exploration does. */
struct explorer_running {
	OWN_PAGES struct thread *thread;
};
extern struct explorer_running explorer_running;
#define running explorer_running.thread
unsigned thread_count(void);
struct thread *thread_number(unsigned number);
/* One of so many ways, of which the first is free and the others count against the bound of old values. */
unsigned choose_old(unsigned count);
/* Another thread may go on here. */
void may_switch(void);
/* Sleep until ready(what). */
void sleep_until(bool (*ready)(void *what), void *what);
/* Which faults, and whether one applies to what is done here: its damage, or -1. */
int damage_here(uintptr_t pc, enum explorer_operation operation);
/* A word turned out to be shared that was taken for one thread's own: what was tried so far is worth nothing.
 */
void learned_something(void);
/* begin() or end() runs: nobody else does. */
bool runs_alone(void);
unsigned long run_number(void);

/* ---- history.c ---- */

struct event {
	uint8_t thread;
	uint8_t kind; /* enum explorer_operation, or 0xff: a note */
	uint8_t order;
	uint8_t size;
	uint8_t behind; /* a load: so many stores older than the newest */
	bool failed;
	bool alone; /* of a word that one thread alone stores to or uses */
	uintptr_t pc, from;
	uintptr_t address;
	uint64_t value, before;
	char note[80];
};
void history_begin(void);
struct event *history_add(enum explorer_operation kind, uintptr_t pc);
void history_print(void);
/* "file:line function" of an address in the program; from a process of its own, so slow. */
void where_is(uintptr_t pc, char *text, size_t size);
/* The function that has this address, without a suffix of the compiler's; "?" if none. Cheap. */
const char *function_of(uintptr_t pc);

/* ---- memory_model.c ---- */

void model_begin(void);
void view_join(struct view *to, const struct view *from);
uint64_t model_load(void *address, unsigned size, memory_order order, uintptr_t pc);
void model_store(void *address, unsigned size, uint64_t value, memory_order order, uintptr_t pc);
/* change(before, argument) gives what is stored, unless *ret_skip. Returns what was there. */
typedef uint64_t (*model_change)(uint64_t before, uint64_t argument);
uint64_t model_exchange(void *address, unsigned size, model_change change, uint64_t argument,
			const uint64_t *expected, memory_order order, memory_order failed, uintptr_t pc);
void model_fence(memory_order order, uintptr_t pc);
void model_signal_fence(memory_order order);
/* Where threads meet other than by atomics: a lock, a descriptor. */
void model_give(struct view *to);
void model_take(const struct view *from);

/* Plain bytes were written over it. */
void location_rewritten(unsigned index);

/* ---- races.c ---- */

struct region;

void model_plain(const void *address, size_t length, bool is_write, uintptr_t pc);
/* An atomic access, which meets plain ones; and the location that stands there. */
void races_atomic(const struct region *r, uintptr_t canonical, unsigned size, bool is_store, uintptr_t pc);
/*
 * The kernel takes these pages away, and who looks finds zeros. That is no race; but who finds them knows
 * what the thread knew that had it done: it comes by the kernel, which unmapped them before.
 */
void races_punched(uintptr_t canonical, size_t length);
/* A mapping goes: whoever read by it has to be ordered before. */
void races_end(const struct region *r, uintptr_t canonical, size_t length, uintptr_t pc);
void races_location(uintptr_t canonical, unsigned index);

/* ---- world.c ---- */

/* Zeroed, and not put back. Aborts when there is none. */
void *own_memory(size_t bytes);
/* The mapping first made of the same bytes, where they are known by; NULL: none of ours. */
struct region *region_of(uintptr_t address, uintptr_t *ret_canonical);
void region_name(uintptr_t canonical, char *text, size_t size);
void region_touched(uintptr_t address, size_t length); /* about to be written */
unsigned region_number(const struct region *r);
bool region_is_gone(const struct region *r);
/* To be closed when the run is over. */
void descriptors_came(void);
/* What memory is now is what each run begins with. */
void world_keep(void);
void world_put_back(void);

#endif
