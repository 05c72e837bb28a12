/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store keeps the working version of all resources in an arena, and publishes it by commits.
 *
 *	apply … apply … set_version … commit        one new root; everything changes together
 *
 * Invariant: a root shows the state after a prefix of each resource's arrivals. The resourceVersion beside
 * it is that of the prefix's last arrival (apply.h, RV rule).
 *
 * The store keeps no second copy of an object: it reads known objects from the arena. If an apply fails
 * (-ENOSPC, -ENOMEM), the object stays as it was and the store stays usable. The caller puts the delta back.
 *
 * Threads: the writer's loop thread only.
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
 * arena     borrowed. If it has no root, an empty root is published at once. If it has one (generation.h),
 *           the store continues from that root.
 * intern    NULL for an arena without a root; else the table that adoption rebuilt. The store takes it.
 * pins      the slots of readers, whose pins hold memory back; borrowed; NULL: there are no readers
 */
int store_new(struct arena *arena, struct intern *intern, struct pins *pins, struct store **ret_store);
void store_free(struct store *s);

struct arena *store_arena(const struct store *s);
struct intern *store_intern(const struct store *s);

/*
 * Add a resource, or find the adopted one of the same name and namespace. Its id is its position in the
 * root. The fingerprint decides about the content of an adopted resource:
 *
 *	equal                                    the content stays at its RV; new indexes are filled from it
 *	only the first STORE_SOURCE_BYTES equal  the content stays, without an RV and LISTING (its selection
 *	                                         or fields differ); a list brings the difference
 *	other, or no room for the indexes        the content is dropped; the resource is empty and LISTING
 *
 * descriptor_json   LAYOUT.md, DESCRIPTOR: identity, selectors, index definitions
 * fingerprint       identifies the content (fingerprint.h)
 * ret_id            the resource's id
 * Returns 0 the resource is empty; 1 its content was kept; 2 its content was kept and waits for a list;
 *         negative errno
 */
#define STORE_SOURCE_BYTES 8
int store_add_resource(struct store *s, const char *descriptor_json, const uint8_t fingerprint[24],
		       unsigned *ret_id);
/*
 * Drop each adopted resource that is not wanted or was disowned. Resources behind it move up and get new
 * ids. So call this first after store_new(), before anything holds an id. Each drop raises the tombstone
 * floor of resources of the same name in other namespaces. Readers see all of them as one resource and
 * compare all anew.
 *
 * wanted    by id
 */
void store_drop_unwanted(struct store *s, const bool wanted[]);
/*
 * Call after all resources were added: disown each adopted resource that was not found again. Its
 * fingerprint becomes 0. The resource stays in this store; the next writer drops it.
 *
 * Returns   true if a resource was disowned
 */
bool store_disown_unclaimed(struct store *s);

/* Let the next store_add_resource() find this resource, as after adoption. */
void store_unclaim(struct store *s, unsigned resource);

/*
 * Give a resource another definition (indexes, descriptor, fingerprint) and keep its content. The next
 * commit shows the definition, with every object in its indexes.
 *
 * Returns 0; -EINVAL (the descriptor), -ENOSPC, -ENOMEM: the definition is unchanged, but tombstones may be
 *         gone
 * Cost    some microseconds for each object in each new index
 */
int store_redefine(struct store *s, unsigned resource, const char *descriptor_json,
		   const uint8_t fingerprint[24]);
/*
 * From the next commit on, tell readers whether more resources will follow. If so, a name that a reader does
 * not find may still come (root.h, resources).
 */
void store_expect(struct store *s, bool more);

unsigned store_resource_count(const struct store *s);
const struct resource *store_resource(const struct store *s,
				      unsigned id); /* working version; valid until the next call */
const char *store_resource_name(const struct store *s, unsigned id); /* "pods", "deployments.apps" */

/* ---- what is known ---- */

/* The ref of the known object with this key hash and key, or 0. */
uint32_t store_find(const struct store *s, unsigned resource, uint64_t key_hash, const char *ns,
		    size_t ns_length, const char *name, size_t name_length);
