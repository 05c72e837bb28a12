/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-run's supervisor under random workers, which acknowledge, ask for retries, crash and hang. Each
 * key's events come in order, none is lost, and every acknowledged event is done. SEED=N repeats a run.
 */
#include "tests/tools/informer-run/supervisor_fixture.h"

#define KEYS 12
#define EVENTS 1500
#define POISON 250 /* each event with such a seq crashes its worker */

/* done[seq]: acknowledged by a worker, or set aside. key_of[seq]; newest[key]: the last seq sent */
struct model {
	struct world world;
	bool done[EVENTS + 1];
	unsigned key_of[EVENTS + 1];
	uint64_t newest[KEYS];
	size_t seen[WORLD_WORKERS]; /* how much of each worker's `sent` was checked */
	struct {
		uint64_t seqs[64];
		size_t count;
	} hands[WORLD_WORKERS];
	uint32_t random;
};

static uint32_t
chance(struct model *m, uint32_t below)
{
	m->random = m->random * 1664525u + 1013904223u;
	return (m->random >> 8) % below;
}

/* Events sent since the last check are in their workers' hands, and in order. */
static void
look(struct model *m, uint32_t workers)
{
	for (uint32_t i = 0; i < workers; i++) {
		struct world_worker *worker = &m->world.workers[i];

		for (; m->seen[i] < worker->sent_count; m->seen[i]++) {
			uint64_t seq = worker->sent[m->seen[i]];
			unsigned key = m->key_of[seq];

			assert_false(m->done[seq]);
			/* a retry, or a later event of the key after all before it were done */
			assert_true(seq >= m->newest[key]);
			for (uint64_t k = m->newest[key]; k > 0 && k < seq; k++)
				assert_true(m->key_of[k] != key || m->done[k] || k > m->newest[key]);
			m->newest[key] = seq;
			assert_true(m->hands[i].count < 64);
			m->hands[i].seqs[m->hands[i].count++] = seq;
		}
		/* what was checked makes room */
		worker->sent_count = m->seen[i] = 0;
	}
}

static uint64_t
take_hand(struct model *m, uint32_t i, size_t n)
{
	uint64_t seq = m->hands[i].seqs[n];

	m->hands[i].count--;
	memmove(&m->hands[i].seqs[n], &m->hands[i].seqs[n + 1], (m->hands[i].count - n) * sizeof(uint64_t));
	return seq;
}

static void
crash(struct model *m, uint32_t i)
{
	size_t dead = m->world.dead_count;

	m->hands[i].count = 0;
	world_crash(&m->world, i);
	for (; dead < m->world.dead_count; dead++)
		m->done[m->world.dead[dead]] = true;
}

/* A random action of a worker. */
static void
act(struct model *m, uint32_t i)
{
	struct world_worker *worker = &m->world.workers[i];
	size_t n;
	uint64_t seq;

	if (worker->killed || (worker->up && chance(m, 40) == 0)) {
		crash(m, i);
		return;
	}
	if (m->hands[i].count == 0)
		return;
	/* mostly in order, as programs read */
	n = chance(m, 4) > 0 ? 0 : chance(m, (uint32_t)m->hands[i].count);
	if (m->hands[i].seqs[n] % POISON == 0) {
		crash(m, i);
	} else if (chance(m, 6) == 0) {
		seq = take_hand(m, i, n);
		assert_true(supervisor_retry(m->world.s, i, seq, chance(m, 2) ? -1 : (int64_t)chance(m, 300),
					     m->world.now));
	} else {
		seq = take_hand(m, i, n);
		m->done[seq] = true;
		world_ack(&m->world, i, seq);
	}
}

/* Every event before the acknowledged one is done. A merged event is done with the event that holds it. */
static void
check(const struct model *m)
{
	for (uint64_t seq = 1; seq <= m->world.acknowledged; seq++) {
		bool later = m->done[seq];

		for (uint64_t k = seq + 1; !later && k <= EVENTS; k++)
			later = m->key_of[k] == m->key_of[seq] && m->done[k];
		assert_true(later);
	}
}

static void
run_model(uint32_t seed, uint32_t workers)
{
	struct model *m = calloc(1, sizeof(*m));
	uint64_t seq = 0;

	assert_non_null(m);
	m->random = seed;
	m->world = (struct world){.options = SUPERVISOR_OPTIONS, .now = 1000};
	m->world.options.workers = workers;
	m->world.options.window = 1 + chance(m, 6);
	world_begin(&m->world);
	for (unsigned rounds = 0; m->world.acknowledged < EVENTS; rounds++) {
		assert_true(rounds < 2000000);
		if (seq < EVENTS && !m->world.held) {
			unsigned key = chance(m, KEYS);

			m->key_of[++seq] = key;
			world_offer(&m->world, CHANGE_MODIFIED, (char[]){(char)('a' + key), 0}, seq);
		}
		look(m, workers);
		if (chance(m, 3) > 0)
			act(m, chance(m, workers));
		look(m, workers);
		if (chance(m, 4) == 0 || seq == EVENTS)
			world_pass(&m->world, chance(m, 200));
		look(m, workers);
		if (rounds % 64 == 0)
			check(m);
	}
	check(m);
	assert_false(supervisor_busy(m->world.s));
	supervisor_free(m->world.s);
	free(m);
}

TEST_CASE(random_workers_lose_no_event)
{
	uint32_t seed = (uint32_t)test_seed(1);

	print_message("SEED=%u\n", seed);
	for (uint32_t run = 0; run < 12; run++)
		run_model(seed + run * 7919, 1 + run % 4);
}
