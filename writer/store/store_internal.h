/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's inside. Its files, each above those that it calls:
 *
 *	store.c               life, and what is shown beside objects
 *	commit.c              publishing
 *	store_resources.c     which resources there are
 *	store_redefine.c      other definitions for the same content
 *	store_change.c        objects come, change, go
 *	store_definition.c    what a descriptor says
 *	store_tombstones.c    what remains of the deleted
 *	store_events.c        what readers are told, and what is held for them
 *	store_document.c      JSON texts that are no objects
 *	store_keys.c          what is known, found again
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

/* The tombstones that stand (store_tombstones.c). */
struct tombstones {
	struct fifo_ring notes;		/* in order of seq */
	uint64_t bytes;
	struct tombstone_limits limits;
	/* by enum tombstone_by: the index whose values they are filed under, or -1 */
	int indexes[4];
};

/* The tombstone that is being filed or taken out, and the hashes that it is for. */
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
	uint32_t published;		/* ref of the BLOCK_RESOURCE that the current root has; 0: none */
	bool dirty;
	bool claimed;			/* somebody asked for it since the store was made */
	bool synced_told;		/* readers know that it is SYNCED */
	char name[256];			/* resource.group */
	struct ordinals ordinals;	/* those to be used again */
	struct tombstones tombstones;
	struct retained_log left;		/* what was replaced or deleted, by the seq of that */
	/* objects of tombstones that went, by the seq of their deletion */
	struct retained_log fallen;
	struct shortcut_edit shortcuts;
	/* working version; the indexes' links stand in `indexes`, nothing follows it here */
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
	uint64_t table;			/* root.table of the next root … */
	bool table_changed;		/* … if it is not that root itself */
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

/* A path through a trie that is edited, at its longest, and the largest node. */
#define NODE_BYTES 288ull
#define PATH_BYTES (TRIE_DEPTH_MAX * NODE_BYTES)

/* Take over what a published root holds. 0, -EBADMSG, -ENOMEM. */
int store_load_resources(struct store *s, const struct root *root);

/* The arena is full: whether some of it came free, for arena_on_full() (commit.c). */
bool store_make_room(void *store);

/* ---- tombstones (store_tombstones.c) ---- */

/* Which indexes they go by; after the definitions were read. */
void tombstones_begin(struct store_resource *res);
void tombstones_done(struct store_resource *res);
/*
 * The resource is about to have these indexes. Where a tombstone would then stand under other values, all go.
 * 0; -ENOSPC: not now, there is no memory for that.
 */
int tombstones_redefine(struct store *s, struct store_resource *res, const struct index_table *next);
/* Find those that an adopted resource has. 0, -EBADMSG, -ENOMEM. */
int tombstones_load(struct store *s, struct store_resource *res);

/*
 * An object is about to go: make sure of private memory, and add what arena its tombstone takes at most. 0,
 * -ENOMEM, -EBADMSG. Then, without anything between but the change itself: leave it. 0, or -EBADMSG.
 */
int tombstone_prepare(struct store *s, struct store_resource *res, uint32_t object, struct arena_need *need);
int tombstone_leave(struct store *s, struct store_resource *res, uint32_t object, uint64_t seq,
		    uint32_t flags);

/* Drop the oldest while there are too many; what finds no memory stays. The arena's reserve is open. */
void tombstones_trim(struct store *s, struct store_resource *res);
/* When the arena refused somebody since this was asked last: half of all go. Whether any went. */
bool tombstones_give_way(struct store *s);
/* The resource is being emptied and its by-seq trie gone already: forget all of them. */
void tombstones_drop_all(struct store *s, struct store_resource *res);

/* ---- what readers are told, and what is held for them (store_events.c) ---- */

/* Make sure that the next `count` changes of a resource can be noted and held without memory. 0, -ENOMEM. */
int store_reserve_notes(struct store *s, struct store_resource *res, size_t count);
/* Note an event for the next commit; its memory was reserved. */
void store_note(struct store *s, enum queue_kind kind, unsigned resource, uint64_t seq, uint32_t old_ref,
		uint32_t new_ref);
/*
 * Let go of an object or a shared value that left the resource with this seq: at once, or when no queue shows
 * it any more.
 */
void store_let_go(struct store *s, struct retained_log *log, uint64_t seq, uint32_t ref);
/* Before a commit: what store_tell_events() will need. 0, -ENOMEM. */
int store_prepare_events(struct store *s);
/* Tell the events of the commit that was just published, SYNCED included; base: seq of the root before. */
void store_tell_events(struct store *s, uint64_t base);

#endif
