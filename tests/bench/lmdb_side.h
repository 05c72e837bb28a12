/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LMDB with the same pods, used as fast as it can be: on tmpfs, nothing synced, one read transaction kept and
 * renewed for each lookup. A value is the node's name, where it is cheapest to find, and behind it the pod's
 * JSON.
 */
#ifndef TESTS_BENCH_LMDB_SIDE_H
#define TESTS_BENCH_LMDB_SIDE_H

#include <lmdb.h>

#include "tests/bench/bench.h"

/* Fails with what LMDB says of it, unless it is 0. */
static inline void
lmdb_need(int r)
{
	if (r)
		bench_fail("LMDB: %s", mdb_strerror(r));
}

struct lmdb_side {
	char directory[96];
	MDB_env *env;
	MDB_dbi pods;
};

struct lmdb_side *lmdb_side_new(const struct bench *b, enum pods_naming naming, size_t total);
void lmdb_side_free(struct lmdb_side *l);

struct lmdb_reader {
	const struct lmdb_side *side;
	MDB_txn *txn; /* reset between lookups */
};

void lmdb_reader_init(struct lmdb_reader *r, const struct lmdb_side *l);
void lmdb_reader_done(struct lmdb_reader *r);

/*
 * One lookup by key: renew, get, the node's name read, reset. Returns what it read.
 */
static inline unsigned
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

#endif
