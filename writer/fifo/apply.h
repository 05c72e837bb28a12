/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The applier pops the DeltaFIFOs of all resources into the store, and commits.
 *
 *	poll phase: bytes are read and decoded, events queued     ──▶  applier_run(): pop, apply, one commit
 *
 * It runs once in each turn of the loop, after all available input was read; so a batch is what the input
 * buffers held. A FIFO without a list's Deltas is drained whole, so that a commit shows a prefix of its
 * arrivals.
 *
 * Lists. All lists share APPLIER_LIST_BATCH changes a run, by turns. A list that fits is applied whole: one
 * commit has its deletions and items. A larger one is popped in portions, and its resource is LISTING in
 * every commit until the last. If LISTING is not set, no list is partially applied. Events keep the order of
 * the FIFO, the list's deletions first. The last commit reports SYNCED.
 *
 * While a resource is LISTING and no reader listens to it, its list's additions are not committed with each
 * portion: up to APPLIER_PUT_OFF wait for one commit. A commit copies and seals every node that its changes
 * touched, and in a large trie each addition touches a node of its own. Any other change to commit takes the
 * waiting ones along; so does the list's end.
 *
 * RV rule. The RV of the last arrival is stored only when the resource's FIFO is empty, in the same commit:
 * 12 is not committed while 10 waits. A list's RV is stored with its last Delta. If events came after the
 * list by then, they are applied in the same commit, and the RV is theirs.
 *
 * A Delta that finds no room is put back in front of its FIFO and holds back its resource's RV. It is tried
 * again with a backoff, or after applier_retry(). Deltas of other keys are applied meanwhile, since a delete
 * may make room. Only in this case do readers hear of a key later than of keys that changed after it.
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

#define APPLIER_LIST_BATCH 1024u   /* changes by lists in one run, over all resources */
#define APPLIER_PUT_OFF 16384u     /* additions that may wait for one commit */
#define APPLIER_LIST_QUANTUM 128u  /* of one resource before the next resource's turn */

struct applier;

/* store and clock are borrowed. NULL: no memory. */
struct applier *applier_new(struct store *store, struct clock *clock);
void applier_free(struct applier *p);

/*
 * Drain this FIFO into this resource of the store from now on.
 *
 * fifo        borrowed until applier_remove()
 * on_popped   called after a run that popped Deltas; may be NULL
 * Returns     0, -ENOMEM
 */
int applier_add(struct applier *p, unsigned resource, struct delta_fifo *fifo,
		void (*on_popped)(void *context), void *context);
void applier_remove(struct applier *p, const struct delta_fifo *fifo);

/*
 * The known RV cannot be trusted: from the next commit on the resource has no RV. It is LISTING with its
 * present content until the next list is applied.
 */
void applier_distrust(struct applier *p, struct delta_fifo *fifo);

/*
 * Apply queued Deltas and commit. True: more Deltas can be applied now (the rest of a list); call again
 * after the next turn of the loop, without waiting.
 */
bool applier_run(struct applier *p);

/* Run until nothing more can be applied; for the end of the process. */
void applier_flush(struct applier *p);

/* There may be room again: Deltas that wait for room are tried in the next run, before their backoff ends. */
void applier_retry(struct applier *p);

/* Another part changed the store: commit that with the next run. */
void applier_touch(struct applier *p);

/* "" while everything can be applied; else a sentence that says what prevents it. Lent. */
const char *applier_trouble(const struct applier *p);

#endif
