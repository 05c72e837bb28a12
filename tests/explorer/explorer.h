/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An explorer of interleavings. It runs the threads of a small program, made of the project's own code, in
 * every order of their atomic operations. Each load returns every value that C11 allows it, within bounds.
 *
 * How it works. The sources are compiled once more with -fsanitize=thread, so that each memory access calls
 * a function. These functions are the explorer's (tsan_calls.c), not the sanitizer's. The sources do not know
 * of it, and no protocol is written down a second time. Threads are contexts of one real thread. Another
 * thread may go on before each atomic operation on a shared word (schedule.c): depth first, bounded by the
 * number of preemptions and of loads that return an old value. Memory is put back after each run (world.c),
 * so a run costs microseconds.
 *
 * What is covered (memory_model.c):
 *   - Each word keeps all its stores. A load may return any store that is not older than what its thread
 *     knows: by its own loads and stores, by acquire, by fences, by locks. This includes stores delayed one
 *     by one (weak machines) or all in order (the store buffers of TSO).
 *   - Release, acquire, fences of both kinds, release sequences of read-modify-writes, the single order of
 *     seq_cst.
 *   - Plain accesses (races.c). Two that conflict, of which neither happens before the other, are a data
 *     race. So the reuse of memory that a thread still reads is always found.
 *   - Locks, conditions, and sleep in poll() (blocking.c). When all remaining threads sleep, a wake-up was
 *     lost.
 *
 * What is not covered:
 *   - A load that sees a store which comes later in every order (load buffering). Stores to one word that
 *     take effect in another order than they were made (2+2W without fences).
 *   - A compare-and-swap that fails without cause; one that fails sees the newest value.
 *   - On x86 slot_claim() relies on a locked exchange as a full fence, and tells only the compiler
 *     (atomic_signal_fence). The explorer takes it as the code says.
 *   - What libraries write without a report here (world.c lists the reported ones).
 *
 * Each program proves that it can fail. Faults are put into the running code (struct explorer_fault: an order
 * relaxed, a fence dropped), or into a source by a sed script (faults/PROGRAM/NAME.sed, which module.mk
 * builds into a program of its own). The program has to find each of them.
 *
 * The explorer prints the bounds with the number of runs and the time. It prints a bad history with thread,
 * line, operation and value, and the number of its run. EXPLORE=NUMBER in the environment shows that run
 * again: runs come in the same order each time. -v shows the output of a test that passes (tests/room.c).
 */
#ifndef TESTS_EXPLORER_EXPLORER_H
#define TESTS_EXPLORER_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLORER_THREADS 4u

/*
 * begin        called before each run, with memory as explorer_run() found it; NULL: nothing
 * threads      end before the first without a name; their course must depend on memory alone
 * end          called after each run, when all threads have ended; NULL: nothing
 * preemptions, old_values   the highest bounds; both are tried together from 0 on
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
 * A fault put into the running code. It damages the nth operation of this kind (0: each one) in each call of
 * `function` from `caller` (NULL: any caller).
 *
 *   RELAX   the operation's order is relaxed
 *   DROP    the operation (a store, a fence) is not done
 *   REPEAT  a load returns what its thread saw there last, as if it were not repeated
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
 * Explore. Prints what was tried, and the first bad history. Returns true when every run within the bounds
 * was good. fault: NULL, or the damage; then a bad history is expected, and only its end is printed. Aborts
 * when no run reached the fault.
 */
bool explorer_run(const struct explorer_program *program, const struct explorer_fault *fault);

/* Fails the test if the program has a bad history. */
void explorer_expect_good(const struct explorer_program *program);
/* Fails the test if the program has no bad history with one of these faults; the last has no name. */
void explorer_expect_found(const struct explorer_program *program, const struct explorer_fault *faults);
/* Fails the test if the program has no bad history. */
void explorer_expect_bad(const struct explorer_program *program);

/* Tests of these two, by the TEST() of their file. */
#define TEST_GOOD(name_, program_)                                                                           \
	TEST(name_)                                                                                          \
	{                                                                                                    \
		explorer_expect_good(&(program_));                                                           \
	}
#define TEST_FOUND(name_, program_, ...)                                                                     \
	TEST(name_)                                                                                          \
	{                                                                                                    \
		static const struct explorer_fault faults[] = {__VA_ARGS__, {0}};                            \
		explorer_expect_found(&(program_), faults);                                                  \
	}

/* In a thread, or in end(): the history is bad unless `what` holds. */
#define explorer_claim(what, ...)                                                                            \
	do {                                                                                                 \
		if (!(what))                                                                                 \
			explorer_bad(__VA_ARGS__);                                                           \
	} while (0)
void explorer_bad(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Add a line to the history. */
void explorer_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* In a thread: let the libuv timer ring that this run started last. */
void explorer_ring(void);

#endif
