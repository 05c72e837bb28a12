/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the explorer's parts know of each other: threads, choices, views, regions.
 *
 * *_begin() resets what a run changes here. What stays from run to run says so.
 */
#ifndef TESTS_EXPLORER_MACHINE_H
#define TESTS_EXPLORER_MACHINE_H

#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "tests/explorer/explorer.h"

/* The explorer itself calls wrapped functions (--wrap) by these names. */
void *__real_memcpy(void *to, const void *from, size_t length);
void *__real_memset(void *to, int value, size_t length);
#define memcpy __real_memcpy
#define memset __real_memset

#define LOCATIONS 2048u
#define FRAMES 64u
#define STACK_BYTES (size_t)262144
/* Before the first member: the explorer's own variables share no page with the program's. */
#define OWN_PAGES _Alignas(4096)

/*
 * What a thread knows: the clock of each thread as far as it has seen it, and the oldest store of each
 * location that it may still see.
 */
struct view {
	uint16_t clock[EXPLORER_THREADS];
	uint16_t at[LOCATIONS];
};

/* An entered function: its caller, and the operations of each kind that it made. */
struct frame {
	uintptr_t from;
	uint16_t done[EXPLORER_FENCE + 1];
};

/*
 * acquired  what relaxed loads saw, for the next acquire fence
 * released  what the last release fence gives to later relaxed stores
 * ready     the condition that it sleeps for, and its argument; NULL: it can go on
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
	uint16_t saw[LOCATIONS]; /* the store of each location that it saw last */
	bool has_released, after_exchange;
	struct frame frames[FRAMES];
	unsigned depth;
};

/* ---- schedule.c ---- */

/* The running thread; NULL: nothing is being explored. */
struct explorer_running {
	OWN_PAGES struct thread *thread;
};
extern struct explorer_running explorer_running;
#define running explorer_running.thread
unsigned thread_count(void);
struct thread *thread_number(unsigned number);
/* Choose one of `count` values. The first is free, others count against the bound of old values. */
unsigned choose_old(unsigned count);
/* Another thread may be chosen to go on here. */
void may_switch(void);
/* Sleep until ready(what). */
void sleep_until(bool (*ready)(void *what), void *what);
/* The damage of the fault that applies to this operation, or -1. */
int damage_here(uintptr_t pc, enum explorer_operation operation);
/* A word turned out to be shared: the choices tried so far are incomplete and start over. */
void learned_something(void);
/* True while begin() or end() runs alone. */
bool runs_alone(void);
unsigned long run_number(void);

/* ---- history.c ---- */

struct event {
	uint8_t thread;
	uint8_t kind; /* enum explorer_operation, or 0xff: a note */
	uint8_t order;
	uint8_t size;
	uint8_t behind; /* a load: how many stores older than the newest */
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
/* "file:line function" of an address in the program. Starts a process, so it is slow. */
void where_is(uintptr_t pc, char *text, size_t size);
/* The function that contains this address, without the compiler's suffix; "?" if none. Cheap. */
const char *function_of(uintptr_t pc);

/* ---- memory_model.c ---- */

void model_begin(void);
void view_join(struct view *to, const struct view *from);
uint64_t model_load(void *address, unsigned size, memory_order order, uintptr_t pc);
void model_store(void *address, unsigned size, uint64_t value, memory_order order, uintptr_t pc);
/* change(before, argument) gives the new value, unless the value is not *expected. Returns the old value. */
typedef uint64_t (*model_change)(uint64_t before, uint64_t argument);
uint64_t model_exchange(void *address, unsigned size, model_change change, uint64_t argument,
			const uint64_t *expected, memory_order order, memory_order failed, uintptr_t pc);
void model_fence(memory_order order, uintptr_t pc);
void model_signal_fence(memory_order order);
/* Threads synchronize by something other than atomics: a lock, a descriptor. */
void model_give(struct view *to);
void model_take(const struct view *from);

/* Plain bytes were written over the location. */
void location_rewritten(unsigned index);

/* ---- races.c ---- */

struct region;

void model_plain(const void *address, size_t length, bool is_write, uintptr_t pc);
/* An atomic access that conflicts with plain accesses; and the location at this address. */
void races_atomic(const struct region *r, uintptr_t canonical, unsigned size, bool is_store, uintptr_t pc);
/*
 * The kernel removes these pages, and a later read finds zeros. That is no race. The thread that finds zeros
 * learns what the punching thread knew, because the kernel unmapped the pages first.
 */
void races_punched(uintptr_t canonical, size_t length);
/* A mapping ends: each thread that read through it must be ordered before. */
void races_end(const struct region *r, uintptr_t canonical, size_t length, uintptr_t pc);
void races_location(uintptr_t canonical, unsigned index);

/* ---- world.c ---- */

/* Zeroed, and not put back after a run. Aborts without memory. */
void *own_memory(size_t bytes);
/* An address's region and canonical address: in the first mapping of these bytes. NULL: unknown memory. */
struct region *region_of(uintptr_t address, uintptr_t *ret_canonical);
void region_name(uintptr_t canonical, char *text, size_t size);
void region_touched(uintptr_t address, size_t length); /* before a write */
unsigned region_number(const struct region *r);
bool region_is_gone(const struct region *r);
/* Descriptors were received; they are closed after the run. */
void descriptors_came(void);
/* Memory as it is now is what each run begins with. */
void world_keep(void);
void world_put_back(void);

#endif
