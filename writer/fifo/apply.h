/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applier: pops the DeltaFIFOs of all resources into the store, and commits.
 *
 *	poll phase: bytes are read and decoded, events queued     ──▶  applier_run(): pop, apply, one commit
 *
 * It runs once a turn of the loop, after all input that was there has been read: a batch is what the input
 * buffers held. A resource that only watches is drained whole, so that what a commit shows is a prefix of its
 * arrivals.
 *
 * A list is shown as a whole where that keeps nobody waiting: one commit has its deletions and its items. One
 * that changes much is popped in portions, in turn with others that list, and its resource is LISTING in
 * every commit until the last: content without that word is never half of a list. Events come in the order
 * of the FIFO either way, the list's deletions first, and the last commit tells SYNCED.
 *
 * What a list adds while its resource is LISTING, and nobody is told of it, is not committed with each
 * portion but with many, up to APPLIER_PUT_OFF: a commit copies and seals every node that its changes
 * touched, and in a large trie each addition touches a node of its own. Whatever else there is to commit
 * takes along what waits; so does the list's end.
 *
 * RV rule. The RV of the last arrival is stored beside the content only when the resource's FIFO is empty,
 * and with the same commit: 12 is not committed while 10 waits. A list's RV is stored with its last Delta,
 * or that of the events that came behind it by then, which are applied with it.
 *
 * What cannot be applied (no space) goes back in front of its FIFO and holds its resource's RV back; it is
 * tried again with a backoff, or as soon as there is room (applier_retry()). Nothing is lost, and keys behind
 * it have their turn: a delete may make room. That is the one case in which readers are told of a key later
 * than of others that changed after it.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_FIFO_APPLY_H
#define WRITER_FIFO_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/base/clock.h"
#include "writer/fifo/delta_fifo.h"
#include "writer/store/store.h"

#define APPLIER_LIST_BATCH   1024u /* changes by lists a run, over all resources */
#define APPLIER_PUT_OFF 16384u     /* additions that may wait for one commit */
#define APPLIER_LIST_QUANTUM 128u  /* of one resource before the next has its turn */

struct applier;

/* Both are borrowed. NULL: no memory. */
struct applier *applier_new(struct store *store, struct clock *clock);
void applier_free(struct applier *p);

/*
 * Drain this FIFO into this resource of the store.
 *
 * fifo        borrowed until applier_remove()
 * on_popped   called when keys were popped, may be NULL
 * Returns     0, -ENOMEM
 */
int applier_add(struct applier *p, unsigned resource, struct delta_fifo *fifo,
		void (*on_popped)(void *context), void *context);
void applier_remove(struct applier *p, const struct delta_fifo *fifo);

/*
 * The RV that is known, and everything since, is not to be trusted: nothing is left of it with the next
 * commit, where the resource is LISTING with what is there, until the next list is applied.
 */
void applier_distrust(struct applier *p, struct delta_fifo *fifo);

/*
 * Apply what is queued and commit it. True: more is queued that could be applied now (a list's rest); call
 * again after the next turn of the loop, without waiting.
 */
bool applier_run(struct applier *p);

/* The same until nothing more can be applied; at the end of the process. */
void applier_flush(struct applier *p);

/*
 * There is room again, or may be: what waits for some is tried with the next run, however long it was to
 * wait.
 */
void applier_retry(struct applier *p);

/* The store was changed by somebody else: commit that with the next run. */
void applier_touch(struct applier *p);

/* "" while everything can be applied; else a sentence on what is in the way. Lent. */
const char *applier_trouble(const struct applier *p);

#endif
