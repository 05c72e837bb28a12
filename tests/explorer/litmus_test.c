/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the explorer itself with small programs whose outcomes are known. What C11 allows is reached, what it
 * forbids is not. Races and lost wake-ups are found. Each run begins with the same memory.
 */
#include <stdatomic.h>

#include "tests/explorer/explorer.h"
#include "tests/room.h"

static _Atomic int x, y;
static int plain, a, b, c, d;

#define STORE(to, value, order) atomic_store_explicit(&(to), value, memory_order_##order)
#define LOAD(from, order) atomic_load_explicit(&(from), memory_order_##order)
#define THREAD(name, ...)                                                                                    \
	static void name(void)                                                                               \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}
#define NEVER(name, what)                                                                                    \
	static void name(void)                                                                               \
	{                                                                                                    \
		explorer_claim(!(what), "a %d, b %d, c %d, d %d", a, b, c, d);                               \
	}

static struct explorer_program
two(const char *name, void (*first)(void), void (*second)(void), void (*end)(void))
{
	return (struct explorer_program){.name = name,
					 .threads = {{"first", first}, {"second", second}},
					 .end = end,
					 .preemptions = 4,
					 .old_values = 4};
}

static void
never(struct explorer_program p)
{
	explorer_expect_good(&p);
}

static void
sometimes(struct explorer_program p)
{
	explorer_expect_bad(&p);
}

/* ---- store buffering: the reordering that x86 does ---- */

THREAD(sb_first, STORE(x, 1, release); a = LOAD(y, acquire);)
THREAD(sb_second, STORE(y, 1, release); b = LOAD(x, acquire);)
THREAD(sb_first_fence, STORE(x, 1, relaxed); atomic_thread_fence(memory_order_seq_cst); a = LOAD(y, relaxed);)
THREAD(sb_second_fence, STORE(y, 1, relaxed); atomic_thread_fence(memory_order_seq_cst);
       b = LOAD(x, relaxed);)
THREAD(sb_first_sc, STORE(x, 1, seq_cst); a = LOAD(y, seq_cst);)
THREAD(sb_second_sc, STORE(y, 1, seq_cst); b = LOAD(x, seq_cst);)
NEVER(both_missed, a == 0 && b == 0)

TEST_CASE(stores_wait_until_a_fence)
{
	sometimes(two("store buffering", sb_first, sb_second, both_missed));
	sometimes(two("store buffering, one fence", sb_first_fence, sb_second, both_missed));
	never(two("store buffering, fences", sb_first_fence, sb_second_fence, both_missed));
	never(two("store buffering, seq_cst", sb_first_sc, sb_second_sc, both_missed));
}

/* ---- message passing ---- */

THREAD(mp_relaxed, STORE(x, 1, relaxed); STORE(y, 1, relaxed);)
THREAD(mp_release, STORE(x, 1, relaxed); STORE(y, 1, release);)
THREAD(mp_fence, STORE(x, 1, relaxed); atomic_thread_fence(memory_order_release); STORE(y, 1, relaxed);)
THREAD(mp_read_acquire, a = LOAD(y, acquire); b = LOAD(x, relaxed);)
THREAD(mp_read_relaxed, a = LOAD(y, relaxed); b = LOAD(x, relaxed);)
THREAD(mp_read_fence, a = LOAD(y, relaxed); atomic_thread_fence(memory_order_acquire); b = LOAD(x, relaxed);)
NEVER(came_before, a == 1 && b == 0)

TEST_CASE(a_message_needs_release_and_acquire)
{
	sometimes(two("message, relaxed store", mp_relaxed, mp_read_acquire, came_before));
	sometimes(two("message, relaxed load", mp_release, mp_read_relaxed, came_before));
	never(two("message", mp_release, mp_read_acquire, came_before));
	never(two("message, fences", mp_fence, mp_read_fence, came_before));
	never(two("message, fence and acquire", mp_fence, mp_read_acquire, came_before));
}

/* Another thread's exchange continues a release sequence. */
THREAD(pass_on, int one = 1;
       atomic_compare_exchange_strong_explicit(&y, &one, 2, memory_order_relaxed, memory_order_relaxed);)
THREAD(read_two, a = LOAD(y, acquire) == 2; b = LOAD(x, relaxed);)
THREAD(overwrite, if (LOAD(y, relaxed) == 1) STORE(y, 2, relaxed);)

TEST_CASE(exchanges_pass_a_release_on)
{
	struct explorer_program p = two("release sequence", mp_release, read_two, came_before);

	p.threads[2].name = "third";
	p.threads[2].run = pass_on;
	never(p);
	p.name = "no release sequence";
	p.threads[2].run = overwrite;
	sometimes(p);
}

