/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups by key and by index: ours, LMDB's and client-go's, round by round, at three sizes. At the largest
 * the store is also verified and adopted.
 *
 * A lookup of ours is what an agent does: begin a snapshot, get, read spec.nodeName through a compiled path,
 * end it.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "reader-lib/informer.h"
#include "tests/bench/client_go.h"
#include "tests/bench/lmdb_side.h"
#include "tests/bench/lookup_cost.h"
#include "tests/bench/world.h"

unsigned long lookup_sink;

/* ---- what is asked for ---- */

static size_t
pick(uint64_t *seed, size_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)((*seed >> 32) * below >> 32);
}

void
questions_init(struct questions *q, const struct bench *b, enum pods_naming naming, size_t total)
{
	size_t room = (size_t)QUESTIONS * 128, used = 0;
	uint64_t seed = 42;

	*q = (struct questions){.pods = total, .count = QUESTIONS, .node_count = total / 50 ? total / 50 : 1};
	q->keys = calloc(q->count, sizeof(*q->keys));
	q->text = malloc(room);
	q->nodes = calloc(q->node_count, sizeof(*q->nodes));
	if (!q->keys || !q->text || !q->nodes)
		abort();
	for (size_t i = 0; i < q->count; i++) {
		struct pod_names names;
		struct question *k = &q->keys[i];

		pods_names(b->pods, naming, pick(&seed, total), total, &names);
		if (room - used < sizeof(names)) {	/* names are longer than usual: ask fewer questions */
			q->count = i;
			break;
		}
		k->key = q->text + used;
		k->ns_length = (uint16_t)strlen(names.ns);
		k->name_length = (uint16_t)strlen(names.name);
		used += (size_t)sprintf(q->text + used, "%s/%s", names.ns, names.name) + 1;
	}
	for (size_t i = 0; i < q->node_count; i++)
		pods_node_name(pick(&seed, q->node_count), q->nodes[i]);
}

void
questions_done(struct questions *q)
{
	free(q->keys);
	free(q->text);
	free(q->nodes);
	*q = (struct questions){0};
}

/* ---- ours ---- */

int
lookup_reader_init(struct lookup_reader *r, const char *socket)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = socket, .reader_name = "bench"};
	int e;

	*r = (struct lookup_reader){0};
	e = informer_attach(&options, &r->inf);
	if (e == 0)
		e = informer_wait_synced(r->inf, "pods", 10000);
	if (e == 0)
		e = informer_resource_open(r->inf, "pods", &r->pods);
	if (e == 0)
		e = informer_path_compile(r->inf, "spec.nodeName", 13, &r->node);
	if (e < 0) {
		fprintf(stderr, "bench: %s\n", informer_strerror(e));
		lookup_reader_done(r);
	}
	return e;
}

void
lookup_reader_done(struct lookup_reader *r)
{
	informer_path_free(r->node);
	informer_detach(r->inf);
	*r = (struct lookup_reader){0};
}

static double
round_get(struct lookup_reader *r, const struct questions *q, size_t ops, size_t *at)
{
	unsigned long sum = 0;
	uint64_t t = cpu_ns();

	for (size_t i = 0, k = *at; i < ops; i++) {
		unsigned read = lookup_one(r, &q->keys[k]);

		if (read == 0)
			r->missed++;
		sum += read;
		if (++k == q->count)
			k = 0;
	}
	t = cpu_ns() - t;
	*at = (*at + ops) % q->count;
	lookup_sink += sum;
	return (double)t / (double)ops;
}

static double
round_index(struct lookup_reader *r, const struct questions *q, size_t ops, size_t *at, double *ret_pods)
{
	unsigned long sum = 0, pods = 0;
	uint64_t t = cpu_ns();

	for (size_t i = 0; i < ops; i++, (*at)++) {
		const char *node = q->nodes[*at % q->node_count];
		struct informer_snapshot s;
		struct informer_iter it;
		struct informer_object pod;
		const char *name;
		size_t length;

		if (informer_begin(r->inf, &s) < 0)
			continue;
		if (informer_by_index(&s, r->pods, "nodeName", node, strlen(node), &it) == 0)
			while (informer_next(&it, &pod) > 0 &&
			       informer_object_name(&pod, &name, &length) == 0) {
				sum += length + (unsigned char)name[0];
				pods++;
			}
		informer_end(&s);
	}
	t = cpu_ns() - t;
	lookup_sink += sum;
	*ret_pods = (double)pods / (double)ops;
	return (double)t / (double)ops;
}

