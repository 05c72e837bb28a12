/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena is revoked while a reader reads it. At any instruction, a call gives the right answer or says that
 * it has expired. It never crashes, always ends, and caches nothing wrong.
 *
 * Before each access of a call to the arena or its slot (access_trap.h) the process forks, and the child
 * revokes. It closes the slot, and everything behind the header turns to zeros. A second child zeros only
 * some pages. In a third, all pages lie on a tmpfs without memory. (Long calls take one of the three in
 * turn.) The call continues in the child, and its answer is compared with that for an intact arena. Then the
 * arena is restored, and the same call must be right: what the handle caches must not come from zeros. The
 * parent's call continues, in an intact arena, to the next access.
 *
 * This covers every instruction: a call sees changes only through accesses to arena or slot. Between two
 * accesses all moments are alike, and the one before the second access stands for them. A trial repeats
 * nothing, so a call may take another course each time (because of a clock, say).
 *
 * A second round puts any bytes in the place of zeros, with an open slot. Then any answer is accepted, but
 * every access is valid and the call ends.
 *
 * CALL=part of a call's name; TRIALS=n of each call at most (0: no limit).
 */
#include <sys/time.h>

#include "reader-lib/attach/fault_guard.h"
#include "reader-lib/attach/mapping.h"
#include "tests/room.h"
#include "tests/support/access_trap.h"
#include "tests/support/full_tmpfs.h"
#include "tests/support/lone_reader.h"
#include "tests/support/reader_calls.h"
#include "tests/support/store_fixture.h"

#define PAGE 4096u
#define ARENA_BYTES (8u << 20)
#define CPU_SECONDS 10 /* for one call, to detect one that does not end */
#define TEXT 160
#define RUN 6     /* pages that are removed together, at most */
#define LONG 128  /* from this many accesses of a call on, one trial before each is enough */
#define AT_ONCE 4 /* independent trials at the same time */

/* ---- the arena, and what happens to it ---- */

enum harm { ALL_ZEROS, SOME_ZEROS, NO_MEMORY, SCRAMBLED, HARMS };
static const char *const harm_texts[HARMS] = {"all was taken back", "some pages were taken back",
					      "all was taken back, and memory is full", "all was scrambled"};

/* What a trial reports to its parent: the fault, if any, and where it died. */
struct report {
	char wrong[TEXT];
	uintptr_t died_at;
	bool expired;
};

/* The access (its instruction), the harm, and the child; 0: none. */
struct trial {
	pid_t child;
	enum harm harm;
	size_t access;
	uintptr_t instruction;
};

/*
 * full    a file without memory
 * base    the arena, this process's own; bytes: the part of it that is used
 * right   the call's answer for the intact arena
 * of      accesses of the call; trials_max: how many are tried (0: each)
 * reports one for each trial; report: this process's, if it is a trial, else NULL
 */
struct world {
	struct store_fixture *fx;
	struct informer *inf;
	struct reader reader;
	struct slot *slot;
	int slot_fd, full;
	uint8_t *base;
	size_t bytes;
	const struct reader_call *call;
	struct reader_answer answer, right;
	bool zeros;
	size_t accesses, of, tried, trials_max, expired;
	struct trial trials[AT_ONCE];
	struct report *reports, *report;
	char failure[2 * TEXT];
	uint64_t random;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->fx = store_fixture_new(ARENA_BYTES);
	reader_calls_fill(w->fx);
	arena_set_state(w->fx->arena, HEADER_LIVE);
	w->base = (uint8_t *)w->fx->arena->header;
	w->bytes = w->fx->arena->view.committed;
	while (w->bytes > HEADER_BYTES && w->base[w->bytes - 1] == 0)
		w->bytes--;
	w->bytes = (w->bytes + PAGE - 1) / PAGE * PAGE;
	w->reports = mmap(NULL, AT_ONCE * sizeof(*w->reports), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(w->reports != MAP_FAILED);
	w->full = full_tmpfs_file(ARENA_BYTES);
	w->random = 42;
	*state = w;
	return 0;
}

static void
begin_reader(struct world *w)
{
	const struct mapping *m;

	test_unmap_slot(lone_slot_new(&w->slot_fd));
	w->inf = lone_reader_new(w->fx->arena, w->fx->arena->fd, w->slot_fd,
				 w->call->verifies ? INFORMER_VERIFY : 0);
	assert_non_null(w->inf);
	lone_reader_own(w->inf, w->slot_fd);
	m = atomic_load(&w->inf->current);
	w->base = (uint8_t *)(uintptr_t)m->header;
	w->slot = m->slot;
	w->reader = (struct reader){.answer = &w->answer};
	reader_ready(&w->reader, w->inf);
}

static void
end_reader(struct world *w)
{
	if (!w->inf)
		return;
	reader_done(&w->reader);
	informer_detach(w->inf);
	close(w->slot_fd);
	w->inf = NULL;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	end_reader(w);
	munmap(w->reports, AT_ONCE * sizeof(*w->reports));
	close(w->full);
	store_fixture_free(w->fx);
	free(w);
	return 0;
}

static uint64_t
draw(struct world *w)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return w->random >> 33;
}

