/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches memory with mprotect(), and steps over the instruction that touched it with the processor's trap
 * flag. Nothing is atomic: there is one thread.
 */
#include "tests/support/access_trap.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)

#include <sys/mman.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100

static struct {
	struct access_range ranges[ACCESS_RANGES];
	size_t count;
	void (*before)(void *context, uintptr_t instruction);
	void *context;
	bool set;
	struct sigaction old_fault, old_step;
	uintptr_t *death;
} trap;

const char *
access_trap_missing(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload") ? "valgrind runs no instruction by itself" : NULL;
}

static void
protect(int how)
{
	for (size_t i = 0; i < trap.count; i++)
		if (mprotect(trap.ranges[i].start, trap.ranges[i].length, how) < 0) {
			perror("access_trap: mprotect");
			abort();
		}
}

static bool
is_watched(const void *address)
{
	for (size_t i = 0; i < trap.count; i++)
		if ((uintptr_t)address - (uintptr_t)trap.ranges[i].start < trap.ranges[i].length)
			return true;
	return false;
}

static uintptr_t
instruction_of(const ucontext_t *at)
{
	return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
}

static void
on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	if (!trap.set || !is_watched(info->si_addr)) {
		signal(number, SIG_DFL); /* it faults again, and the process dies of the fault */
		return;
	}
	protect(PROT_READ | PROT_WRITE);
	trap.before(trap.context, instruction_of(at));
	if (trap.set)
		at->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void
on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)number;
	(void)info;
	at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (trap.set)
		protect(PROT_NONE);
}

void
access_trap_set(const struct access_range *ranges, size_t count,
		void (*before)(void *context, uintptr_t instruction), void *context)
{
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	if (count > ACCESS_RANGES)
		abort();
	memcpy(trap.ranges, ranges, count * sizeof(*ranges));
	trap.count = count;
	trap.before = before;
	trap.context = context;
	sigaction(SIGSEGV, &fault, &trap.old_fault);
	sigaction(SIGTRAP, &step, &trap.old_step);
	trap.set = true;
	protect(PROT_NONE);
}

void
access_trap_unset(void)
{
	if (!trap.set)
		return;
	trap.set = false;
	protect(PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &trap.old_fault, NULL);
	sigaction(SIGTRAP, &trap.old_step, NULL);
}

static void
on_death(int number, siginfo_t *info, void *context)
{
	(void)info;
	*trap.death = instruction_of(context);
	signal(number, SIG_DFL);
	raise(number);
}

void
access_trap_note_death(uintptr_t *ret_instruction)
{
	static const int deaths[] = {SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGPROF};
	struct sigaction note = {.sa_sigaction = on_death, .sa_flags = SA_SIGINFO};

	trap.death = ret_instruction;
	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
		sigaction(deaths[i], &note, NULL);
}

#else

const char *
access_trap_missing(void)
{
	return "it needs x86-64: a stop behind one instruction is a flag of the processor's";
}

void
access_trap_set(const struct access_range *ranges, size_t count,
		void (*before)(void *context, uintptr_t instruction), void *context)
{
	(void)ranges;
	(void)count;
	(void)before;
	(void)context;
}

void
access_trap_unset(void)
{
}

void
access_trap_note_death(uintptr_t *ret_instruction)
{
	*ret_instruction = 0;
}

#endif
