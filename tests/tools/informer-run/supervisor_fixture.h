/* SPDX-License-Identifier: Apache-2.0 */
/* A supervisor with workers, a source and a clock that a test controls. world keeps what it asks for. */
#ifndef TESTS_TOOLS_INFORMER_RUN_SUPERVISOR_FIXTURE_H
#define TESTS_TOOLS_INFORMER_RUN_SUPERVISOR_FIXTURE_H

#include "tests/room.h"
#include "tools/informer-run/supervisor.h"

#define WORLD_WORKERS 8
#define WORLD_SENT 4096

struct world_worker {
	uint64_t sent[WORLD_SENT]; /* seqs in order; a mark is 1000000 + its type */
	size_t sent_count;
	unsigned starts;
	bool up;
	bool killed;
};

struct world {
	struct supervisor_options options;
	struct supervisor *s;
	uint64_t now;
	struct world_worker workers[WORLD_WORKERS];
	uint64_t acknowledged;
	uint64_t dead[64];
	size_t dead_count;
	int dead_error;
	int start_error;
	int send_error;
	bool held;
	unsigned holds;
	uint64_t resync; /* of the last mark */
};
#define MARK(type) (1000000u + (type))

static int
world_start(void *context, uint32_t i)
{
	struct world *w = context;

	if (w->start_error < 0)
		return w->start_error;
	w->workers[i].up = true;
	w->workers[i].killed = false;
	w->workers[i].starts++;
	return 0;
}

static int
world_send(void *context, uint32_t i, const struct event *event)
{
	struct world *w = context;

	assert_true(w->workers[i].sent_count < WORLD_SENT);
	w->workers[i].sent[w->workers[i].sent_count++] = event->seq;
	return w->send_error;
}

static void
world_mark(void *context, uint32_t i, const struct event *mark)
{
	struct world *w = context;

	w->workers[i].sent[w->workers[i].sent_count++] = MARK(mark->type);
	w->resync = mark->resync;
}

static void
world_kill(void *context, uint32_t i, const char *why)
{
	struct world *w = context;

	assert_non_null(why);
	w->workers[i].killed = true;
}

static void
world_acknowledge(void *context, const struct informer_cursor *cursor)
{
	struct world *w = context;

	assert_true(cursor->seq >= w->acknowledged);
	w->acknowledged = cursor->seq;
}

static int
world_set_aside(void *context, const struct event *event, const char *why)
{
	struct world *w = context;

	assert_non_null(why);
	if (w->dead_error < 0)
		return w->dead_error;
	assert_true(w->dead_count < 64);
	w->dead[w->dead_count++] = event->seq;
	return 0;
}

static void
world_hold(void *context, bool hold)
{
	struct world *w = context;

	assert_true(w->held != hold);
	w->held = hold;
	w->holds += hold;
}

static const struct supervisor_ops world_ops = {world_start, world_send,	   world_mark, world_kill,
						world_acknowledge, world_set_aside, world_hold};

/* Start again, with these options. */
static inline void
world_begin(struct world *w)
{
	supervisor_free(w->s);
	*w = (struct world){.options = w->options, .now = w->now};
	assert_int_equal(supervisor_new(&w->options, &world_ops, w, &w->s), 0);
	supervisor_tick(w->s, w->now);
}

/* cmocka's: *state is a started world with the usual options. */
static inline int
world_set_up(void **state)
{
	static struct world w = {.options = SUPERVISOR_OPTIONS, .now = 1000};

	world_begin(&w);
	*state = &w;
	return 0;
}

static inline int
world_tear_down(void **state)
{
	supervisor_free(((struct world *)*state)->s);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct world *w, world_set_up, world_tear_down, name)

static struct informer_cursor
world_cursor(uint64_t seq)
{
	return (struct informer_cursor){.lineage = {7}, .seq = seq};
}