/* ---- one word ---- */

THREAD(two_stores, STORE(x, 1, relaxed); STORE(x, 2, relaxed);)
THREAD(two_loads, a = LOAD(x, relaxed); b = LOAD(x, relaxed);)
NEVER(back, a > b)
NEVER(old_then_new, a == 0 && b == 2)
THREAD(add_first, a = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);)
THREAD(add_second, b = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);)
NEVER(lost_addition, x != 2 || a == b)
THREAD(load_and_store, STORE(x, LOAD(x, relaxed) + 1, relaxed);)
NEVER(lost, x != 2)

TEST_CASE(one_word_goes_forward)
{
	never(two("coherence", two_stores, two_loads, back));
	sometimes(two("old and new", two_stores, two_loads, old_then_new));
	never(two("additions", add_first, add_second, lost_addition));
	sometimes(two("load and store", load_and_store, load_and_store, lost));
}

/* ---- two writers, two readers ---- */

THREAD(set_x, STORE(x, 1, release);)
THREAD(set_y, STORE(y, 1, release);)
THREAD(set_x_sc, STORE(x, 1, seq_cst);)
THREAD(set_y_sc, STORE(y, 1, seq_cst);)
THREAD(x_then_y, a = LOAD(x, acquire); b = LOAD(y, acquire);)
THREAD(y_then_x, c = LOAD(y, acquire); d = LOAD(x, acquire);)
THREAD(x_then_y_sc, a = LOAD(x, seq_cst); b = LOAD(y, seq_cst);)
THREAD(y_then_x_sc, c = LOAD(y, seq_cst); d = LOAD(x, seq_cst);)
NEVER(disagree, a == 1 && b == 0 && c == 1 && d == 0)

static struct explorer_program
four(const char *name, void (*third)(void), void (*fourth)(void), void (*end)(void))
{
	struct explorer_program p = two(name, set_x, set_y, end);

	p.threads[2].name = "third";
	p.threads[2].run = third;
	p.threads[3].name = "fourth";
	p.threads[3].run = fourth;
	p.preemptions = 2;
	p.old_values = 2;
	return p;
}

TEST_CASE(only_seq_cst_is_one_order)
{
	struct explorer_program p = four("readers agree", x_then_y_sc, y_then_x_sc, disagree);

	sometimes(four("readers disagree", x_then_y, y_then_x, disagree));
	p.threads[0].run = set_x_sc;
	p.threads[1].run = set_y_sc;
	never(p);
}

/* ---- plain bytes, locks, and what is put back ---- */

THREAD(write_and_say, plain = 7; STORE(y, 1, release);)
THREAD(write_and_say_relaxed, plain = 7; STORE(y, 1, relaxed);)
THREAD(read_when_told, if (LOAD(y, acquire)) a = plain;)
THREAD(read_at_once, a = plain;)
NEVER(half, a != 0 && a != 7)

TEST_CASE(races_are_found)
{
	never(two("told of plain bytes", write_and_say, read_when_told, half));
	sometimes(two("plain bytes, relaxed", write_and_say_relaxed, read_when_told, half));
	sometimes(two("plain bytes at once", write_and_say, read_at_once, half));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
THREAD(add_locked, pthread_mutex_lock(&lock); plain++; pthread_mutex_unlock(&lock);)
NEVER(not_two, plain != 2)
THREAD(lock_both, pthread_mutex_lock(&lock); pthread_mutex_lock(&other); pthread_mutex_unlock(&other);
       pthread_mutex_unlock(&lock);)
THREAD(both_the_other_way, pthread_mutex_lock(&other); pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock);
       pthread_mutex_unlock(&other);)
THREAD(nothing, )

TEST_CASE(locks_order_and_deadlocks_are_found)
{
	never(two("a lock", add_locked, add_locked, not_two));
	sometimes(two("two locks", lock_both, both_the_other_way, NULL));
}

static int *from_before;
THREAD(use_memory, int *p = calloc(1, sizeof(*p)); explorer_claim(p && *p == 0, "not new"); *p = 1;
       explorer_claim(++*from_before == 1, "not put back"); STORE(x, 1, relaxed);)
THREAD(set_plain, plain = 5;)
NEVER(not_begun, plain != 5)

TEST_CASE(each_run_begins_alike)
{
	struct explorer_program p = two("memory", use_memory, mp_read_relaxed, not_begun);

	from_before = calloc(1, sizeof(*from_before));
	assert_non_null(from_before);
	p.begin = set_plain;
	never(p);
	assert_int_equal(*from_before, 0);
	assert_int_equal(plain, 0);
	free(from_before);
	never(two("nothing", nothing, nothing, NULL));
}