/* The ref of the object with this ordinal, or 0; ordinals run from 0 to store_resource()->next_ordinal. */
uint32_t store_by_ordinal(const struct store *s, unsigned resource, uint32_t ordinal);
/*
 * Find the known object with a draft's key, and compare the draft with it. Returns the answer for
 * store_put() (found.h).
 *
 * ret_same  true: the draft repeats the known object: same UID, same body, and same non-empty version. (A
 *           server restored from a backup gives versions a second time. The known object may have been
 *           stored with other drops.)
 */
uint32_t store_look(const struct store *s, unsigned resource, uint32_t draft, bool *ret_same);

/* ---- changes ---- */

/*
 * Add the draft's object, or update the known object with its key. A known object with another metadata.uid
 * is removed first. The store takes the draft on success; on failure the caller keeps it.
 *
 * found  the answer of store_look(), which must not have set ret_same
 */
int store_put(struct store *s, unsigned resource, struct draft d, uint32_t found);
/*
 * Remove a known object.
 *
 * seen   true: the server reported the deletion; false: a list lacks the object, so its final state is
 *        unknown
 * final  the final state in the report; ref 0: the known state is final. The store takes it on success; on
 *        failure the caller keeps it.
 */
int store_delete(struct store *s, unsigned resource, uint32_t known, bool seen, struct draft final);

/* Set the cluster of the content (fingerprint.h). A new resource has zeroes. */
void store_set_cluster(struct store *s, unsigned resource, const uint8_t cluster[8]);
/* Set another fingerprint; the content stays. */
void store_set_fingerprint(struct store *s, unsigned resource, const uint8_t fingerprint[24]);

/*
 * Set the RV, or the state, that the next commit shows with the changes so far. -E2BIG: version is longer
 * than RESOURCE_VERSION_MAX.
 */
int store_set_version(struct store *s, unsigned resource, const char *version, size_t length);
void store_set_state(struct store *s, unsigned resource, enum resource_state state);

/*
 * Publish the working version. Without changes it does nothing and returns 0.
 * Returns 0, or -ENOSPC/-ENOMEM: readers still see the old root, and the working version stays; try again
 */
int store_commit(struct store *s);
/* Set a callback for after each commit that published something. The broker wakes readers in it. */
void store_on_commit(struct store *s, void (*callback)(void *context, uint64_t epoch), void *context);

/* ---- events, tombstones, consumers ---- */

/*
 * One change of a commit, for the readers' queues (fan_out.h). Events come in order of seq.
 *
 * kind      enum queue_kind (shm-layout/queue.h)
 * seq       of the change, also for RESET; for SYNCED and STATUS that of the last change before the event
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
 * Set a callback for each commit that published something. The commit calls it after it stored the root, and
 * before store_on_commit()'s callback.
 * base  seq of the previous root: changes have a higher seq, SYNCED and STATUS may have this one. count 0:
 *       no reader needs to hear of the commit
 */
void store_on_events(struct store *s,
		     void (*callback)(void *context, const struct store_event *events, size_t count,
				      uint64_t base),
		     void *context);

/*
 * Keep replaced and deleted objects whole while some queue shows them. `lowest` returns the lowest unread
 * seq in the open queues of a resource, or UINT64_MAX if there is none. Objects that left the store at that
 * seq or later are held; store_release_held() retires the others. Each commit calls it; the caller calls it
 * after it closes or overflows a queue. Without `lowest` nothing is held.
 */
void store_hold_for(struct store *s, uint64_t (*lowest)(void *context, unsigned resource), void *context);

/*
 * Set `heard`, which returns true if some reader listens to the resource's changes. Without it no reader
 * does.
 */
void store_heard_by(struct store *s, bool (*heard)(void *context, unsigned resource), void *context);
bool store_is_heard(const struct store *s, unsigned resource);
void store_release_held(struct store *s);
/*
 * Bytes held for a reader that has read everything up to seq: the footprints of the objects that left the
 * store later. Shared values are not counted. O(log n).
 */
uint64_t store_held_bytes(const struct store *s, unsigned resource, uint64_t seq);