/* Map zeros, or this file, over a part of the arena. Untouched pages cost nothing. */
static void
map_over(struct world *w, size_t from, size_t bytes, int fd)
{
	int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0);

	if (mmap(w->base + from, bytes, PROT_READ | PROT_WRITE, flags, fd, fd < 0 ? 0 : (off_t)from) ==
	    MAP_FAILED)
		abort();
}

/* Remove all pages, or some. */
static void
take_back(struct world *w, enum harm harm)
{
	atomic_store(&w->slot->closed, 1);
	if (harm != SOME_ZEROS)
		map_over(w, HEADER_BYTES, w->bytes - HEADER_BYTES, harm == NO_MEMORY ? w->full : -1);
	/* a forked child's arena is guarded in this test alone */
	if (harm == NO_MEMORY && fault_guard_add((const struct header *)w->base, ARENA_BYTES, w->slot) < 0)
		abort();
	for (size_t i = HEADER_BYTES; harm == SOME_ZEROS && i < w->bytes;) {
		size_t pages = (1 + draw(w) % RUN) * PAGE, left = w->bytes - i;

		if (draw(w) % 2)
			map_over(w, i, pages < left ? pages : left, -1);
		i += pages;
	}
}

/* Write what a hostile writer, or broken memory, may put there. */
static void
scramble(struct world *w)
{
	uint64_t how = w->random;

	for (size_t i = HEADER_BYTES; i + sizeof(uint64_t) <= w->bytes; i += sizeof(uint64_t)) {
		uint64_t word;

		draw(w);
		memcpy(&word, w->base + i, sizeof(word));
		switch (how >> 62) {
		case 0:
			word = w->random;
			break;
		case 1:
			word = UINT64_MAX;
			break;
		case 2: /* one bit in every word */
			word ^= 1ull << (w->random >> 58);
			break;
		default: /* slightly more than before */
			word += (w->random >> 60) << (w->random >> 56 & 60);
		}
		memcpy(w->base + i, &word, sizeof(word));
	}
}

static void
put_back(struct world *w)
{
	map_over(w, 0, w->bytes, w->fx->arena->fd);
	atomic_store(&w->slot->closed, 0);
}

/* ---- a trial: the child's side ---- */

/* The offset in the text, for addr2line. */
static long
text_offset(uintptr_t address)
{
	return (long)(address - (uintptr_t)&put_back);
}

static void
begin_trial(struct world *w, enum harm harm)
{
	const struct itimerval most = {.it_value.tv_sec = CPU_SECONDS};

	access_trap_unset();
	access_trap_note_death(&w->report->died_at);
	setitimer(ITIMER_PROF, &most, NULL);
	if (harm == SCRAMBLED)
		scramble(w);
	else
		take_back(w, harm);
}

/* Make one call. anew: first forget what handle and paths cache. before() sees each access. */
static void
ask(struct world *w, bool anew, void (*before)(void *context, uintptr_t instruction))
{
	const struct access_range ranges[] = {{w->base, ARENA_BYTES}, {w->slot, SLOT_BYTES}};
	struct reader *r = &w->reader;

	memset(&w->answer, 0, offsetof(struct reader_answer, text));
	w->answer.anew = anew;
	if (w->call->before && w->call->before(r) < 0)
		abort();
	if (before)
		access_trap_set(ranges, 2, before, w);
	w->call->call(r, &w->answer);
	access_trap_unset();
	if (w->report)
		put_back(w);
	w->call->after(r);
	by_seq_done(r->inf, &r->by_seq);
	lone_reader_trust_again(w->inf, false);
}

/* Judge the answer of the interrupted call, and the next call's answer for the intact arena. */
static _Noreturn void
end_trial(struct world *w)
{
	w->report->expired = w->answer.r == w->call->expired;
	if (w->zeros && !w->report->expired && !reader_answer_same(&w->answer, &w->right))
		snprintf(w->report->wrong, TEXT, "%s, and right is %s", informer_error_name(w->answer.r),
			 informer_error_name(w->right.r));
	ask(w, false, NULL);
	if (w->zeros && !w->report->wrong[0] && !reader_answer_same(&w->answer, &w->right))
		snprintf(w->report->wrong, TEXT,
			 "the call after it, of an arena that stands, says %s, and right is %s",
			 informer_error_name(w->answer.r), informer_error_name(w->right.r));
	_exit(0);
}

/* ---- and the parent's ---- */

