/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups by key and by index: ours, LMDB's and client-go's, round by round, at three sizes. At the largest
 * the store is also adopted.
 *
 * A lookup of ours is an agent's: begin a snapshot, get, read spec.nodeName through a compiled path, end it.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lmdb.h>

#include "reader-lib/informer.h"
#include "tests/bench/lookup_cost.h"
#include "tests/bench/servers.h"
#include "tests/bench/world.h"

#define MANY 64u

unsigned long lookup_sink;

/* ---- questions ---- */

static size_t
pick(uint64_t *seed, size_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)((*seed >> 32) * below >> 32);
}

static void
questions_init(struct questions *q, const struct bench *b, size_t total)
{
	size_t room = (size_t)QUESTIONS * 128, used = 0;
	uint64_t seed = 42;

	*q = (struct questions){.pods = total, .count = QUESTIONS, .node_count = total / 50 ? total / 50 : 1};
	q->keys = bench_alloc(q->count, sizeof(*q->keys));
	q->text = bench_alloc(1, room);
	q->nodes = bench_alloc(q->node_count, sizeof(*q->nodes));
	for (size_t i = 0; i < q->count; i++) {
		struct pod_names names;
		struct question *k = &q->keys[i];

		pods_names(b->pods, PODS_SPREAD, pick(&seed, total), total, &names);
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

/* ---- LMDB ---- */

/*
 * LMDB at its fastest: on tmpfs, nothing synced, one read transaction kept and renewed for each lookup. A
 * value is the node's name, where it is cheapest to find, followed by the pod's JSON.
 */
struct lmdb_side {
	char directory[96];
	MDB_env *env;
	MDB_dbi pods;
};

/* Fails with LMDB's message unless r is 0. */
static void
lmdb_need(int r)
{
	if (r)
		bench_fail("LMDB: %s", mdb_strerror(r));
}

static void
fill(struct lmdb_side *l, const struct bench *b, enum pods_naming naming, size_t total)
{
	struct bytes value = {0};
	MDB_txn *txn;

	lmdb_need(mdb_txn_begin(l->env, NULL, 0, &txn));
	lmdb_need(mdb_dbi_open(txn, "pods", MDB_CREATE, &l->pods));
	for (size_t i = 0; i < total; i++) {
		struct pod_names names;
		char key[256];
		uint8_t length;

		pods_names(b->pods, naming, i, total, &names);
		snprintf(key, sizeof(key), "%.95s/%.159s", names.ns, names.name);
		length = (uint8_t)strlen(names.node);
		value.length = 0;
		if (bytes_append(&value, &length, 1) < 0 || bytes_append(&value, names.node, length) < 0)
			abort();
		pods_make(b->pods, naming, i, total, 0, &value);

		MDB_val k = {strlen(key), key}, v = {value.length, value.data};

		lmdb_need(mdb_put(txn, l->pods, &k, &v, 0));
	}
	bytes_done(&value);
	lmdb_need(mdb_txn_commit(txn));
}

static struct lmdb_side *
lmdb_side_new(const struct bench *b, enum pods_naming naming, size_t total)
{
	struct lmdb_side *l = bench_alloc(1, sizeof(*l));

	snprintf(l->directory, sizeof(l->directory), "%s/lmdb-XXXXXX", b->directory);
	if (!mkdtemp(l->directory))
		bench_need(-errno, l->directory);
	lmdb_need(mdb_env_create(&l->env));
	lmdb_need(mdb_env_set_mapsize(l->env, ((size_t)64 << 20) + total * 40960));
	lmdb_need(mdb_env_set_maxdbs(l->env, 1));
	lmdb_need(mdb_env_open(l->env, l->directory, MDB_NOSYNC | MDB_WRITEMAP, 0600));
	fill(l, b, naming, total);
	return l;
}

static void
lmdb_side_free(struct lmdb_side *l)
{
	char path[128];

	mdb_env_close(l->env);
	snprintf(path, sizeof(path), "%s/data.mdb", l->directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s/lock.mdb", l->directory);
	unlink(path);
	rmdir(l->directory);
	free(l);
}

struct lmdb_reader {
	const struct lmdb_side *side;
	MDB_txn *txn; /* reset between lookups */
};

/* One lookup by key: renew, get, read the node's name, reset. Returns what it read. */
static unsigned
lmdb_get(struct lmdb_reader *r, const char *key, size_t length)
{
	MDB_val k = {length, (void *)(uintptr_t)key}, v;
	unsigned read;

	mdb_txn_renew(r->txn);
	lmdb_need(mdb_get(r->txn, r->side->pods, &k, &v));
	read = ((const unsigned char *)v.mv_data)[0] + ((const unsigned char *)v.mv_data)[1];
	mdb_txn_reset(r->txn);
	return read;
}

/* ---- rounds: ns a lookup ---- */

void
lookup_reader_init(struct lookup_reader *r, const char *socket)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = socket, .reader_name = "bench"};

	bench_need(informer_attach(&options, &r->inf), "attach");
	bench_need(informer_wait_synced(r->inf, "pods", 10000), "sync");
	bench_need(informer_resource_open(r->inf, "pods", &r->pods), "pods");
	bench_need(informer_path_compile(r->inf, "spec.nodeName", 13, &r->node), "path");
}

void
lookup_reader_done(struct lookup_reader *r)
{
	informer_path_free(r->node);
	informer_detach(r->inf);
}

/* One thread's side of a comparison, and its place in the questions. */
struct asker {
	struct lookup_reader reader;
	struct lmdb_reader lmdb;
	const struct questions *questions;
	size_t key, node;
};

static double
get_ours(struct asker *a, size_t ops)
{
	unsigned long sum = 0;
	uint64_t t = cpu_ns();

	for (size_t i = 0; i < ops; i++)
		sum += lookup_one(&a->reader, question_next(a->questions, &a->key));
	t = cpu_ns() - t;
	lookup_sink += sum;
	return (double)t / (double)ops;
}

/* The same, MANY keys in each snapshot. */
static double
get_many_ours(struct asker *a, size_t ops)
{
	struct informer_object pods[MANY];
	struct informer_key keys[MANY];
	struct informer_snapshot s;
	const char *node;
	unsigned long sum = 0;
	size_t length, found;
	uint64_t t = cpu_ns();

	for (size_t i = 0; i < ops; i += MANY) {
		for (size_t k = 0; k < MANY; k++) {
			const struct question *q = question_next(a->questions, &a->key);

			keys[k] = (struct informer_key){q->key, q->ns_length, q->key + q->ns_length + 1,
							q->name_length};
		}
		if (informer_begin(a->reader.inf, &s) < 0 ||
		    informer_get_many(&s, a->reader.pods, keys, MANY, pods, &found) != 0 || found != MANY)
			bench_fail("no pods");
		for (size_t k = 0; k < MANY; k++) {
			if (informer_get_string(&pods[k], a->reader.node, &node, &length) != 0)
				bench_fail("no node of %s", keys[k].name);
			sum += length + (unsigned char)node[0];
		}
		informer_end(&s);
	}
	t = cpu_ns() - t;
	lookup_sink += sum;
	return (double)t / (double)ops;
}

static double
get_lmdb(struct asker *a, size_t ops)
{
	unsigned long sum = 0;
	uint64_t t = cpu_ns();

	for (size_t i = 0; i < ops; i++) {
		const struct question *q = question_next(a->questions, &a->key);

		sum += lmdb_get(&a->lmdb, q->key, q->ns_length + 1u + q->name_length);
	}
	t = cpu_ns() - t;
	lookup_sink += sum;
	return (double)t / (double)ops;
}

static double
index_ours(struct asker *a, size_t ops)
{
	unsigned long sum = 0;
	uint64_t t = cpu_ns();

	for (size_t i = 0; i < ops; i++, a->node++) {
		const char *node = a->questions->nodes[a->node % a->questions->node_count], *name;
		struct informer_snapshot s;
		struct informer_iter it;
		struct informer_object pod;
		size_t length;

		if (informer_begin(a->reader.inf, &s) < 0 ||
		    informer_by_index(&s, a->reader.pods, "nodeName", node, strlen(node), &it) != 0)
			bench_fail("no pods of %s", node);
		while (informer_next(&it, &pod) > 0 && informer_object_name(&pod, &name, &length) == 0)
			sum += length + (unsigned char)name[0];
		informer_end(&s);
	}
	t = cpu_ns() - t;
	lookup_sink += sum;
	return (double)t / (double)ops;
}

/* ---- one size ---- */

struct size {
	struct bench *b;
	size_t total;
	struct world *world;
	struct lmdb_side *lmdb;
	struct questions questions;
	struct asker ours, theirs;
	struct process go; /* pid 0: not there */
};

/* client-go's figure; the rest of its answer is not read. */
static void
ask_go(struct size *s, const char *what, size_t ops, struct rounds *to)
{
	double ns;

	if (!s->go.pid)
		return;
	process_ask(&s->go, &ns, 1, 60, "%s %zu", what, ops);
	rounds_add(to, ns);
}

enum peer { INFORMER, LMDB, GO, PEERS };

static void
compare(struct size *s)
{
	struct rounds get[PEERS] = {0}, many = {0}, by_index = {0}, go_by_index = {0};
	struct report *report = s->b->report;
	unsigned rounds = s->b->quick ? 3 : 9;
	size_t ops = s->b->quick ? 200000 : 400000, index_ops = s->b->quick ? 4000 : 10000;
	unsigned k = (unsigned)(s->total / 1000);

	/* each side fills caches, page tables and predictors once before it counts */
	get_ours(&s->ours, ops);
	get_lmdb(&s->theirs, ops);
	s->ours.key = s->theirs.key = 0;
	for (unsigned i = 0; i < rounds; i++) {
		rounds_add(&get[INFORMER], get_ours(&s->ours, ops));
		rounds_add(&many, get_many_ours(&s->ours, ops));
		rounds_add(&get[LMDB], get_lmdb(&s->theirs, ops));
		ask_go(s, "get", ops, &get[GO]);
	}
	for (unsigned i = 0; i < rounds; i++) {
		rounds_add(&by_index, index_ours(&s->ours, index_ops));
		ask_go(s, "index", index_ops, &go_by_index);
	}
	report_rounds(report, &get[INFORMER], NULL, &get[LMDB], "get_%uk", k);
	report_rounds(report, &many, NULL, &get[LMDB], "get_many_%uk", k);
	if (s->go.pid)
		report_rounds(report, &get[INFORMER], NULL, &get[GO], "get_%uk_client_go", k);
	report_rounds(report, &by_index, NULL, &go_by_index, "by_index_%uk", k);
}

/* The writer ends, and the next one carries its arena into a new generation. */
static void
measure_adopt(struct bench *b, struct world *w)
{
	struct rounds adopt = {0};

	world_stop_serving(w);
	for (unsigned i = 0; i < (b->quick ? 2u : 5u); i++)
		rounds_add(&adopt, world_adopt(w));
	report_rounds(b->report, &adopt, NULL, NULL, "adopt_ms");
}

/* client-go needs half a minute to load 100,000 pods. */
static void
start_go(struct size *s)
{
	double heap;

	if (!s->b->client_go || (s->b->quick && s->total > 10000) ||
	    process_bytes(0, "../meminfo", "MemAvailable:") < (int64_t)(s->total * 40000 + (1u << 30)))
		return;
	s->go = go_rounds_start(s->b, s->total, NULL, &heap);
	if (s->total == 10000)
		s->b->report->client_go_heap = heap;
}

void
measure_lookups(struct bench *b, size_t n)
{
	struct size s = {.b = b, .total = n};

	s.world = world_new(b);
	world_load(s.world, b, PODS_SPREAD, n);
	world_serve(s.world);
	s.lmdb = lmdb_side_new(b, PODS_SPREAD, n);
	questions_init(&s.questions, b, n);
	s.ours.questions = s.theirs.questions = &s.questions;
	lookup_reader_init(&s.ours.reader, s.world->socket);
	s.theirs.lmdb.side = s.lmdb;
	lmdb_need(mdb_txn_begin(s.lmdb->env, NULL, MDB_RDONLY, &s.theirs.lmdb.txn));
	mdb_txn_reset(s.theirs.lmdb.txn);
	start_go(&s);
	compare(&s);
	if (n == 10000) {
		measure_with_writer(b, s.world, &s.ours.reader, &s.questions, &s.go);
		measure_reader(b, s.world, &s.questions);
	}
	process_end(&s.go, SIGKILL);
	lookup_reader_done(&s.ours.reader);
	mdb_txn_abort(s.theirs.lmdb.txn);
	lmdb_side_free(s.lmdb);
	if (n == 100000)
		measure_adopt(b, s.world);
	world_free(s.world);
}
