/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which thread goes on, and which run comes next: depth first over all choices within the bounds.
 *
 * A run is the list of its choices. The next run repeats the list up to the last choice that has a way left,
 * and takes that way. The first way of each choice goes on as before: the same thread, the newest value. Any
 * other way counts against a bound, unless the thread has ended or sleeps.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "tests/explorer/machine.h"

#define CHOICES 4096u
#define SWITCHES 100000u

struct choice {
	uint8_t taken, ways;
	char kind; /* t: a thread, v: a value */
};

struct explorer_running explorer_running;

static struct {
	OWN_PAGES const struct explorer_program *program;
	const struct explorer_fault *fault;
	bool fault_met;
	struct thread threads[EXPLORER_THREADS];
	unsigned count;
	ucontext_t outside;
	struct choice choices[CHOICES];
	unsigned depth, known; /* choices of this run; how many of them are prescribed */
	unsigned preemptions, old_values, preemption_bound, old_bound;
	unsigned long switches, run;
	bool bad, learned;
	char why[600];
	unsigned long runs, shown;
	unsigned most_choices;
	bool *source_fault_found; /* shared by the program's tests, each of which is a process */
	bool is_sought; /* a bad history is expected */
	bool alone;     /* begin() or end() runs */
	jmp_buf left;
} plan;

unsigned
thread_count(void)
{
	return plan.count;
}

struct thread *
thread_number(unsigned number)
{
	return &plan.threads[number];
}

unsigned long
run_number(void)
{
	return plan.run;
}

bool
runs_alone(void)
{
	return plan.alone;
}

void
learned_something(void)
{
	plan.learned = true;
}

/* ---- choices ---- */

static void
not_repeatable(const char *what)
{
	fprintf(stderr, "explorer: %s: a run did not repeat itself (%s): something is not put back\n",
		plan.program->name, what);
	abort();
}

static unsigned
choose(char kind, unsigned ways)
{
	struct choice *c = &plan.choices[plan.depth];

	if (ways <= 1)
		return 0;
	if (plan.depth == CHOICES)
		explorer_bad("a run of more than %u choices", CHOICES);
	if (plan.depth < plan.known) {
		/* a word newly known as shared gives more choices than before: discard that run */
		if (c->kind != kind || c->ways != ways) {
			if (!plan.learned)
				not_repeatable(kind == 't' ? "threads" : "values");
			c->taken = 0;
		}
	} else {
		*c = (struct choice){.ways = (uint8_t)ways, .kind = kind};
		plan.known++;
	}
	plan.depth++;
	return c->taken;
}

unsigned
choose_old(unsigned count)
{
	unsigned behind;

	if (plan.alone || plan.old_values == plan.old_bound)
		return 0;
	behind = choose('v', count);
	plan.old_values += behind != 0;
	return behind;
}

/* ---- threads ---- */

static bool
can_go_on(const struct thread *t)
{
	return !t->over && (!t->ready || t->ready(t->what));
}

/* The way-th of the threads that can go on, counted from behind `from`. */
static struct thread *
take_way(const struct thread *from, unsigned way)
{
	for (unsigned i = 1; i <= plan.count; i++) {
		struct thread *t = &plan.threads[((from ? from->number : plan.count - 1) + i) % plan.count];

		if (t != from && can_go_on(t) && way-- == 0)
			return t;
	}
	return NULL;
}

static unsigned
count_ways(const struct thread *from)
{
	unsigned n = 0;

	for (unsigned i = 0; i < plan.count; i++)
		n += &plan.threads[i] != from && can_go_on(&plan.threads[i]);
	return n;
}

static void
switch_to(struct thread *t)
{
	struct thread *from = running;

	if (++plan.switches > SWITCHES)
		explorer_bad("no end after %u switches", SWITCHES);
	running = t;
	swapcontext(from ? &from->context : &plan.outside, &t->context);
}

