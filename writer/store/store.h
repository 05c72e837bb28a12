/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: the working version of all resources over an arena, and the commits that publish it.
 *
 *	apply … apply … set_version … commit        one new root; everything changes together
 *
 * Invariant: what a root shows is the state after a prefix of each resource's arrivals, and the
 * resourceVersion beside it is that of the prefix's last arrival (design: the RV rule).
 *
 * The store keeps no second copy of an object: known state is read from the arena.
 * Errors (-ENOSPC, -ENOMEM) of an apply leave the object as it was and everything else usable; the caller
 * puts the delta back.
 *
 * Threads: the writer's loop thread only. Readers need none of this.
 */
#ifndef WRITER_STORE_STORE_H
#define WRITER_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/consumer.h"
#include "shm-layout/root.h"
#include "writer/arena/arena.h"
#include "writer/decode/decoder.h"
#include "writer/arena/intern.h"
#include "writer/arena/pins.h"
#include "writer/store/found.h"

struct store;

/*
 * arena     borrowed; without a root, an empty one is published at once; with one (generation.h), the store
 *           goes on from it
 * intern    NULL for an arena without a root; else the table that adoption rebuilt, which the store owns from
 *           now on
 * slots     whose pins hold memory back; borrowed; may be NULL (nobody reads)
 */
int store_new(struct arena *arena, struct intern *intern, struct pins *pins, struct store **ret_store);
void store_free(struct store *s);

struct arena *store_arena(const struct store *s);
struct intern *store_intern(const struct store *s);

/*
 * Add a resource, or find it again after adoption: by name and namespace. Its position in the root is its id,
 * which never changes.
 * What becomes of the content of one that is found:
 *
 *	the same fingerprint                     it stays, at its RV; other indexes are filled from it
 *	only the first STORE_SOURCE_BYTES of it  it stays, LISTING, and at no RV: of another selection, or of
 *	                                         other fields; a list brings the difference
 *	else, or there is no room for indexes    it goes; the resource is empty, and LISTING
 *
 * descriptor_json   LAYOUT.md, DESCRIPTOR: identity, selectors, index definitions
 * fingerprint       what its content is
 * ret_id            its id
 * Returns 0; 1 its content was kept, 2 so, and waits for a list; negative errno
 */
#define STORE_SOURCE_BYTES 8
int store_add_resource(struct store *s, const char *descriptor_json, const uint8_t fingerprint[24],
		       unsigned *ret_id);
/*
 * Drop adopted resources: those that are not wanted, and those that were disowned. The resources behind them
 * move up, so this comes first after store_new(): nobody knows an id yet, and no queue names one. The
 * tombstone floor of other resources of the same name (other namespaces) rises: readers know all of them as
 * one, and look at all of them anew.
 *
 * wanted    by id
 */
void store_drop_unwanted(struct store *s, const bool wanted[]);
/*
 * After all were added: disown each adopted resource that was not found again. Its fingerprint becomes 0. It
 * stays what it is in this store; the next writer drops it.
 *
 * Returns   whether there is one
 */
bool store_disown_unclaimed(struct store *s);

/* The next store_add_resource() of this resource finds it, as after adoption. */
void store_unclaim(struct store *s, unsigned resource);

/*
 * Another definition of a resource that keeps its content: other indexes, another descriptor or fingerprint.
 * The next commit shows it, with indexes that have every object.
 *
 * Returns 0; -EINVAL (the descriptor), -ENOSPC, -ENOMEM: nothing has changed, but tombstones may have gone
 * Cost    some microseconds for each object and index that is new
 */
int store_redefine(struct store *s, unsigned resource, const char *descriptor_json,
		   const uint8_t fingerprint[24]);
/*
 * Whether readers are told, from the next commit on, that there will be more resources than these: a name
 * that they do not find may be one of them (root.h, resources).
 */
void store_expect(struct store *s, bool more);

unsigned store_resource_count(const struct store *s);
const struct resource *store_resource(const struct store *s,
				      unsigned id); /* working version; until the next call */
const char *store_resource_name(const struct store *s, unsigned id); /* "pods", "deployments.apps" */

/* ---- what is known ---- */

/* The ref of the known object with this key hash and key, or 0. */
uint32_t store_find(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns,
		    size_t ns_length, const char *name, size_t name_length);