/* Judge the trial by its report and its exit. */
static void
judge(struct world *w, size_t at, int status)
{
	const struct trial *t = &w->trials[at];
	struct report *report = &w->reports[at];
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	w->expired += report->expired;
	if (number)
		snprintf(report->wrong, TEXT, "signal %d (%s) at put_back%+ld", number,
			 number == SIGPROF ? "it does not end" : strsignal(number),
			 text_offset(report->died_at));
	else if (status != 0)
		snprintf(report->wrong, TEXT, "exit %d", WEXITSTATUS(status));
	if (report->wrong[0] && !w->failure[0])
		snprintf(w->failure, sizeof(w->failure), "access %zu of %zu (put_back%+ld), %s: %s",
			 t->access, w->of, text_offset(t->instruction), harm_texts[t->harm], report->wrong);
}

/* Wait for one of the trials; false: there is none. */
static bool
await_one(struct world *w)
{
	int status = 0;
	pid_t child = waitpid(-1, &status, 0);

	for (size_t i = 0; child > 0 && i < AT_ONCE; i++)
		if (w->trials[i].child == child) {
			judge(w, i, status);
			w->trials[i].child = 0;
			return true;
		}
	return false;
}

/* Start a trial. True in the child. */
static bool
try(struct world *w, enum harm harm, uintptr_t instruction)
{
	size_t at = 0;

	while (at < AT_ONCE && w->trials[at].child)
		at++;
	if (at == AT_ONCE) {
		await_one(w);
		return try(w, harm, instruction);
	}
	memset(&w->reports[at], 0, sizeof(w->reports[at]));
	draw(w);
	w->tried++;
	w->trials[at] = (struct trial){fork(), harm, w->accesses, instruction};
	if (w->trials[at].child == 0) {
		w->report = &w->reports[at];
		begin_trial(w, harm);
		return true;
	}
	if (w->trials[at].child < 0) {
		w->trials[at].child = 0;
		snprintf(w->failure, sizeof(w->failure), "no process for a trial");
	}
	return false;
}

/* True if this access is one of those that are tried. */
static bool
is_drawn(struct world *w)
{
	return w->trials_max == 0 || draw(w) % w->of < w->trials_max;
}

static void
before_access(void *context, uintptr_t instruction)
{
	struct world *w = context;

	w->accesses++;
	if (w->failure[0] || !is_drawn(w))
		return;
	if (!w->zeros)
		try(w, SCRAMBLED, instruction);
	else if (w->of > LONG)
		try(w, (enum harm)(w->accesses % SCRAMBLED), instruction);
	else
		for (enum harm harm = ALL_ZEROS; harm < SCRAMBLED && !w->report; harm++)
			try(w, harm, instruction);
}

static void
count_access(void *context, uintptr_t instruction)
{
	struct world *w = context;

	(void)instruction;
	w->of++;
}

static void
interrupt_everywhere(struct world *w, const struct reader_call *call)
{
	w->call = call;
	w->accesses = w->of = w->tried = w->expired = 0;
	begin_reader(w);
	/* the first call does work that is done only once; later calls are alike */
	for (unsigned i = 0; i < 3; i++)
		ask(w, true, NULL);
	w->right = w->answer;
	if (w->right.r < 0 && w->right.r != INFORMER_E_NOT_FOUND)
		fail_msg("%s: %s", call->name, informer_error_name(w->right.r));
	ask(w, true, count_access);
	ask(w, true, before_access);
	if (w->report)
		end_trial(w);
	while (await_one(w))
		;
	if (w->failure[0])
		fail_msg("%s, %s", call->name, w->failure);
	if (!reader_answer_same(&w->answer, &w->right))
		fail_msg("%s: it says something else when it is watched: %s", call->name,
			 informer_error_name(w->answer.r));
	print_message("%s: %zu accesses, %zu trials, expired %zu times\n", call->name, w->accesses, w->tried,
		      w->expired);
	if (w->zeros && w->expired == 0)
		fail_msg("%s: never expired", call->name);
	end_reader(w);
}

static void
interrupt_all(struct world *w, bool zeros, size_t trials_max)
{
	size_t calls = 0;
	const char *only = getenv("CALL"), *trials = getenv("TRIALS"), *missing = access_trap_missing();

	if (missing) {
		print_message("SKIP: %s\n", missing);
		skip();
	}
	w->zeros = zeros;
	w->trials_max = trials ? strtoul(trials, NULL, 10) : trials_max;
	for (size_t i = 0; i < reader_calls_count; i++)
		if ((!only || strstr(reader_calls[i].name, only)) && (zeros || !reader_calls[i].is_long)) {
			interrupt_everywhere(w, &reader_calls[i]);
			calls++;
		}
	assert_true(calls > 0);
}

#define TEST(test) TEST_CASE_IN(set_up, tear_down, test)

TEST(zeros_at_any_instruction_give_the_right_answer_or_expired)
{
	interrupt_all(*state, true, test_is_long() ? 0 : 16);
}

TEST(any_bytes_at_any_instruction_are_survived)
{
	interrupt_all(*state, false, test_is_long() ? 100 : 10);
}