void
may_switch(void)
{
	unsigned way;

	if (plan.alone || plan.preemptions == plan.preemption_bound)
		return;
	way = choose('t', 1 + count_ways(running));
	if (way == 0)
		return;
	plan.preemptions++;
	switch_to(take_way(running, way - 1));
}

static __attribute__((noreturn)) void
leave(void)
{
	running = NULL;
	setcontext(&plan.outside);
	abort();
}

/* This thread sleeps or has ended: switch to another that can go on. */
static void
hand_over(void)
{
	struct thread *self = running;
	unsigned ways = count_ways(NULL), asleep = 0;

	if (ways > 0) {
		/* this thread itself may be ready by now */
		struct thread *next = take_way(NULL, choose('t', ways));

		if (next != self)
			switch_to(next);
		return;
	}
	for (unsigned i = 0; i < plan.count; i++)
		asleep += !plan.threads[i].over;
	if (asleep > 0)
		explorer_bad("%u of %u threads sleep, and nobody is left to wake them", asleep, plan.count);
	leave();
}

void
sleep_until(bool (*ready)(void *what), void *what)
{
	running->ready = ready;
	running->what = what;
	hand_over();
	running->ready = NULL;
}

static void
thread_main(void)
{
	running->run();
	running->over = true;
	hand_over();
	leave();
}

void
explorer_bad(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(plan.why, sizeof(plan.why), format, args);
	va_end(args);
	plan.bad = true;
	if (plan.alone)
		longjmp(plan.left, 1);
	leave();
}

/* ---- faults ---- */

int
damage_here(uintptr_t pc, enum explorer_operation operation)
{
	const struct explorer_fault *f = plan.fault;
	struct thread *t = running;
	struct frame *frame = t->depth ? &t->frames[t->depth - 1] : NULL;
	unsigned nth = frame ? ++frame->done[operation] : 0;

	if (!f || f->operation != operation || (f->nth && f->nth != nth) ||
	    strcmp(function_of(pc), f->function) != 0)
		return -1;
	if (f->caller && (!frame || strcmp(function_of(frame->from), f->caller) != 0))
		return -1;
	plan.fault_met = true;
	return (int)f->damage;
}

/* ---- runs ---- */

/* Run begin() or end() as the first thread, without the others. False: it was bad. */
static bool
run_alone(void (*what)(void))
{
	running = &plan.threads[0];
	running->depth = 0;
	/* it knows what all others did */
	for (unsigned i = 1; i < plan.count; i++)
		view_join(&running->view, &plan.threads[i].view);
	plan.alone = true;
	if (setjmp(plan.left) == 0)
		what();
	plan.alone = false;
	running = NULL;
	return !plan.bad;
}

static void
one_run(void)
{
	plan.run++;
	plan.depth = plan.preemptions = plan.old_values = 0;
	plan.switches = 0;
	plan.bad = false;
	plan.count = 0;
	world_put_back();
	history_begin();
	for (unsigned i = 0; i < EXPLORER_THREADS && plan.program->threads[i].name; i++) {
		struct thread *t = &plan.threads[plan.count++];

		if (!t->stack)
			t->stack = own_memory(STACK_BYTES);
		t->name = plan.program->threads[i].name;
		t->run = plan.program->threads[i].run;
		t->number = i;
		t->over = false;
		t->ready = NULL;
		t->depth = 0;
		getcontext(&t->context);
		t->context.uc_stack.ss_sp = t->stack;
		t->context.uc_stack.ss_size = STACK_BYTES;
		makecontext(&t->context, thread_main, 0);
	}
	model_begin();
	if (plan.program->begin && !run_alone(plan.program->begin))
		return;
	/* what begin() did is the state before the threads begin */
	plan.run++;
	model_begin();
	switch_to(take_way(NULL, choose('t', count_ways(NULL))));
	if (!plan.bad && plan.program->end)
		run_alone(plan.program->end);
	plan.runs++;
	plan.most_choices = plan.depth > plan.most_choices ? plan.depth : plan.most_choices;
	if (plan.runs == plan.shown) {
		printf("run %lu:\n", plan.runs);
		history_print();
	}
}