/* ---- LMDB's ---- */

static double
round_lmdb_get(struct lmdb_reader *r, const struct questions *q, size_t ops, size_t *at)
{
	unsigned long sum = 0;
	uint64_t t = cpu_ns();

	for (size_t i = 0, k = *at; i < ops; i++) {
		sum += lmdb_get(r, q->keys[k].key, q->keys[k].ns_length + 1u + q->keys[k].name_length);
		if (++k == q->count)
			k = 0;
	}
	t = cpu_ns() - t;
	*at = (*at + ops) % q->count;
	lookup_sink += sum;
	return (double)t / (double)ops;
}

static double
round_lmdb_index(struct lmdb_reader *r, const struct questions *q, size_t ops, size_t *at)
{
	unsigned sum = 0;
	uint64_t t = cpu_ns();

	for (size_t i = 0; i < ops; i++, (*at)++) {
		const char *node = q->nodes[*at % q->node_count];

		lmdb_by_node(r, node, strlen(node), &sum);
	}
	t = cpu_ns() - t;
	lookup_sink += sum;
	return (double)t / (double)ops;
}

/* ---- one size ---- */

struct size {
	struct bench *b;
	size_t total;
	const char *label;		/* "10k" */
	struct world *world;
	struct lmdb_side *lmdb;
	struct lmdb_reader lmdb_reader;
	struct lookup_reader reader;
	struct questions questions;
	struct process go;		/* pid 0: not there */
	char why_no_go[128];
	double go_heap, go_json;

	struct rounds get, lmdb_get, go_get, index, lmdb_index, go_index;
};

static void
compare(struct size *s)
{
	unsigned rounds = s->b->quick ? 3 : 9;
	size_t ops = s->b->quick ? 200000 : 400000, index_ops = s->b->quick ? 4000 : 10000;
	size_t at = 0, lmdb_at = 0, node_at = 0, lmdb_node_at = 0;
	char question[64];
	double pods, answer[2];

	/* caches, page tables and predictors see each side once before it counts */
	round_get(&s->reader, &s->questions, ops, &at);
	round_lmdb_get(&s->lmdb_reader, &s->questions, ops, &lmdb_at);
	at = lmdb_at = 0;
	for (unsigned i = 0; i < rounds; i++) {
		rounds_add(&s->get, round_get(&s->reader, &s->questions, ops, &at));
		rounds_add(&s->lmdb_get, round_lmdb_get(&s->lmdb_reader, &s->questions, ops, &lmdb_at));
		if (s->go.pid) {
			snprintf(question, sizeof(question), "get %zu", ops);
			if (process_ask(&s->go, question, answer, 1, 60) == 0)
				rounds_add(&s->go_get, answer[0]);
		}
	}
	for (unsigned i = 0; i < rounds; i++) {
		rounds_add(&s->index, round_index(&s->reader, &s->questions, index_ops, &node_at, &pods));
		rounds_add(&s->lmdb_index,
			   round_lmdb_index(&s->lmdb_reader, &s->questions, index_ops / 4, &lmdb_node_at));
		if (s->go.pid) {
			snprintf(question, sizeof(question), "index %zu", index_ops);
			if (process_ask(&s->go, question, answer, 2, 60) == 0)
				rounds_add(&s->go_index, answer[0]);
		}
	}
}

static void
span(const struct rounds *r, char text[48])
{
	snprintf(text, 48, "%.0f–%.0f", rounds_min(r), rounds_max(r));
}

static void
report_get(struct size *s)
{
	struct report *report = s->b->report;
	char name[48], ours[48], theirs[48];
	struct row *row;

	span(&s->get, ours);
	span(&s->lmdb_get, theirs);
	snprintf(name, sizeof(name), "get_%s", s->label);
	row = report_add(
		report, name, "ns", rounds_median(&s->get), "LMDB", rounds_median(&s->lmdb_get),
		"%zu pods (%s), random keys; ours: begin, get, read nodeName, end; LMDB: renew, get, read "
		"nodeName at its fixed "
		"place, reset; tmpfs, NOSYNC|WRITEMAP, value is the JSON; %u rounds, ours %s, LMDB %s%s",
		s->total, s->b->pods_note, s->get.count, ours, theirs,
		s->reader.missed ? "; SOME LOOKUPS FAILED" : "");
	row->target = (struct target){.ratio = 3, .ratio_aim = 5};
	snprintf(name, sizeof(name), "get_%s_client_go", s->label);
	if (!s->go.pid) {
		report_skip(report, name, "ns", "%s", s->why_no_go);
		return;
	}
	span(&s->go_get, theirs);
	row = report_add(report, name, "ns", rounds_median(&s->get), "client-go GetByKey",
			 rounds_median(&s->go_get),
			 "%zu pods, random keys, nodeName read on both sides; %u rounds in turn, ours %s, "
			 "client-go %s",
			 s->total, s->go_get.count, ours, theirs);
	row->target = s->total < 100000 ? (struct target){.ratio = 1}
					: (struct target){.ratio = 1.5, .ratio_aim = 2};
}

