/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An explorer of interleavings: runs the threads of a small program on the project's own code in every order
 * of their atomic operations, and lets each load return every value that C11 allows it, within bounds.
 *
 * How. The sources are compiled once more with -fsanitize=thread, so that each access to memory calls a
 * function; the functions are ours (tsan_calls.c), not the sanitizer's. Nothing in the sources knows of it,
 * and no protocol is written down a second time. Threads are contexts of one real thread. Before each atomic
 * operation on a word that several threads use another thread may go on (schedule.c): depth first, bounded by
 * how often a thread is interrupted though it could go on, and by how often a load returns an old value. The
 * state of memory is put back after each run (world.c), so a run costs microseconds.
 *
 * What is covered (memory_model.c)
 *   - Each word keeps all its stores. A load may return any that is not older than what its thread knows:
 *     what it saw or stored itself, and what it learned by acquire, by fences, by locks. So stores that are
 *     delayed, one by one (weak machines) or all in order (the store buffers of TSO), are among what is
 * tried.
 *   - Release, acquire, fences of both kinds, release sequences of read-modify-writes, the single order of
 *     seq_cst.
 *   - Plain accesses (races.c): two that conflict, and of which none happens before the other, are an error
 * (a data race); so reuse of memory that somebody still reads is found wherever it is.
 *   - Locks, conditions, and sleep in poll() (blocking.c): when all that are left sleep, that is an error (a
 * lost wake-up). What is not
 *   - Loads that see a store which is made later in every order (load buffering); stores to one word that
 * come to be in another order than they were made in (2+2W without fences).
 *   - A compare-and-swap that fails sees the newest value; none fails without cause.
 *   - On x86 slot_claim() takes a locked exchange for a full fence and tells only the compiler
 *     (atomic_signal_fence); it counts as what the code says it is.
 *   - What libraries write without being told here (world.c lists what is).
 *
 * A program shows that it can fail: faults are put into the running code (struct explorer_fault: an order
 * relaxed, a fence dropped), or into a source by a script for sed (faults/PROGRAM/NAME.sed, which module.mk
 * makes a program of its own of), and it has to find each.
 *
 * Bounds are printed with the number of runs and the time. A bad history is printed with thread, line,
 * operation and value, and with the number of its run; EXPLORE=NUMBER in the environment shows that run
 * again, whatever it is: runs come in the same order each time. -v shows what a test that passes prints
 * (tests/room.c).
 */
#ifndef TESTS_EXPLORER_EXPLORER_H
#define TESTS_EXPLORER_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLORER_THREADS 4u

/*
 * begin        before each run, with memory as it was when explorer_run() was called; NULL: nothing
 * threads      up to the first without a name; what they do must depend on nothing but memory
 * end          after each run, when all threads are through; NULL: nothing
 * preemptions, old_values   the highest bounds; tried from 0 on, both together
 */
struct explorer_program {
	const char *name;
	void (*begin)(void);
	struct {
		const char *name;
		void (*run)(void);
	} threads[EXPLORER_THREADS];
	void (*end)(void);
	unsigned preemptions, old_values;
};

enum explorer_operation { EXPLORER_LOAD, EXPLORER_STORE, EXPLORER_EXCHANGE, EXPLORER_FENCE };

/*
 * A fault that is put into the code as it runs: of the nth operation of this kind that `function` makes when
 * it is called (0: each), from `caller` (NULL: from anywhere).
 *
 *   RELAX   its order is relaxed
 *   DROP    it is not done (a store, a fence)
 *   REPEAT  a load gives what its thread saw there last: it is as if it were not done again
 */
enum explorer_damage { EXPLORER_RELAX, EXPLORER_DROP, EXPLORER_REPEAT };
struct explorer_fault {
	const char *name;
	const char *function, *caller;
	enum explorer_operation operation;
	unsigned nth;
	enum explorer_damage damage;
};

/*
 * Explore. Returns true when every run within the bounds was good; prints what was tried, and the first bad
 * history. fault: NULL, or what is damaged; then a bad history is what is looked for, and only its end shown.
 * A fault that no run came to ends the program.
 */
bool explorer_run(const struct explorer_program *program, const struct explorer_fault *fault);

/*
 * For cmocka: that the program has no bad history; and that it has one with each of these faults, the last
 * without a name.
 */
void explorer_expect_good(const struct explorer_program *program);
void explorer_expect_found(const struct explorer_program *program, const struct explorer_fault *faults);

/* That it has a bad history itself. */
void explorer_expect_bad(const struct explorer_program *program);

/* In a thread, or in end(): this must be so; else the history is bad. */
#define explorer_claim(what, ...)                                                                            \
	do {                                                                                                 \
		if (!(what))                                                                                 \
			explorer_bad(__VA_ARGS__);                                                           \
	} while (0)
void explorer_bad(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* A line of the history. */
void explorer_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* In a thread: the libuv timer that was started last in this run rings. */
void explorer_ring(void);

#endif
