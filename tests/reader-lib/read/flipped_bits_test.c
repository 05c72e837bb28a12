/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small arena with one bit flipped, each bit in turn. A verifying reader gives the right answer or reports
 * damage. Another reader may be wrong, but reads nothing outside the arena, and ends.
 *
 * Hashes have four bits, so that tries are full of collisions. The arena's file ends with its last page: a
 * read beyond raises a signal.
 *
 * Of objects, values and shapes only every n-th bit is flipped.
 */
#include <sys/time.h>

#include "tests/room.h"
#include "tests/support/lone_reader.h"
#include "tests/support/reader_calls.h"
#include "tests/support/short_hash.h"

#define CPU_SECONDS 10 /* for all calls after one flip */
#define BLOCKS_MAX 4096u

/* ---- the arena and its reader ---- */

/* right: each call's answer for the undamaged arena */
struct world {
	struct store_fixture *fx;
	struct slot *slot;
	int slot_fd;
	struct reader reader;
	struct reader_answer answer;
	struct reader_answer *right;
	uint32_t refs[BLOCKS_MAX];
	unsigned count;
	size_t wrong, damaged, flips;
};

/* For the signal handler: the present flip. */
static volatile uint64_t flipped_at;
static volatile unsigned flipped_bit;
static const char *volatile calling = "nothing";

static void
tell_and_end(int signal)
{
	char text[160];
	/* NOLINTNEXTLINE(bugprone-signal-handler): the process ends with this */
	int n = snprintf(text, sizeof(text), "bit %u of byte %llu flipped, %s: signal %d%s\n", flipped_bit,
			 (unsigned long long)flipped_at, calling, signal,
			 signal == SIGPROF ? " (it does not end)" : "");

	(void)!write(STDERR_FILENO, text, (size_t)n);
	_exit(1);
}

static void
ask(struct world *w, const struct reader_call *call, bool anew)
{
	struct reader_answer *a = &w->answer;
	int e;

	calling = call->name;
	memset(a, 0, offsetof(struct reader_answer, text));
	a->anew = anew;
	e = call->before ? call->before(&w->reader) : 0;
	if (e >= 0)
		call->call(&w->reader, a);
	else
		a->r = e;
	call->after(&w->reader);
	by_seq_done(w->reader.inf, &w->reader.by_seq);
}

static int
set_up(void **state, uint32_t flags)
{
	struct world *w = calloc(1, sizeof(*w));
	static const int signals[] = {SIGSEGV, SIGBUS, SIGPROF};
	struct informer *inf;

	assert_non_null(w);
	short_hash_mask = 15; /* so that there are collisions */
	w->fx = store_fixture_new(0);
	reader_calls_fill(w->fx);
	arena_set_state(w->fx->arena, HEADER_LIVE);
	assert_int_equal(ftruncate(w->fx->arena->fd, (off_t)w->fx->arena->view.committed), 0);
	w->count = store_fixture_blocks(w->fx, w->refs, BLOCKS_MAX);
	w->slot = lone_slot_new(&w->slot_fd);
	inf = lone_reader_new(w->fx->arena, w->fx->arena->fd, w->slot_fd, flags);
	assert_non_null(inf);
	w->reader.answer = &w->answer;
	reader_ready(&w->reader, inf);
	w->right = calloc(reader_calls_count, sizeof(*w->right));
	assert_non_null(w->right);
	for (size_t i = 0; i < reader_calls_count; i++) {
		ask(w, &reader_calls[i], true);
		w->right[i] = w->answer;
		if (w->answer.r < 0 && w->answer.r != INFORMER_E_NOT_FOUND)
			fail_msg("%s: %s", reader_calls[i].name, informer_error_name(w->answer.r));
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], tell_and_end);
	*state = w;
	return 0;
}

static int
set_up_plain(void **state)
{
	return set_up(state, 0);
}

static int
set_up_verifying(void **state)
{
	return set_up(state, INFORMER_VERIFY);
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	reader_done(&w->reader);
	informer_detach(w->reader.inf);
	test_unmap_slot(w->slot);
	close(w->slot_fd);
	free(w->right);
	store_fixture_free(w->fx);
	free(w);
	return 0;
}

