/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent's lookup, and its questions: random keys, so many that no branch predictor learns their order.
 * Each has its own text, one after the other, so that reading a question costs the same at any size.
 */
#ifndef TESTS_BENCH_LOOKUP_COST_H
#define TESTS_BENCH_LOOKUP_COST_H

#include "reader-lib/informer.h"
#include "tests/bench/bench.h"

struct question {
	const char *key;	/* "namespace/name", terminated */
	uint16_t ns_length, name_length;
};

#define QUESTIONS (1u << 19)

struct questions {
	size_t pods;
	struct question *keys;
	size_t count;
	char (*nodes)[64];
	size_t node_count;
	char *text;
};

/* The next one; the first follows the last. */
static inline const struct question *
question_next(const struct questions *q, size_t *at)
{
	const struct question *ret = &q->keys[*at];

	*at = *at + 1 < q->count ? *at + 1 : 0;
	return ret;
}

struct lookup_reader {
	struct informer *inf;
	struct informer_resource *pods;
	struct informer_path *node;
};

void lookup_reader_init(struct lookup_reader *r, const char *socket);
void lookup_reader_done(struct lookup_reader *r);

extern unsigned long lookup_sink;	/* what was read goes here, so that it has to be read */

/* Returns what it read of the node's name. Fails when there is no such pod. */
static inline unsigned
lookup_one(struct lookup_reader *r, const struct question *q)
{
	struct informer_snapshot s;
	struct informer_object pod;
	const char *node;
	size_t length;
	unsigned read;

	if (informer_begin(r->inf, &s) < 0 ||
	    informer_get(&s, r->pods, q->key, q->ns_length, q->key + q->ns_length + 1, q->name_length,
			 &pod) != 0 ||
	    informer_get_string(&pod, r->node, &node, &length) != 0 || length == 0)
		bench_fail("no pod %s", q->key);
	read = (unsigned)length + (unsigned char)node[0];
	informer_end(&s);
	return read;
}

/* ---- further measurements on a store of pods ---- */

struct world;
struct process;

/* get_10k_with_writer_10k_per_s, worst_get_10k_with_writer_us; go without a pid: not there */
void measure_with_writer(struct bench *b, struct world *w, struct lookup_reader *reader,
			 const struct questions *q, struct process *go);
/* reader_private_bytes, attach_us */
void measure_reader(struct bench *b, struct world *w, const struct questions *q);

#endif
