/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a function before each instruction of this process that touches watched memory.
 *
 * The watched memory is out of reach. An instruction that touches it raises a signal. The handler makes the
 * memory accessible, calls the function, lets the instruction run, and takes the memory away again. A
 * repeating instruction (rep movsb) leads to a call for each repetition. For one thread at a time. Needs
 * x86-64, whose trap flag stops the processor after one instruction.
 */
#ifndef TESTS_SUPPORT_ACCESS_TRAP_H
#define TESTS_SUPPORT_ACCESS_TRAP_H

#include <stddef.h>
#include <stdint.h>

/* NULL, or a sentence that says why access traps do not work here. */
const char *access_trap_missing(void);

/* Whole pages that are readable and writable. */
struct access_range {
	void *start;
	size_t length;
};

#define ACCESS_RANGES 4

/*
 * From now on before(context, address of the instruction) is called before each access to one of the ranges
 * (at most ACCESS_RANGES). During the call the ranges are accessible. before() may fork, and may call
 * access_trap_unset().
 */
void access_trap_set(const struct access_range *ranges, size_t count,
		     void (*before)(void *context, uintptr_t instruction), void *context);
/* Stop watching. Does nothing when nothing is watched. */
void access_trap_unset(void);

/*
 * In a process that is to report where it dies: *ret_instruction, in shared memory, is set on a signal of a
 * fatal fault, or SIGPROF. SIGBUS belongs to the library (fault_guard.h), and is not reported.
 */
void access_trap_note_death(uintptr_t *ret_instruction);

#endif
