/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's internals: structs and functions that only its own files use. Each file calls only those below
 * it:
 *
 *	store.c               life; consumers, status and other content beside objects
 *	commit.c              publishing
 *	store_resources.c     the set of resources
 *	store_redefine.c      another definition for the same content
 *	store_change.c        adding, updating, deleting objects
 *	store_definition.c    reading a descriptor
 *	store_tombstones.c    tombstones of deleted objects
 *	store_events.c        events for readers, and objects held for them
 *	store_document.c      JSON documents as shared values
 *	store_keys.c          keys of the tries' leaves
 */
#ifndef WRITER_STORE_STORE_INTERNAL_H
#define WRITER_STORE_STORE_INTERNAL_H

#include "shm-layout/index_def.h"
#include "shm-layout/queue.h"
#include "writer/base/fifo_ring.h"
#include "writer/store/retained_log.h"
#include "writer/store/index_change.h"
#include "writer/store/ordinals.h"
#include "writer/store/shortcut_edit.h"
#include "writer/store/store.h"
#include "writer/store/trie_edit.h"

/* The tombstones of a resource (store_tombstones.c). */
struct tombstones {
	struct fifo_ring notes;		/* in order of seq */
	uint64_t bytes;
	struct tombstone_limits limits;
	/* by enum tombstone_by: the index whose values tombstones are filed under, or -1 */
	int indexes[4];
};

/* Scratch: the tombstone being filed or taken out, and the hashes it stands under. */
struct tombstone_keys {
	uint32_t ref;
	size_t count, capacity;
	struct tombstone_key {
		uint64_t hash;
		bool filed;
	} *keys;
};

struct store_resource {
	struct index_table indexes;
	uint32_t published; /* ref of the BLOCK_RESOURCE in the current root; 0: none */
	bool dirty;
	bool claimed;                   /* store_add_resource() made or found it */
	bool synced_told;               /* readers were told that it is SYNCED */
	char name[256];			/* resource.group */
	struct ordinals ordinals;       /* free ones */
	struct tombstones tombstones;
	struct retained_log left; /* replaced and deleted objects, by seq of the change */
	/* objects of dropped tombstones, by the seq of their deletion */
	struct retained_log fallen;
	struct shortcut_edit shortcuts;
	/* working version; without the indexes' roots, which `indexes` has */
	struct resource now;
};

struct store {
	struct arena *arena;
	struct intern *intern;
	bool keeps;
	struct pins *pins;
	struct trie_edit *edit;
	struct store_resource *resources[RESOURCE_MAX];
	unsigned resource_count;
	uint64_t seq;
	uint64_t epoch;			/* published */
	uint64_t commits;
	uint8_t lineage[16];
	uint64_t adopted_wall_ns;
	uint32_t root;			/* ref of the published root; 0: none */
	bool root_changed;
	bool expects_more;              /* store_expect() */
	uint64_t table;                 /* root.table of the next root, … */
	bool table_changed;             /* … unless true: then it is that root's epoch */
	struct index_change change;	/* scratch */
	struct tombstone_keys tombstone_keys;	/* scratch */
	void (*on_commit)(void *context, uint64_t epoch);
	void *on_commit_context;
	bool (*on_full)(void *context);
	void *on_full_context;
	void (*on_events)(void *context, const struct store_event *events, size_t count, uint64_t base);
	void *on_events_context;
	uint64_t (*lowest)(void *context, unsigned resource);
	void *lowest_context;
	bool (*heard)(void *context, unsigned resource);
	void *heard_context;
	struct store_event *events;	/* of the next commit, in order of seq */
	size_t event_count, event_capacity;
	uint64_t published_seq;		/* of the published root */
	uint32_t consumers;		/* ref of the BLOCK_CONSUMERS that the next commit shows; 0: none */
};

/* Upper bounds: the largest trie node, and the longest path that an edit copies. */
#define NODE_BYTES 288ull
#define PATH_BYTES (TRIE_DEPTH_MAX * NODE_BYTES)

/* Load the resources of a published root. 0, -EBADMSG, -ENOMEM. */
int store_load_resources(struct store *s, const struct root *root);

/* Make room in a full arena, for arena_on_full(); returns true if some came free (commit.c). */
bool store_make_room(void *store);

/* ---- tombstones (store_tombstones.c) ---- */

/* Find the indexes that tombstones are filed under. Call after the definitions were read. */
void tombstones_begin(struct store_resource *res);
void tombstones_done(struct store_resource *res);
/*
 * Prepare for other indexes. If they would file a tombstone under other values, all tombstones are dropped.
 * 0; -ENOSPC: there is no memory to drop them now.
 */
int tombstones_redefine(struct store *s, struct store_resource *res, const struct index_table *next);
/* Load the tombstones of an adopted resource. 0, -EBADMSG, -ENOMEM. */
int tombstones_load(struct store *s, struct store_resource *res);

/*
 * Before an object is deleted, tombstone_prepare() reserves private memory and adds the tombstone's largest
 * footprint to `need`. 0, -ENOMEM, -EBADMSG. Then tombstone_leave() files the tombstone; between the two
 * calls only the deletion itself may happen. 0, or -EBADMSG.
 */
int tombstone_prepare(struct store *s, struct store_resource *res, uint32_t object, struct arena_need *need);
int tombstone_leave(struct store *s, struct store_resource *res, uint32_t object, uint64_t seq,
		    uint32_t flags);

/*
 * Drop the oldest tombstones beyond the limits. A tombstone whose drop finds no memory stays. The caller has
 * opened the arena's reserve.
 */
void tombstones_trim(struct store *s, struct store_resource *res);
/*
 * If the arena refused an allocation since the last call, drop half of all tombstones. True: some were
 * dropped.
 */
bool tombstones_give_way(struct store *s);
/* Forget all tombstones of a resource that is being emptied; its by-seq trie is already gone. */
void tombstones_drop_all(struct store *s, struct store_resource *res);

/* ---- what readers are told, and what is held for them (store_events.c) ---- */

/* Reserve memory to note and hold the next `count` changes of a resource. 0, -ENOMEM. */
int store_reserve_notes(struct store *s, struct store_resource *res, size_t count);
/* Note an event for the next commit. Its memory must have been reserved. */
void store_note(struct store *s, enum queue_kind kind, unsigned resource, uint64_t seq, uint32_t old_ref,
		uint32_t new_ref);
/*
 * Retire an object or shared value that left the resource with this seq: at once, or when no queue shows it
 * any more.
 */
void store_let_go(struct store *s, struct retained_log *log, uint64_t seq, uint32_t ref);
/* Before a commit, reserve the memory that store_tell_events() needs. 0, -ENOMEM. */
int store_prepare_events(struct store *s);
/* Report the events of the commit just published, SYNCED included. base: seq of the previous root */
void store_tell_events(struct store *s, uint64_t base);

#endif
