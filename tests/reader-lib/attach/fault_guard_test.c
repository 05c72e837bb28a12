/* SPDX-License-Identifier: Apache-2.0 */
/* A fault in a revoked arena gives zeros; every other fault goes where it went without the guard. */
#include "reader-lib/attach/fault_guard.h"
#include "tests/room.h"
#include "tests/support/full_tmpfs.h"

#define PAGE 4096u
#define ARENA_BYTES (HEADER_BYTES + 16 * PAGE)

/* An arena of which only the header has memory, and the slot that reads it. */
struct world {
	struct header *header;
	struct slot *slot;
};

static void *
own_memory(size_t bytes)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(start != MAP_FAILED);
	return start;
}

static struct header *
arena_without_memory(void)
{
	static int hole = -1;
	uint8_t *base = own_memory(ARENA_BYTES);

	if (hole < 0)
		hole = full_tmpfs_file(ARENA_BYTES);

	assert_true(mmap(base + HEADER_BYTES, ARENA_BYTES - HEADER_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED,
			 hole, HEADER_BYTES) == base + HEADER_BYTES);
	return (struct header *)(void *)base;
}

/* cmocka installs its handlers before a test begins; the guard's are installed in the test, after them. */
static struct world
make_world(void)
{
	return (struct world){arena_without_memory(), own_memory(SLOT_BYTES)};
}

static void
guard(struct world *w)
{
	if (fault_guard_add(w->header, ARENA_BYTES, w->slot) < 0)
		abort();
}

static struct world
guarded_world(void)
{
	struct world w = make_world();

	guard(&w);
	return w;
}

static uint8_t
byte_of(const struct header *header, size_t at)
{
	return ((const volatile uint8_t *)header)[at];
}

static void
expect_zeros(const struct world *w)
{
	for (size_t at = HEADER_BYTES; at < ARENA_BYTES; at += PAGE)
		assert_int_equal(byte_of(w->header, at), 0);
}

TEST_CASE(a_closed_slot_reads_zeros)
{
	struct world w = guarded_world();

	atomic_store(&w.slot->closed, 1);
	expect_zeros(&w);
}

TEST_CASE(a_revoked_arena_reads_zeros)
{
	struct world w = guarded_world();

	atomic_store(&w.header->state, HEADER_REVOKED);
	expect_zeros(&w);
	assert_int_equal(atomic_load(&w.header->state), HEADER_REVOKED);
}

/* Each of many arenas is found, and its place is reused. */
TEST_CASE(many_arenas_are_guarded)
{
	struct world w[120];

	for (unsigned round = 0; round < 2; round++) {
		for (size_t i = 0; i < 120; i++) {
			w[i] = guarded_world();
			atomic_store(&w[i].slot->closed, 1);
		}
		for (size_t i = 0; i < 120; i++) {
			expect_zeros(&w[i]);
			fault_guard_remove(w[i].header);
			munmap(w[i].header, ARENA_BYTES);
		}
	}
}

/* ---- other faults: in a process of its own, which dies of them ---- */

static bool
dies_of_sigbus(void (*act)(struct world *w))
{
	struct world w = make_world();
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGBUS, SIG_DFL);
		act(&w);
		_exit(byte_of(w.header, HEADER_BYTES));
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS));
	return status != 0;
}

static void
close_slot(struct world *w)
{
	guard(w);
	atomic_store(&w->slot->closed, 1);
}

static void
remove_it(struct world *w)
{
	close_slot(w);
	fault_guard_remove(w->header);
}

/* A child does not guard its parent's arenas. */
static void
fork_again(struct world *w)
{
	int status = 0;
	pid_t child;

	close_slot(w);
	child = fork();
	if (child == 0)
		_exit(byte_of(w->header, HEADER_BYTES));
	waitpid(child, &status, 0);
	if (!WIFSIGNALED(status))
		_exit(0);
	signal(SIGBUS, SIG_DFL);
}

static void
ignore(struct world *w)
{
	signal(SIGBUS, SIG_IGN);
	guard(w);
	raise(SIGBUS);
}

static void
send_sigbus(struct world *w)
{
	close_slot(w);
	raise(SIGBUS);
	_exit(0);
}

TEST_CASE(only_what_is_guarded_and_revoked_is_repaired)
{
	assert_true(dies_of_sigbus(guard));
	assert_false(dies_of_sigbus(close_slot));
	assert_true(dies_of_sigbus(remove_it));
	assert_true(dies_of_sigbus(fork_again));
}

TEST_CASE(without_a_handler_a_process_dies_as_before)
{
	assert_true(dies_of_sigbus(send_sigbus));
	assert_true(dies_of_sigbus(ignore));
}

/* ---- an earlier handler ---- */

static sigjmp_buf back;
static volatile sig_atomic_t told;

static void
on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	told = info->si_code == BUS_ADRERR ? 1 : 2;
	siglongjmp(back, 1);
}

static void
on_signal(int number)
{
	(void)number;
	told = 3;
}

TEST_CASE(an_earlier_handler_gets_the_other_faults)
{
	const struct sigaction theirs = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct world w;

	sigaction(SIGBUS, &theirs, NULL);
	w = guarded_world();
	if (sigsetjmp(back, 1) == 0)
		byte_of(w.header, HEADER_BYTES);
	assert_int_equal(told, 1);
	if (sigsetjmp(back, 1) == 0)
		raise(SIGBUS);
	assert_int_equal(told, 2);
	atomic_store(&w.slot->closed, 1);
	expect_zeros(&w);
	assert_int_equal(told, 2);
}

TEST_CASE(a_plain_handler_is_kept)
{
	signal(SIGBUS, on_signal);
	guarded_world();
	raise(SIGBUS);
	assert_int_equal(told, 3);
}
