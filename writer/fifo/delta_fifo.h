/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DeltaFIFO queues what one resource's Reflector received and the store does not show yet.
 *
 *	Reflector ──▶ add / update / delete / replace ──▶ Delta, Delta, … ──▶ pop ──▶ the store
 *
 * Order. Deltas are popped in the order in which they were queued, over all keys. That is the server's
 * order, and readers see the same order even after a backlog. A watch's events are queued as they arrive. A
 * list is queued as a whole: first the deletions that it implies, then its items in their order. It implies
 * the deletion of keys that it lacks, and of objects whose name another UID now has. So a reader that maps a
 * value which moves between objects (an IP) sees the old owner's end before the new owner. Deltas are never
 * merged. A delta that is put back waits apart, and later deltas of its key wait with it (delta_fifo_pop()).
 *
 * The store's objects are the known objects; there is no second copy. The body of a queued Delta is a draft:
 * a block of the arena that no root reaches yet. The FIFO holds its ref, and reads keys from it. A Delta
 * costs 24 private bytes, a key 28 more.
 *
 * A draft with the UID, resourceVersion and content of the known object repeats it and is discarded. If
 * other Deltas of its key are queued, that happens when the draft is popped, else at once. (A server
 * restored from a backup gives resourceVersions a second time.)
 *
 * RV. delta_fifo_version() is the RV of the last arrival, bookmarks included. It may be shown beside the
 * store's content only when the FIFO is empty. Otherwise the store lacks an earlier arrival.
 *
 * Source    client-go tools/cache/the_real_fifo.go. Different: a failed Delta goes back in front, before
 *           newer Deltas of its key; another UID under a name also implies a deletion
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_FIFO_DELTA_FIFO_H
#define WRITER_FIFO_DELTA_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/object.h"
#include "writer/store/store.h"

enum delta_type { DELTA_CHANGED, DELTA_DELETED, DELTA_REPLACED };

/*
 * A Delta as it is popped.
 *
 *	type        ref                                               found
 *	CHANGED     the new state                                     store_look()'s answer about it
 *	REPLACED    the same, from a list
 *	DELETED     the final state; 0: a list showed the deletion    the known object, which is deleted
 *
 * ref is a draft; process() takes it.
 */
struct delta {
	enum delta_type type;
	uint32_t ref;
	uint32_t found;
};

struct delta_fifo;

/* Make the FIFO of this resource. The store is borrowed. NULL: no memory. */
struct delta_fifo *delta_fifo_new(struct store *store, unsigned resource);
/* Discards the drafts that are still queued. NULL is fine. */
void delta_fifo_free(struct delta_fifo *f);

/*
 * Queue an event of a watch: a new state, or a deletion with the final state. The key is the draft's. A
 * deletion of a key that neither store nor queue has is discarded.
 *
 * Returns   0, or -ENOMEM; the FIFO takes the draft in both cases
 */
int delta_fifo_put(struct delta_fifo *f, uint32_t draft);
int delta_fifo_delete(struct delta_fifo *f, uint32_t draft);

/* The store's object with this key, or 0. */
uint32_t delta_fifo_find(const struct delta_fifo *f, const char *ns, size_t ns_length, const char *name,
			 size_t name_length);
/* How many objects the store has. */
size_t delta_fifo_known(const struct delta_fifo *f);
/* The header and key of a draft, or of a known object. */
const struct object *delta_fifo_object(const struct delta_fifo *f, uint32_t draft);
void delta_fifo_discard(struct delta_fifo *f, uint32_t draft);

/*
 * Set or get the RV of the last arrival; set it after each arrival. -E2BIG above RESOURCE_VERSION_MAX bytes.
 */
int delta_fifo_set_version(struct delta_fifo *f, const char *version, size_t length);
const char *delta_fifo_version(const struct delta_fifo *f,
			       size_t *ret_length); /* length 0: no RV is known at present */

/*
 * Hand over up to max Deltas, with one call of process() each. A Delta that changes nothing any more is
 * discarded.
 *
 * process    returns 0 and takes the Delta; or a negative errno, and the Delta is put back. It must not call
 *            the FIFO.
 * Returns    0 when max or all Deltas were handed over; else the last error of process()
 *
 * A Delta that failed waits apart, together with newer ones of its key. So keys behind it get their turn (a
 * delete may make room). delta_fifo_retry() puts waiting Deltas back in front of all others.
 */
typedef int delta_process_fn(void *context, const struct delta *delta);
int delta_fifo_pop(struct delta_fifo *f, size_t max, delta_process_fn *process, void *context);
void delta_fifo_retry(struct delta_fifo *f);

/* How many Deltas delta_fifo_pop() can hand over, and how many wait for delta_fifo_retry(). */
size_t delta_fifo_queued(const struct delta_fifo *f);
size_t delta_fifo_waiting(const struct delta_fifo *f);

static inline bool
delta_fifo_is_empty(const struct delta_fifo *f)
{
	return delta_fifo_queued(f) + delta_fifo_waiting(f) == 0;
}

/*
 * True if Deltas of a list are queued: the store's content is between the states before and after that list.
 */
bool delta_fifo_is_listing(const struct delta_fifo *f);

#endif
