/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call before each instruction of this process that touches memory which is watched.
 *
 * The memory is out of reach: whoever touches it comes to a signal's handler, which gives it back, calls,
 * lets the one instruction run and takes it away again. An instruction that repeats itself (rep movsb) is
 * called for each time. For one thread at a time; needs x86-64, whose flags can ask for a stop behind one
 * instruction.
 */
#ifndef TESTS_SUPPORT_ACCESS_TRAP_H
#define TESTS_SUPPORT_ACCESS_TRAP_H

#include <stddef.h>
#include <stdint.h>

/* NULL, or why this cannot be had here: a sentence. */
const char *access_trap_missing(void);

/* Whole pages that may be read and written. */
struct access_range {
	void *start;
	size_t length;
};

#define ACCESS_RANGES 4

/*
 * From now on before(context, address of the instruction) is called before each access to one of the ranges
 * (at most ACCESS_RANGES). Meanwhile they are in reach. It may fork, and call access_trap_unset().
 */
void access_trap_set(const struct access_range *ranges, size_t count,
		     void (*before)(void *context, uintptr_t instruction), void *context);
/* No more. Nothing to do when nothing is watched. */
void access_trap_unset(void);

/*
 * In a process of its own that is to say where it dies: *ret_instruction, shared with who wants to know, is
 * set when it gets one of the signals by which a process dies of a fault, or SIGPROF. SIGBUS is the library's
 * (fault_guard.h): who dies of that is not asked where.
 */
void access_trap_note_death(uintptr_t *ret_instruction);

#endif
