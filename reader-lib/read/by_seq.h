/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking what changed after a seq: the newest state of each object, and the deletions that are remembered,
 * in order of seq, over all entries (parts) of a resource.
 *
 *	for (r = by_seq_start(&walk, s, binding, after);
 *	     r == 0 && (r = by_seq_next(&walk, &found)) > 0; r = 0)
 *		use(&found);
 *
 * Threads: one at a time. The snapshot is borrowed until the next start.
 */
#ifndef READER_LIB_READ_BY_SEQ_H
#define READER_LIB_READ_BY_SEQ_H

#include "reader-lib/read/resource_open.h"
#include "shm-layout/trie.h"

/*
 * gone    a tombstone: object is the last state, seq that of the deletion
 * part    which of the binding's
 */
struct found {
	uint64_t seq;
	const struct object *object;
	uint32_t ref;
	uint32_t part;
	bool gone;
	bool unseen;		/* gone, and its final state is not known */
};

struct by_seq_part {
	struct trie_iter it;
	const struct resource *resource;
	struct found next;
	bool ended;
};

/* Zeroed is empty. */
struct by_seq {
	const struct snapshot *s;
	uint32_t count, room;
	struct by_seq_part *parts;
};

/* 0, -EBADMSG, -ENOMEM */
int by_seq_start(struct by_seq *w, const struct snapshot *s, const struct resource_binding *b,
		 uint64_t after);
/* 1 with the next, 0 at the end, -EBADMSG */
int by_seq_next(struct by_seq *w, struct found *ret_found);
void by_seq_done(struct informer *inf, struct by_seq *w);

#endif
