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

struct lmdb_side *
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

void
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

void
lmdb_reader_init(struct lmdb_reader *r, const struct lmdb_side *l)
{
	*r = (struct lmdb_reader){.side = l};
	lmdb_need(mdb_txn_begin(l->env, NULL, MDB_RDONLY, &r->txn));
	mdb_txn_reset(r->txn);
}

void
lmdb_reader_done(struct lmdb_reader *r)
{
	mdb_txn_abort(r->txn);
}
