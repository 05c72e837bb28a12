/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills LMDB with the bench's pods and looks them up, as the peer of lookups.
 */
#include "tests/bench/lmdb_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
fill(struct lmdb_side *l, const struct bench *b, enum pods_naming naming, size_t total)
{
	struct bytes value = {0};
	MDB_txn *txn;
	int r = mdb_txn_begin(l->env, NULL, 0, &txn);

	if (r)
		return r;
	r = mdb_dbi_open(txn, "pods", MDB_CREATE, &l->pods);
	if (!r)
		r = mdb_dbi_open(txn, "nodes", MDB_CREATE | MDB_DUPSORT, &l->nodes);
	for (size_t i = 0; !r && i < total; i++) {
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

		MDB_val k = {strlen(key), key}, v = {value.length, value.data}, node = {length, names.node};

		r = mdb_put(txn, l->pods, &k, &v, 0);
		if (!r)
			r = mdb_put(txn, l->nodes, &node, &k, 0);
	}
	bytes_done(&value);
	if (r) {
		mdb_txn_abort(txn);
		return r;
	}
	return mdb_txn_commit(txn);
}

struct lmdb_side *
lmdb_side_new(const struct bench *b, enum pods_naming naming, size_t total)
{
	struct lmdb_side *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		abort();
	snprintf(l->directory, sizeof(l->directory), "%s/lmdb-XXXXXX", b->directory);
	if (!mkdtemp(l->directory)) {
		free(l);
		return NULL;
	}
	r = mdb_env_create(&l->env);
	if (!r)
		r = mdb_env_set_mapsize(l->env, ((size_t)64 << 20) + total * 40960);
	if (!r)
		r = mdb_env_set_maxdbs(l->env, 2);
	if (!r)
		r = mdb_env_open(l->env, l->directory, MDB_NOSYNC | MDB_WRITEMAP, 0600);
	if (!r)
		r = fill(l, b, naming, total);
	if (r) {
		fprintf(stderr, "bench: LMDB: %s\n", mdb_strerror(r));
		lmdb_side_free(l);
		return NULL;
	}
	return l;
}

void
lmdb_side_free(struct lmdb_side *l)
{
	char path[128];

	if (!l)
		return;
	if (l->env)
		mdb_env_close(l->env);
	snprintf(path, sizeof(path), "%s/data.mdb", l->directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s/lock.mdb", l->directory);
	unlink(path);
	rmdir(l->directory);
	free(l);
}

int
lmdb_reader_init(struct lmdb_reader *r, const struct lmdb_side *l)
{
	int e;

	*r = (struct lmdb_reader){.side = l};
	e = mdb_txn_begin(l->env, NULL, MDB_RDONLY, &r->txn);
	if (!e)
		e = mdb_cursor_open(r->txn, l->nodes, &r->by_node);
	if (e) {
		fprintf(stderr, "bench: LMDB: %s\n", mdb_strerror(e));
		lmdb_reader_done(r);
		return -EIO;
	}
	mdb_txn_reset(r->txn);
	return 0;
}

void
lmdb_reader_done(struct lmdb_reader *r)
{
	if (r->by_node)
		mdb_cursor_close(r->by_node);
	if (r->txn)
		mdb_txn_abort(r->txn);
	*r = (struct lmdb_reader){0};
}

unsigned
lmdb_by_node(struct lmdb_reader *r, const char *node, size_t length, unsigned *sum)
{
	MDB_val k = {length, (void *)(uintptr_t)node}, key, v;
	unsigned count = 0;
	int e;

	mdb_txn_renew(r->txn);
	mdb_cursor_renew(r->txn, r->by_node);
	for (e = mdb_cursor_get(r->by_node, &k, &key, MDB_SET_KEY); !e;
	     e = mdb_cursor_get(r->by_node, &k, &key, MDB_NEXT_DUP)) {
		if (mdb_get(r->txn, r->side->pods, &key, &v) != 0)
			break;
		*sum += ((const unsigned char *)v.mv_data)[0] + ((const unsigned char *)v.mv_data)[1];
		count++;
	}
	mdb_txn_reset(r->txn);
	return count;
}