/* The ref of the object with this ordinal, or 0; ordinals run from 0 to store_resource()->next_ordinal. */
uint32_t store_by_ordinal(const struct store *s, unsigned resource, uint32_t ordinal);
/*
 * What is known under a draft's key, and what the draft is beside that (found.h), for store_put().
 *
 * ret_same  the draft says nothing that the known object does not: the same UID, the same version, which is
 *           not empty, and the same body. (A server that was restored to an older state gives versions a
 *           second time; and what is known may have come through other drops.)
 */
uint32_t store_look(const struct store *s, unsigned resource, uint32_t draft, bool *ret_same);

/* ---- changes ---- */

/*
 * Put an object: add, or update of the one with its key. The draft is the store's on success, still the
 * caller's on failure. A known object with another metadata.uid is removed first (delete and add).
 *
 * found  what store_look() says of the draft, which it does not call the same
 */
int store_put(struct store *s, unsigned resource, struct draft d, uint32_t found);
/*
 * Remove a known object.
 *
 * seen   the deletion was told of; false: a list lacks it, so its final state is not known
 * final  the final state that came with it (ref 0: what is known is final); the store's on success, still the
 *        caller's on failure
 */
int store_delete(struct store *s, unsigned resource, uint32_t known, bool seen, struct draft final);

/* From which cluster the content is (fingerprint.h); a new resource has zeroes. */
void store_set_cluster(struct store *s, unsigned resource, const uint8_t cluster[8]);
/* What its content is, said anew; the content stays. */
void store_set_fingerprint(struct store *s, unsigned resource, const uint8_t fingerprint[24]);

/*
 * The RV and state that the next commit shows with the changes so far. version longer than
 * RESOURCE_VERSION_MAX: -E2BIG.
 */
int store_set_version(struct store *s, unsigned resource, const char *version, size_t length);
void store_set_state(struct store *s, unsigned resource, enum resource_state state);

/*
 * Publish. Nothing to publish is success.
 * Returns 0, or -ENOSPC/-ENOMEM: the working version stays, readers see the old one; try again.
 */
int store_commit(struct store *s);
/* Called after each commit that published something (the broker wakes sleepers). */
void store_on_commit(struct store *s, void (*callback)(void *context, uint64_t epoch), void *context);

/* ---- events, tombstones, consumers ---- */

/*
 * What a commit changed, in order of seq, for the queues (fan_out.h).
 *
 * kind      enum queue_kind (shm-layout/queue.h)
 * seq       of the change, RESET included; of SYNCED and STATUS that of the last change before
 * old_ref, new_ref   BLOCK_OBJECTs (STATUS: new_ref is a BLOCK_VALUE), or 0
 */
struct store_event {
	uint64_t seq;
	uint16_t kind;
	uint16_t resource;
	uint32_t old_ref;
	uint32_t new_ref;
};

/*
 * Called in each commit that published something, after its root was stored and before store_on_commit()'s
 * callback.
 * base  seq of the root before: changes are later, a SYNCED or STATUS may stand at it. count 0: a commit that
 *       no reader need be told of
 */
void store_on_events(struct store *s,
		     void (*callback)(void *context, const struct store_event *events, size_t count,
				      uint64_t base),
		     void *context);

/*
 * Objects that were replaced or deleted stay whole for as long as some queue shows them: `lowest` answers
 * with the lowest seq that stands unread in an open queue of this resource, UINT64_MAX when there is none.
 * What left the store at or after that seq is held; the rest is retired by store_release_held(), which each
 * commit calls, and whoever closes or overflows a queue. Without `lowest` nothing is held.
 */
void store_hold_for(struct store *s, uint64_t (*lowest)(void *context, unsigned resource), void *context);

/* Whether anybody is told of this resource's changes: `heard` answers. Without it nobody is. */
void store_heard_by(struct store *s, bool (*heard)(void *context, unsigned resource), void *context);
bool store_is_heard(const struct store *s, unsigned resource);
void store_release_held(struct store *s);
/*
 * Bytes held of a resource for one who has read everything up to seq and nothing after it: what left the
 * store later (footprints of objects; shared values are not counted). O(log n).
 */
uint64_t store_held_bytes(const struct store *s, unsigned resource, uint64_t seq);

/*
 * How long deletions are remembered. Tombstones go, oldest first, when there are more than `count`, they hold
 * more than `bytes` (with what their objects shared with no other when they were deleted) or an eighth of the
 * arena's budget, or are older than `age_ns`; count 0: none are kept. By age they go in
 * store_expire_tombstones(), which publishes nothing by itself, and leaves alone what nobody asked for yet
 * (store_add_resource). When the arena refused something for want of room, half of them go with the next
 * commit or store_sweep(). The default is STORE_TOMBSTONES.
 */