/* Prescribe the choices of the next run. False: there is none. */
static bool
next_run(void)
{
	plan.known = plan.depth;
	while (plan.known > 0 && plan.choices[plan.known - 1].taken + 1u == plan.choices[plan.known - 1].ways)
		plan.known--;
	if (plan.known == 0)
		return false;
	plan.choices[plan.known - 1].taken++;
	return true;
}

/* All runs within the bounds. False: one was bad. */
static bool
all_runs(void)
{
	plan.known = 0;
	do {
		plan.learned = false;
		one_run();
		if (plan.bad)
			return false;
		/* start over with more shared words */
		if (plan.learned)
			plan.known = 0;
	} while (plan.learned || next_run());
	return true;
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* In a program built with a faulty source (module.mk): the fault's name. */
extern const char explorer_source_fault[] __attribute__((weak));

__attribute__((constructor)) static void
share_found(void)
{
	plan.source_fault_found = mmap(NULL, sizeof(*plan.source_fault_found), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plan.source_fault_found == MAP_FAILED)
		abort();
}

static void
say_bad(void)
{
	if (plan.fault || plan.is_sought || explorer_source_fault) {
		printf("%s: found in run %lu (up to %u preemptions and %u old values): %s\n",
		       plan.fault       ? plan.fault->name
		       : plan.is_sought ? plan.program->name
					: explorer_source_fault,
		       plan.runs, plan.preemption_bound, plan.old_bound, plan.why);
	} else {
		printf("%s: bad history: %s\n", plan.program->name, plan.why);
		history_print();
		printf("EXPLORE=%lu shows this run again\n", plan.runs);
	}
	fflush(stdout);
}

bool
explorer_run(const struct explorer_program *program, const struct explorer_fault *fault)
{
	unsigned bound = 0, most = program->preemptions > program->old_values ? program->preemptions
									      : program->old_values;
	const char *shown = getenv("EXPLORE");
	bool good = true;

	plan.program = program;
	plan.fault = fault;
	plan.fault_met = false;
	plan.runs = plan.most_choices = 0;
	world_keep();
	plan.shown = shown && !fault ? strtoul(shown, NULL, 10) : 0;
	for (; bound <= most && good; bound++) {
		unsigned long runs = plan.runs;
		double began = seconds();

		plan.preemption_bound = bound < program->preemptions ? bound : program->preemptions;
		plan.old_bound = bound < program->old_values ? bound : program->old_values;
		good = all_runs();
		if (!fault)
			printf("%s: up to %u preemptions and %u old values: %lu runs of up to %u choices, "
			       "%.2f s\n",
			       program->name, plan.preemption_bound, plan.old_bound, plan.runs - runs,
			       plan.most_choices, seconds() - began);
	}
	if (!good)
		say_bad();
	world_put_back();
	if (fault && !plan.fault_met) {
		fprintf(stderr, "explorer: %s: no run came to where '%s' is put in\n", program->name,
			fault->name);
		abort();
	}
	return good;
}

void
explorer_expect_good(const struct explorer_program *program)
{
	if (*plan.source_fault_found)
		return;
	if (explorer_run(program, NULL))
		return;
	if (!explorer_source_fault)
		fail_msg("%s has a bad history", program->name);
	*plan.source_fault_found = true;
}

void
explorer_expect_found(const struct explorer_program *program, const struct explorer_fault *faults)
{
	if (explorer_source_fault && !*plan.source_fault_found)
		fail_msg("%s: not found: %s", program->name, explorer_source_fault);
	for (; faults->name && !explorer_source_fault; faults++)
		if (explorer_run(program, faults))
			fail_msg("%s: not found: %s", program->name, faults->name);
}

void
explorer_expect_bad(const struct explorer_program *program)
{
	bool good;

	plan.is_sought = true;
	good = explorer_run(program, NULL);
	plan.is_sought = false;
	if (good)
		fail_msg("%s has no bad history", program->name);
}