/*
 * Limits of the tombstones of a resource. The oldest is dropped while
 *
 *	there are more than `count` (0: none are kept)
 *	they hold more than `bytes`, or more than an eighth of the arena's budget; this includes blocks that
 *	their objects shared with no other object when they were deleted
 *	the oldest is older than `age_ns`: only store_expire_tombstones() looks at ages
 *
 * After the arena refused an allocation for lack of room, the next commit or store_sweep() drops half of
 * them. store_expire_tombstones() publishes nothing. It skips adopted resources until store_add_resource()
 * finds them. The default is STORE_TOMBSTONES.
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
 * Set the Reflector's status, for readers' on_error:
 * {"recovered":bool,"code":n,"reason":"…","message":"…","since":"RFC 3339","count":n} (LAYOUT.md, STATUS).
 * The next commit shows it, with a QUEUE_STATUS event. 0, -ENOSPC, -ENOMEM.
 */
int store_set_status(struct store *s, unsigned resource, const char *json);

/*
 * Set the named consumers that the next commit shows (shm-layout/consumer.h), or get the current ones.
 * Adoption brings the consumers of the adopted root.
 */
int store_set_consumers(struct store *s, const struct consumer *consumers, size_t count);
const struct consumer *store_consumers(const struct store *s, size_t *ret_count);

/* Wall-clock time of the previous writer's last commit; 0: the arena is new. */
uint64_t store_adopted_wall_ns(const struct store *s);

void store_lineage(const struct store *s, uint8_t ret_lineage[16]);
uint64_t store_seq(const struct store *s); /* of the last change, also if unpublished */

/* ---- room ---- */

/*
 * Publish the same state anew if much was retired since the last commit: blocks retired since then can be
 * reused only after another commit. (A failed list retires the values of its drafts.) 0 or negative errno.
 */
int store_sweep(struct store *s);

/*
 * Free blocks that no reader can see any more. If no reader is revoked, this includes places that were kept
 * for revoked readers. Each call works for some milliseconds at most. A commit calls it once enough blocks
 * wait, and an allocation calls it while the arena is full.
 */
void store_reclaim(struct store *s);
/*
 * Revoke the reader of a slot (shm-layout/PROTOCOLS.md, Revoke). The reader may continue to read, but:
 *
 *	its calls return EXPIRED, and its pins no longer hold memory back
 *	nothing new is allocated in places that it can see, until its slot is removed from the pins
 *	pages of which nothing else is in use lose their memory
 *
 * This call and the next commits free the memory that only this reader held back. The caller ends the
 * reader's queues after this call and before the next commit.
 * Cost: that of store_reclaim(), and a millisecond for each 500 MiB of the arena
 */
void store_revoke(struct store *s, unsigned slot);
/*
 * Set a callback for when the arena is full of blocks that readers can see, before an allocation is refused.
 * The callback makes room, for example by revoking a reader, and returns true if it did. It is called again
 * until the room suffices. It runs amid changes and commits, and may call only store_reclaim(),
 * store_revoke() and store_stats().
 */
void store_on_full(struct store *s, bool (*make_room)(void *context), void *context);
/*
 * From now on free nothing. Call it before the writer leaves readers alone with this arena. They continue to
 * read what their pins and unread queue entries show, and no writer sees those any more.
 */
void store_keep(struct store *s);

uint64_t store_epoch(const struct store *s);		/* of the published root */

struct store_stats {
	uint64_t epoch, seq, commits, generation;
	uint64_t arena_bytes;		/* committed size of the file */
	uint64_t used_bytes;            /* blocks in use, including retired ones */
	uint64_t retired_bytes;		/* of these: waiting for readers */
	uint64_t retired_since_bytes;   /* of these: since the last commit; freed after the next one */
	uint64_t free_bytes;
	uint64_t buried_bytes;          /* no longer in use, but revoked readers see them */
	uint64_t absent_bytes;		/* free, without memory */
	uint64_t present_bytes;         /* of arena_bytes: those with memory */
	uint64_t budget_bytes;          /* limit of present_bytes */
	uint64_t private_bytes;		/* the books */
	uint64_t shared_blocks;
	uint64_t leaked_blocks;
};
void store_stats(const struct store *s, struct store_stats *ret);

#endif