static void
report_index(struct size *s)
{
	struct report *report = s->b->report;
	char name[48], ours[48], theirs[48];
	struct row *row;

	span(&s->index, ours);
	if (s->total == 10000) {
		bool go = s->go.pid > 0;

		row = report_add(
			report, "by_index_10k", "ns", rounds_median(&s->index),
			go ? "client-go ByIndex" : "LMDB DUPSORT",
			rounds_median(go ? &s->go_index : &s->lmdb_index),
			"10000 pods, the 50 of a random node, each one's name read; %u rounds, ours %s%s",
			s->index.count, ours, go ? "" : "; client-go is not here, so LMDB stands in");
		row->target = (struct target){.ratio = 3};
	}
	snprintf(name, sizeof(name), "by_index_%s_client_go", s->label);
	span(&s->go_index, theirs);
	if (s->go.pid) {
		row = report_add(report, name, "ns", rounds_median(&s->index), "client-go ByIndex",
				 rounds_median(&s->go_index),
				 "%zu pods, the 50 of a random node, each one's name read on both sides; "
				 "ours %s, client-go %s",
				 s->total, ours, theirs);
		row->target = (struct target){.ratio = 3};
	} else {
		report_skip(report, name, "ns", "%s", s->why_no_go);
	}
	span(&s->lmdb_index, theirs);
	snprintf(name, sizeof(name), "by_index_%s_lmdb", s->label);
	report_add(report, name, "ns", rounds_median(&s->index), "LMDB DUPSORT",
		   rounds_median(&s->lmdb_index),
		   "%zu pods, the 50 of a random node; LMDB: cursor over the node's keys, get each; ours %s, "
		   "LMDB %s",
		   s->total, ours, theirs);
}

/* ---- two readers ---- */

struct pair {
	struct lookup_reader reader;
	struct lmdb_reader lmdb_reader;
	const struct questions *questions;
	size_t ops, at;
	bool lmdb;
	double ns;
	pthread_barrier_t *start;
};

static void *
run_one_of_two(void *context)
{
	struct pair *p = context;

	pthread_barrier_wait(p->start);
	p->ns = p->lmdb ? round_lmdb_get(&p->lmdb_reader, p->questions, p->ops, &p->at)
			: round_get(&p->reader, p->questions, p->ops, &p->at);
	return NULL;
}

static double
round_two(struct pair *pair, bool lmdb)
{
	pthread_barrier_t start;
	pthread_t threads[2];

	pthread_barrier_init(&start, NULL, 2);
	for (int i = 0; i < 2; i++) {
		pair[i].lmdb = lmdb;
		pair[i].start = &start;
		if (pthread_create(&threads[i], NULL, run_one_of_two, &pair[i]) != 0)
			abort();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start);
	return (pair[0].ns + pair[1].ns) / 2;
}

static void
two_readers(struct size *s)
{
	struct pair pair[2];
	struct rounds ours = {0}, lmdb = {0}, go = {0};
	size_t ops = s->b->quick ? 200000 : 400000;
	char question[64], span_ours[48], span_theirs[48];
	double answer;
	int r = 0;

	memset(pair, 0, sizeof(pair));
	for (size_t i = 0; i < 2 && r == 0; i++) {
		pair[i].questions = &s->questions;
		pair[i].ops = ops;
		pair[i].at = i * s->questions.count / 2;
		r = lookup_reader_init(&pair[i].reader, s->world->socket);
		if (r == 0)
			r = lmdb_reader_init(&pair[i].lmdb_reader, s->lmdb);
	}
	snprintf(question, sizeof(question), "get2 %zu", ops);
	for (unsigned i = 0; r == 0 && i < (s->b->quick ? 3u : 7u); i++) {
		rounds_add(&ours, round_two(pair, false));
		rounds_add(&lmdb, round_two(pair, true));
		if (s->go.pid && process_ask(&s->go, question, &answer, 1, 60) == 0)
			rounds_add(&go, answer);
	}
	for (int i = 0; i < 2; i++) {
		lookup_reader_done(&pair[i].reader);
		lmdb_reader_done(&pair[i].lmdb_reader);
	}
	if (r < 0) {
		report_skip(s->b->report, "get_10k_two_readers", "ns", "no second reader");
		return;
	}
	span(&ours, span_ours);
	span(go.count ? &go : &lmdb, span_theirs);
	report_add(s->b->report, "get_10k_two_readers", "ns", rounds_median(&ours),
		   go.count ? "client-go, two goroutines" : "LMDB", rounds_median(go.count ? &go : &lmdb),
		   "two readers at once, each with its own handle, mean of both; alone %.0f; ours %s, peer "
		   "%s; LMDB %.0f",
		   rounds_median(&s->get), span_ours, span_theirs, rounds_median(&lmdb));
}