static bool
says_damaged(int r)
{
	return r == INFORMER_E_CORRUPT || r == INFORMER_E_NOT_READY || r == INFORMER_E_EXPIRED;
}

/* Flip one bit and make every call. The slow calls that read definitions come every 16th time. */
static void
flip(struct world *w, uint64_t at, unsigned bit, bool verifies)
{
	static const struct itimerval most = {.it_value.tv_sec = CPU_SECONDS};
	uint8_t *byte = (uint8_t *)w->fx->arena->header + at;

	flipped_at = at;
	flipped_bit = bit;
	if (w->flips % 256 == 0)
		setitimer(ITIMER_PROF, &most, NULL);
	*byte ^= (uint8_t)(1u << bit);
	lone_reader_trust_again(w->reader.inf, true);
	reader_forget_shapes(&w->reader);
	for (size_t i = 0; i < reader_calls_count; i++) {
		if (reader_calls[i].is_long && w->flips % 16)
			continue;
		ask(w, &reader_calls[i], true);
		if (says_damaged(w->answer.r)) {
			w->damaged++;
		} else if (!reader_answer_same(&w->answer, &w->right[i])) {
			w->wrong++;
			if (verifies)
				fail_msg("bit %u of byte %llu flipped, %s: %s, and right is %s", bit,
					 (unsigned long long)at, reader_calls[i].name,
					 informer_error_name(w->answer.r),
					 informer_error_name(w->right[i].r));
		}
	}
	*byte ^= (uint8_t)(1u << bit);
	lone_reader_map_again(w->reader.inf);
	w->flips++;
}

static bool
is_content(const struct block *b)
{
	return block_type(b) == BLOCK_OBJECT || block_type(b) == BLOCK_VALUE || block_type(b) == BLOCK_SHAPE;
}

static void
flip_all(struct world *w, bool verifies, unsigned each)
{
	static const size_t words[] = {
		offsetof(struct header, root), offsetof(struct header, committed_bytes),
		offsetof(struct header, state), offsetof(struct header, superseded_by)};
	const struct itimerval none = {0};
	/* in the short half, some bits of each byte that is the arena's own */
	unsigned apart = test_is_long() ? 1 : 5;
	uint64_t bits = 0;

	each *= test_is_long() ? 1 : 10;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (unsigned bit = 0; bit < 64; bit++)
			flip(w, words[i] + bit / 8, bit % 8, verifies);
	for (unsigned i = 0; i < w->count; i++) {
		const struct block *b = arena_block(w->fx->arena, w->refs[i]);
		uint64_t bytes = sizeof(*b) + tag_covered(b); /* the cells of shortcuts are hints */

		for (uint64_t bit = 0; bit < 8 * bytes; bit++)
			if (bit < 8 * sizeof(*b) || !is_content(b) ? (bit + i) % apart == 0
								   : bits++ % each == 0)
				flip(w, ref_offset(w->refs[i]) + bit / 8, (unsigned)(bit % 8), verifies);
	}
	setitimer(ITIMER_PROF, &none, NULL);
	print_message("%u blocks, %zu flips: %zu answers were 'damaged', %zu wrong\n", w->count, w->flips,
		      w->damaged, w->wrong);
	assert_true(w->damaged > w->flips / 10);
	reader_forget_shapes(&w->reader);
	lone_reader_trust_again(w->reader.inf, true);
	for (size_t i = 0; i < reader_calls_count; i++) {
		ask(w, &reader_calls[i], true);
		assert_true(reader_answer_same(&w->answer, &w->right[i]));
	}
}

TEST_CASE_IN(set_up_verifying, tear_down, any_bit_leaves_a_verifying_reader_right_or_warned)
{
	flip_all(*state, true, 101);
}

TEST_CASE_IN(set_up_plain, tear_down, any_bit_leaves_a_plain_reader_within_bounds)
{
	flip_all(*state, false, 23);
}
