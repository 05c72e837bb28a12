/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena is revoked while a handler is told of events. At any access, each state told is one that existed,
 * in order. What could not be told or read is told again from another arena. A present object is never told
 * as gone, and no error says "makes no sense".
 *
 * Before accesses to arena, slot and queue (access_trap.h) the process forks, and the revocation happens in
 * the child. The accesses are drawn for each handler and each way that events come to it (delivery_world.h).
 * A second round puts any bytes in the place of zeros, with an open slot. Then any events may be told, but
 * every access is valid and the delivery ends.
 *
 * TRIALS=n accesses of each delivery are drawn (0: all); SEED=n.
 */
#include <sys/time.h>
#include <time.h>

#include "tests/room.h"
#include "tests/support/access_trap.h"
#include "tests/support/delivery_world.h"
#include "tests/support/test_clock.h"

#define CPU_SECONDS 10 /* of one delivery, to detect one that does not end */

/* A turn ends when the clock ticks; with a stopped clock it takes the same course each time. */
static int
stop_clock(void **state)
{
	(void)state;
	test_clock_stop();
	return 0;
}

/* What a child reports of its trial. */
struct report {
	char wrong[1024];
	uintptr_t died_at;
	unsigned told, unread;
};

/*
 * of      accesses of the delivery; trials_max: about how many are tried (0: each)
 * calls   that the handler is told without an interruption
 * report  shared with the child; one child lives at a time
 * child   this process is the child
 */
struct course {
	struct delivery_world *world;
	char name[64];
	bool zeros, child;
	size_t of, accesses, next, tried, trials_max, cut, unread;
	unsigned calls;
	struct report *report;
	char failure[1200];
	uint64_t random;
};

static uint64_t
draw(struct course *c)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return c->random >> 33;
}

/* The offset in the text, for addr2line. */
static long
text_offset(uintptr_t address)
{
	return (long)(address - (uintptr_t)&text_offset);
}

static void
begin_trial(struct course *c)
{
	const struct itimerval most = {.it_value.tv_sec = CPU_SECONDS};

	c->child = true;
	access_trap_unset();
	access_trap_note_death(&c->report->died_at);
	setitimer(ITIMER_PROF, &most, NULL);
	if (c->zeros)
		delivery_take_back(c->world, draw(c) % DELIVERY_LOSSES, draw(c) << 31 ^ draw(c));
	else
		delivery_scramble(c->world, draw(c));
}

static _Noreturn void
end_trial(struct course *c)
{
	const char *wrong;

	delivery_end(c->world);
	c->report->told = delivery_log_of(c->world)->during;
	c->report->unread = delivery_log_of(c->world)->unread;
	wrong = c->zeros ? delivery_log_wrong(delivery_log_of(c->world), true) : NULL;
	if (wrong)
		snprintf(c->report->wrong, sizeof(c->report->wrong), "%s. It was told: %s", wrong,
			 delivery_log_text(delivery_log_of(c->world)));
	_exit(0);
}

static void
judge(struct course *c, int status, uintptr_t instruction)
{
	struct report *r = c->report;

	if (WIFSIGNALED(status))
		snprintf(r->wrong, sizeof(r->wrong), "%s at text_offset%+ld",
			 WTERMSIG(status) == SIGPROF ? "it does not end" : strsignal(WTERMSIG(status)),
			 text_offset(r->died_at));
	else if (status != 0)
		snprintf(r->wrong, sizeof(r->wrong), "exit %d", WEXITSTATUS(status));
	if (r->wrong[0])
		snprintf(c->failure, sizeof(c->failure), "access %zu of %zu (text_offset%+ld), %s: %s",
			 c->accesses, c->of, text_offset(instruction),
			 c->zeros ? "zeros" : "any bytes", r->wrong);
	c->cut += r->told < c->calls;
	c->unread += r->unread;
}

