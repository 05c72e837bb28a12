/*
 * The store's inside, shared by store.c (what is known, changes), store_resources.c (which resources there are) and commit.c (publishing).
 */
#ifndef WRITER_STORE_INTERNAL_H
#define WRITER_STORE_INTERNAL_H

#include "shm-layout/index_def.h"
#include "writer/index_change.h"
#include "writer/ordinals.h"
#include "writer/store.h"
#include "writer/trie_edit.h"

struct store_resource {
	struct index_table indexes;
	uint32_t published;		/* ref of the BLOCK_RESOURCE that the current root has; 0: none */
	bool dirty;
	bool claimed;			/* somebody asked for it since the store was made */
	char name[256];			/* resource.group */
	struct ordinals ordinals;	/* those to be used again */
	struct resource now;		/* working version; the indexes' links stand in `indexes`, nothing follows it here */
};

struct store {
	struct arena *arena;
	struct intern *intern;
	struct slots *slots;
	struct trie_edit *edit;
	struct store_resource *resources[RESOURCE_MAX];
	unsigned resource_count;
	uint64_t seq;
	uint64_t epoch;			/* published */
	uint64_t commits;
	uint8_t lineage[16];
	uint32_t root;			/* ref of the published root; 0: none */
	bool resources_changed;
	struct index_change change;	/* scratch */
	struct path uid_path, version_path;
	void (*on_commit)(void *context, uint64_t epoch);
	void *on_commit_context;
};

/* Index definitions and names out of a descriptor. 0, -EINVAL, -ENOMEM. */
int store_read_descriptor(struct store *s, struct store_resource *res, const char **ret_why);

/* Take over what a published root holds. 0, -EBADMSG, -ENOMEM. */
int store_load_resources(struct store *s, const struct root *root);
void store_resource_free(struct store_resource *res);

/* Take out every object and index; the resource stays, empty, LISTING. */
void store_empty_resource(struct store *s, struct store_resource *res);

#endif