/* An event whose object contains its seq. */
static inline struct event *
world_event(enum change_type type, const char *key, uint64_t seq)
{
	struct event *event = event_new(type, key);
	int n;

	assert_non_null(event);
	event->seq = seq;
	event->cursor = world_cursor(seq);
	event->advances = type != CHANGE_COALESCED && type != CHANGE_RESYNC;
	if (key) {
		n = asprintf(&event->object, "{\"v\":%llu}", (unsigned long long)seq);
		assert_true(n > 0);
		event->object_length = (size_t)n;
	}
	return event;
}

static inline void
world_offer(struct world *w, enum change_type type, const char *key, uint64_t seq)
{
	assert_int_equal(supervisor_offer(w->s, world_event(type, key, seq), w->now), 0);
}

/* "+a1 ~b2": a is added at seq 1, b is modified at seq 2. */
static inline void
world_offers(struct world *w, const char *words)
{
	for (const char *at = words; at; at = strchr(at, ' '), at = at ? at + 1 : NULL)
		world_offer(w, *at == '+' ? CHANGE_ADDED : CHANGE_MODIFIED, (char[]){at[1], 0},
			    strtoull(at + 2, NULL, 10));
}

static inline void
world_offer_initial(struct world *w, const char *key, uint64_t seq)
{
	struct event *event = world_event(CHANGE_ADDED, key, seq);

	event->initial = true;
	event->advances = false;
	assert_int_equal(supervisor_offer(w->s, event, w->now), 0);
}

/* RESYNC at seq 9, whose initial events are a and b; with_end: and its RESYNC_END. */
static inline void
world_offer_resync(struct world *w, bool with_end)
{
	world_offer(w, CHANGE_RESYNC, NULL, 9);
	world_offer_initial(w, "a", 1);
	world_offer_initial(w, "b", 2);
	if (with_end)
		world_offer(w, CHANGE_RESYNC_END, NULL, 9);
}

static inline void
world_ack(struct world *w, uint32_t i, uint64_t seq)
{
	assert_true(supervisor_acknowledged(w->s, i, seq, w->now));
}

/* world_ack() for each of these seqs. */
#define world_acks(w, i, ...)                                                                                \
	do {                                                                                                 \
		const uint64_t seqs_[] = {__VA_ARGS__};                                                      \
		for (size_t k_ = 0; k_ < sizeof(seqs_) / sizeof(*seqs_); k_++)                               \
			world_ack(w, i, seqs_[k_]);                                                          \
	} while (0)

static inline void
world_crash(struct world *w, uint32_t i)
{
	w->workers[i].up = false;
	supervisor_exited(w->s, i, SUPERVISOR_END_CRASH, "signal 9", w->now);
}

/* Let time pass, one due thing after another. */
static inline void
world_pass(struct world *w, uint64_t ms)
{
	uint64_t end = w->now + ms, next;

	while ((next = supervisor_next(w->s)) <= end && next != SUPERVISOR_NEVER) {
		w->now = next > w->now ? next : w->now;
		supervisor_tick(w->s, w->now);
		if (supervisor_next(w->s) <= w->now)
			break; /* only the test can give what it waits for */
	}
	w->now = end;
	supervisor_tick(w->s, w->now);
}

/* From `from` on, the worker was sent exactly these. */
#define world_expect(w, i, from, ...)                                                                        \
	do {                                                                                                 \
		const uint64_t expected_[] = {__VA_ARGS__};                                                  \
		size_t count_ = sizeof(expected_) / sizeof(*expected_);                                      \
		assert_int_equal((w)->workers[i].sent_count, (from) + count_);                               \
		for (size_t k_ = 0; k_ < count_; k_++)                                                       \
			assert_int_equal((w)->workers[i].sent[(from) + k_], expected_[k_]);                  \
	} while (0)
/* The worker was sent `count` things in all. */
#define world_expect_count(w, i, count) assert_int_equal((w)->workers[i].sent_count, count)

#endif