static void
before_access(void *context, uintptr_t instruction)
{
	struct course *c = context;
	/* one drawn from every `apart` accesses */
	size_t apart = c->trials_max && c->trials_max < c->of ? c->of / c->trials_max : 1;
	size_t at = c->accesses++ % apart;
	int status = 0;
	pid_t child;

	if (at == 0)
		c->next = draw(c) % apart;
	if (c->failure[0] || at != c->next)
		return;
	draw(c);
	c->tried++;
	memset(c->report, 0, sizeof(*c->report));
	child = fork();
	if (child == 0) {
		begin_trial(c);
		return;
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		snprintf(c->failure, sizeof(c->failure), "no process for a trial");
	else
		judge(c, status, instruction);
}

static void
count_access(void *context, uintptr_t instruction)
{
	struct course *c = context;

	(void)instruction;
	c->of++;
}

/* One delivery. before: called before each access; NULL: never. */
static void
deliver_once(struct course *c, void (*before)(void *context, uintptr_t instruction))
{
	struct access_range ranges[DELIVERY_RANGES];
	const char *wrong;

	delivery_begin(c->world);
	delivery_ranges(c->world, ranges);
	if (before)
		access_trap_set(ranges, DELIVERY_RANGES, before, c);
	delivery_run(c->world);
	access_trap_unset();
	if (c->child)
		end_trial(c);
	delivery_end(c->world);
	c->calls = delivery_log_of(c->world)->during;
	wrong = delivery_log_wrong(delivery_log_of(c->world), false);
	if (wrong)
		fail_msg("%s, in peace: %s. It was told: %s", c->name, wrong,
			 delivery_log_text(delivery_log_of(c->world)));
}

static void
interrupt_everywhere(struct course *c, bool zeros, size_t trials_max)
{
	const char *trials = getenv("TRIALS");

	c->zeros = zeros;
	c->trials_max = trials ? strtoul(trials, NULL, 10) : trials_max;
	c->accesses = c->tried = c->cut = c->unread = 0;
	deliver_once(c, before_access);
	if (c->failure[0])
		fail_msg("%s, %s", c->name, c->failure);
	print_message("%s: %zu accesses, %s before %zu, cut short %zu times, %zu objects unread\n", c->name,
		      c->of, zeros ? "zeros" : "any bytes", c->tried, c->cut, c->unread);
	assert_true(c->tried > 0 && (c->cut > 0 || !test_is_long()));
}

static void
deliver(enum delivery_way way, enum delivery_handler handler)
{
	const char *missing = access_trap_missing();
	struct course c = {.random = test_seed(42)};

	if (missing) {
		print_message("SKIP: %s\n", missing);
		skip();
	}
	snprintf(c.name, sizeof(c.name), "%s, %s", delivery_ways[way], delivery_handlers[handler]);
	c.report = mmap(NULL, sizeof(*c.report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(c.report != MAP_FAILED);
	c.world = delivery_world_new(way, handler);
	/* the first delivery does work that is done only once */
	deliver_once(&c, NULL);
	print_message("%s: %s\n", c.name, delivery_log_text(delivery_log_of(c.world)));
	deliver_once(&c, count_access);
	interrupt_everywhere(&c, true, test_is_long() ? 160 : 5);
	interrupt_everywhere(&c, false, test_is_long() ? 50 : 3);
	delivery_world_free(c.world);
	munmap(c.report, sizeof(*c.report));
}

static void
deliver_to_each(enum delivery_way way)
{
	/* the short half takes every other handler, in turn for each way */
	unsigned apart = test_is_long() ? 1 : 2;

	for (unsigned handler = way % apart; handler < DELIVERY_HANDLERS; handler += apart)
		deliver(way, (enum delivery_handler)handler);
}

#define WAY(name, way)                                                                                       \
	TEST_CASE_IN(stop_clock, NULL, name)                                                                 \
	{                                                                                                    \
		deliver_to_each(way);                                                                        \
	}

WAY(the_initial_walk, DELIVERY_INITIAL)
WAY(each_change_by_a_queue, DELIVERY_QUEUE)
WAY(a_catch_up_after_an_overflow, DELIVERY_COALESCED)
WAY(a_resync_after_forgotten_deletions, DELIVERY_RESYNC)
WAY(a_periodic_resync, DELIVERY_AGAIN)
