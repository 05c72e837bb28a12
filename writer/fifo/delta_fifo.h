/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeltaFIFO: what one resource's Reflector heard and the store does not show yet.
 *
 *	Reflector ──▶ add / update / delete / replace ──▶ Delta, Delta, … ──▶ pop ──▶ the store
 *
 * Order. Deltas come out as they went in, whatever their keys: that is the server's order, and readers are
 * told in it, also behind a backlog. What a watch says goes in as it is heard. A list goes in as a whole:
 * first the deletions that it implies (of keys that it lacks, and of objects that have lost their name to
 * another UID), then its items in their order. So whoever keeps a map by something that passes from one
 * object to another, an IP, hears of the old owner's end before the new owner. Nothing is merged; only what
 * was put back leaves its place (delta_fifo_pop()), and all of its key with it.
 *
 * The known objects are the store's: there is no second copy. A body in flight is a
 * draft, a block of the arena that no root reaches yet; the FIFO holds its ref, and reads keys from it. A
 * Delta costs 24 private bytes, a key 28 more.
 *
 * Same UID, resourceVersion and content as the known object: the draft says nothing, and is discarded; at
 * once where nothing else is queued for its key. (A server that was restored to an older state gives
 * resourceVersions a second time.)
 *
 * RV. delta_fifo_version() is that of the last arrival, bookmarks included, in their order. It may be shown
 * beside the store's content only when the FIFO is empty: while something is queued, or was put back, an
 * arrival before it is missing.
 *
 * Source    client-go tools/cache/the_real_fifo.go; better: what fails goes back in front, before newer
 *           Deltas of its key; another UID under a name is a deletion, too
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
 *   type        ref                                               found
 *   CHANGED     the new state                                     what store_look() says of it
 *   REPLACED    the same, from a list
 *   DELETED     the final state; 0: the deletion was not seen,    the known object, which goes
 *               only found by a list
 *
 * ref is a draft, and the processor's.
 */
struct delta {
	enum delta_type type;
	uint32_t ref;
	uint32_t found;
};

struct delta_fifo;

/* Of this resource. The store is borrowed. NULL: no memory. */
struct delta_fifo *delta_fifo_new(struct store *store, unsigned resource);
/* Discards the drafts that are still queued. NULL is fine. */
void delta_fifo_free(struct delta_fifo *f);

/*
 * Queue what a watch said: a new state, or the final one. The key is the draft's. A delete of a key that
 * neither store nor queue has is discarded.
 *
 * Returns   0, or -ENOMEM; the draft is the FIFO's also then
 */
int delta_fifo_put(struct delta_fifo *f, uint32_t draft);
int delta_fifo_delete(struct delta_fifo *f, uint32_t draft);

/* The object that the store has under this key, or 0. */
uint32_t delta_fifo_find(const struct delta_fifo *f, const char *ns, size_t ns_length, const char *name,
			 size_t name_length);
/* The objects that the store has. */
size_t delta_fifo_known(const struct delta_fifo *f);
/* The header and key of a draft, or of a known object. */
const struct object *delta_fifo_object(const struct delta_fifo *f, uint32_t draft);
void delta_fifo_discard(struct delta_fifo *f, uint32_t draft);

/* The RV of the last arrival; call it after each one. -E2BIG above RESOURCE_VERSION_MAX bytes. */
int delta_fifo_set_version(struct delta_fifo *f, const char *version, size_t length);
const char *delta_fifo_version(const struct delta_fifo *f,
			       size_t *ret_length); /* length 0: nothing arrived yet */

/*
 * Hand over up to max Deltas, one call of process() each. One that says nothing any more is discarded.
 *
 * process    returns 0, having consumed it; or a negative errno: it is put back. It must not call the FIFO.
 * Returns    0 as many as there were, up to max; the last error of process()
 *
 * A Delta that failed waits apart, and so do newer ones of its key, so that the keys behind it (a delete that
 * makes room, say) get their turn. delta_fifo_retry() puts those that wait in front of everything again.
 */
typedef int delta_process_fn(void *context, const struct delta *delta);
int delta_fifo_pop(struct delta_fifo *f, size_t max, delta_process_fn *process, void *context);
void delta_fifo_retry(struct delta_fifo *f);

/* Deltas that delta_fifo_pop() would hand over, and those that wait for delta_fifo_retry(). */
size_t delta_fifo_queued(const struct delta_fifo *f);
size_t delta_fifo_waiting(const struct delta_fifo *f);

static inline bool
delta_fifo_is_empty(const struct delta_fifo *f)
{
	return delta_fifo_queued(f) + delta_fifo_waiting(f) == 0;
}

/*
 * A list's Deltas are among what is queued: the content is neither the state before nor the state after
 * it.
 */
bool delta_fifo_is_listing(const struct delta_fifo *f);

#endif
