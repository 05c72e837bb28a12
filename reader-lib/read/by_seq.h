/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walk the changes after a seq, over all entries (parts) of a resource, in order of seq: the newest state of
 * each object, and each remembered deletion.
 *
 *	for (r = by_seq_start(&walk, s, binding, after);
 *	     r == 0 && (r = by_seq_next(&walk, &found)) > 0; r = 0)
 *		use(&found);
 *
 * Threads: one at a time. The snapshot is borrowed until the next by_seq_start().
 */
#ifndef READER_LIB_READ_BY_SEQ_H
#define READER_LIB_READ_BY_SEQ_H

#include "reader-lib/read/resource_open.h"
#include "shm-layout/trie.h"

/*
 * gone    a tombstone: object is the last state, seq that of the deletion
 * part    index of the binding's part
 */
struct found {
	uint64_t seq;
	const struct object *object;
	uint32_t ref;
	uint32_t part;
	bool gone;
	bool unseen; /* gone, and the final state is not known */
};

struct by_seq_part {
	struct trie_iter it;
	const struct resource *resource;
	struct found next;
	bool ended;
};

/* All zero: empty. */
struct by_seq {
	const struct snapshot *s;
	uint32_t count, room;
	struct by_seq_part *parts;
};

/* Returns 0, -EBADMSG, -ENOMEM. */
int by_seq_start(struct by_seq *w, const struct snapshot *s, const struct resource_binding *b,
		 uint64_t after);
/* Returns 1 with the next change, 0 at the end, -EBADMSG. */
int by_seq_next(struct by_seq *w, struct found *ret_found);
void by_seq_done(struct informer *inf, struct by_seq *w);

#endif