struct tombstone_limits {
	uint64_t count;
	uint64_t bytes;
	uint64_t age_ns;
};
#define STORE_TOMBSTONES ((struct tombstone_limits){10000, 16u << 20, 300ull * 1000000000u})
void store_set_tombstone_limits(struct store *s, unsigned resource, struct tombstone_limits limits);
void store_expire_tombstones(struct store *s, uint64_t now_boot_ns);

struct tombstone_stats {
	uint64_t count, bytes, oldest_boot_ns;
};
void store_tombstone_stats(const struct store *s, unsigned resource, struct tombstone_stats *ret);

/*
 * What the Reflector met, for readers' on_error:
 * {"recovered":bool,"code":n,"reason":"…","message":"…","since":"RFC 3339","count":n} (LAYOUT.md, STATUS).
 * Shown with the next commit and as a QUEUE_STATUS event. 0, -ENOSPC, -ENOMEM.
 */
int store_set_status(struct store *s, unsigned resource, const char *json);

/*
 * The named consumers that the next commit shows (shm-layout/consumer.h), and those that are shown (adoption
 * brings them).
 */
int store_set_consumers(struct store *s, const struct consumer *consumers, size_t count);
const struct consumer *store_consumers(const struct store *s, size_t *ret_count);

/* When the writer before us committed last, by its wall clock; 0: the arena is new. */
uint64_t store_adopted_wall_ns(const struct store *s);

void store_lineage(const struct store *s, uint8_t ret_lineage[16]);
uint64_t store_seq(const struct store *s);		/* of the last change, published or not */

/* ---- room ---- */

/*
 * When much was retired since the last commit, and no other commit is near that would let it be reused (a
 * list that failed left what its drafts shared), publish what there is anew. 0 or negative errno.
 */
int store_sweep(struct store *s);

/*
 * Free what no reader can see any more; what was kept for revoked readers too, when the last of them is gone.
 * As much of it as some milliseconds allow. A commit does it by itself once enough has gathered, and so does
 * whatever finds the arena full, until that finds room.
 */
void store_reclaim(struct store *s);
/*
 * The reader of this slot is waited for no more, though it may go on reading: from now on its calls say
 * EXPIRED, its pins hold back no memory, only places: where something stands that it can see, nothing else
 * comes until its slot is removed from the pins, and pages of which nothing else is in use lose their memory
 * (shm-layout/PROTOCOLS.md, Revoke). What was held back for it alone comes free by this and the next
 * commits, as by store_reclaim(). Its queues are the caller's to end, after this and before the next commit.
 * Cost: that of store_reclaim(), and a millisecond for each 500 MiB of the arena
 */
void store_revoke(struct store *s, unsigned slot);
/*
 * Called where the arena is full of what some reader can still see, and something is about to be refused:
 * see to it that one sees less, and say whether that happened. Called again as long as that is not enough. It
 * is called amid changes and commits, and may call store_reclaim(), store_revoke() and store_stats() alone.
 */
void store_on_full(struct store *s, bool (*make_room)(void *context), void *context);
/*
 * Free nothing any more: readers are about to be left alone with this arena, and go on reading what their
 * pins and the unread entries of their queues show, which nobody will see from then on.
 */
void store_keep(struct store *s);

uint64_t store_epoch(const struct store *s);		/* of the published root */

struct store_stats {
	uint64_t epoch, seq, commits, generation;
	uint64_t arena_bytes;		/* committed size of the file */
	uint64_t used_bytes;		/* blocks in use, those that wait for readers included */
	uint64_t retired_bytes;		/* of these: waiting for readers */
	uint64_t retired_since_bytes;	/* of these: since the last commit, for which the next one waits */
	uint64_t free_bytes;
	uint64_t buried_bytes;		/* in use no more, seen by revoked readers */
	uint64_t absent_bytes;		/* free, without memory */
	uint64_t present_bytes;		/* of arena_bytes: what has memory */
	uint64_t budget_bytes;		/* how much of that there may be */
	uint64_t private_bytes;		/* the books */
	uint64_t shared_blocks;
	uint64_t leaked_blocks;
};
void store_stats(const struct store *s, struct store_stats *ret);

#endif