/* ---- the sizes ---- */

static bool
open_size(struct size *s)
{
	struct bench *b = s->b;

	fprintf(stderr, "%zu pods ...\n", s->total);
	s->world = world_new(b);
	if (!s->world || world_load(s->world, b, PODS_SPREAD, s->total) < 0 || world_serve(s->world) < 0)
		return false;
	s->lmdb = lmdb_side_new(b, PODS_SPREAD, s->total);
	if (!s->lmdb || lmdb_reader_init(&s->lmdb_reader, s->lmdb) < 0 ||
	    lookup_reader_init(&s->reader, s->world->socket) < 0)
		return false;
	questions_init(&s->questions, b, PODS_SPREAD, s->total);
	snprintf(s->why_no_go, sizeof(s->why_no_go), "%s", b->why_no_client_go);
	if (!b->client_go)
		return true;
	if (b->quick && s->total > 10000) {
		snprintf(s->why_no_go, sizeof(s->why_no_go),
			 "client-go needs half a minute to load %zu pods; run without QUICK=1", s->total);
	} else if (process_bytes(0, "../meminfo", "MemAvailable:") <
		   (int64_t)(s->total * 40000 + (1u << 30))) {
		snprintf(s->why_no_go, sizeof(s->why_no_go),
			 "client-go with %zu pods does not fit into this machine's memory", s->total);
	} else if (go_rounds_start(b, &s->go, s->total, &s->go_heap, &s->go_json) < 0) {
		snprintf(s->why_no_go, sizeof(s->why_no_go), "the client-go program failed");
	}
	return true;
}

static void
close_size(struct size *s)
{
	process_end(&s->go, SIGKILL);
	lookup_reader_done(&s->reader);
	lmdb_reader_done(&s->lmdb_reader);
	lmdb_side_free(s->lmdb);
	world_free(s->world);
	questions_done(&s->questions);
}

/*
 * Everything that is measured at one size; what depends on another file's code is called from here while the
 * sides stand.
 */
static void
measure_size(struct bench *b, size_t total, const char *label)
{
	struct size s = {.b = b, .total = total, .label = label};
	char name[48];

	if (!open_size(&s)) {
		snprintf(name, sizeof(name), "get_%s", label);
		report_skip(b->report, name, "ns", "there is no room for %zu pods in the store and in LMDB",
			    total);
		if (total == 10000)
			report_skip(b->report, "by_index_10k", "ns", "see %s", name);
		if (total == 100000)
			report_skip(b->report, "adopt_ms", "ms", "see %s", name);
		close_size(&s);
		return;
	}
	compare(&s);
	report_get(&s);
	report_index(&s);
	if (total == 10000) {
		b->client_go_heap = s.go.pid ? s.go_heap : 0;
		two_readers(&s);
		measure_with_writer(b, s.world, &s.reader, &s.questions, s.go.pid ? &s.go : NULL,
				    rounds_median(&s.get));
		measure_reader(b, s.world, &s.questions);
	}
	process_end(&s.go, SIGKILL);
	if (total == 100000) {
		lookup_reader_done(&s.reader);
		lmdb_reader_done(&s.lmdb_reader);
		lmdb_side_free(s.lmdb);
		s.lmdb = NULL;
		measure_adopt(b, s.world);
	}
	close_size(&s);
}

void
measure_lookups(struct bench *b)
{
	measure_size(b, 1000, "1k");
	measure_size(b, 10000, "10k");
	measure_size(b, 100000, "100k");
}
