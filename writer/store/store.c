/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's life, and the content beside objects that the next commit shows.
 */
#include "writer/store/store_internal.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/resource_version.h"
#include "writer/store/store_definition.h"
#include "writer/store/store_document.h"

/* ---- creating and freeing ---- */

int
store_new(struct arena *arena, struct intern *intern, struct pins *pins, struct store **ret_store)
{
	struct store *s = calloc(1, sizeof(*s));
	uint64_t root_offset = atomic_load_explicit(&arena->header->root, memory_order_relaxed);
	int r = -ENOMEM;

	if (!s)
		return r;
	s->arena = arena;
	s->pins = pins;
	s->intern = intern ? intern : intern_new(arena);
	s->edit = trie_edit_new(arena);
	if (!s->intern || !s->edit)
		goto fail;
	arena_on_full(arena, store_make_room, s);
	if (root_offset) {
		const struct root *root = root_at(&arena->view, root_offset);

		r = root ? store_load_resources(s, root) : -EBADMSG;
		if (r < 0)
			goto fail;
		s->root = (uint32_t)(root_offset / REF_UNIT);
		s->epoch = root->epoch;
		s->seq = s->published_seq = root->seq;
		s->consumers = root->consumers;
		s->table = root->table;
		s->adopted_wall_ns = root->committed_wall_ns;
		memcpy(s->lineage, root->lineage, sizeof(s->lineage));
		arena_set_working_epoch(arena, s->epoch + 1);
	} else {
		s->epoch = EPOCH_FIRST - 1;
		randombytes_buf(s->lineage, sizeof(s->lineage));
		arena_set_working_epoch(arena, s->epoch + 1);
		s->root_changed = true;
		r = store_commit(s);
		if (r < 0)
			goto fail;
	}
	*ret_store = s;
	return 0;
fail:
	if (intern)
		s->intern = NULL; /* still the caller's */
	store_free(s);
	return r;
}

void
store_free(struct store *s)
{
	if (!s)
		return;
	arena_on_full(s->arena, NULL, NULL);
	for (unsigned i = 0; i < s->resource_count; i++)
		store_resource_free(s->resources[i]);
	index_change_done(&s->change);
	trie_edit_free(s->edit);
	intern_free(s->intern);
	free(s->events);
	free(s->tombstone_keys.keys);
	free(s);
}

struct arena *
store_arena(const struct store *s)
{
	return s->arena;
}

struct intern *
store_intern(const struct store *s)
{
	return s->intern;
}

uint64_t
store_epoch(const struct store *s)
{
	return s->epoch;
}

uint64_t
store_seq(const struct store *s)
{
	return s->seq;
}

uint64_t
store_adopted_wall_ns(const struct store *s)
{
	return s->adopted_wall_ns;
}

void
store_lineage(const struct store *s, uint8_t ret_lineage[16])
{
	memcpy(ret_lineage, s->lineage, sizeof(s->lineage));
}

unsigned
store_resource_count(const struct store *s)
{
	return s->resource_count;
}

const struct resource *
store_resource(const struct store *s, unsigned id)
{
	return id < s->resource_count ? &s->resources[id]->now : NULL;
}

const char *
store_resource_name(const struct store *s, unsigned id)
{
	return id < s->resource_count ? s->resources[id]->name : "";
}

/* ---- version, state ---- */

int
store_set_version(struct store *s, unsigned resource, const char *version, size_t length)
{
	struct resource *now = &s->resources[resource]->now;

	if (length > RESOURCE_VERSION_MAX)
		return -E2BIG;
	if (now->version_length == length && memcmp(now->version, version, length) == 0)
		return 0;
	memset(now->version, 0, sizeof(now->version));
	memcpy(now->version, version, length);
	now->version_length = (uint8_t)length;
	/* the version was given up, or the server restored: deletions there are unknown */
	if (resource_version_number(version, length) < now->complete_from)
		now->complete_from = 0;
	s->resources[resource]->dirty = true;
	return 0;
}

void
store_set_cluster(struct store *s, unsigned resource, const uint8_t cluster[8])
{
	struct resource *now = &s->resources[resource]->now;

	if (memcmp(now->cluster, cluster, sizeof(now->cluster)) == 0)
		return;
	memcpy(now->cluster, cluster, sizeof(now->cluster));
	s->resources[resource]->dirty = true;
}

void
store_set_state(struct store *s, unsigned resource, enum resource_state state)
{
	struct store_resource *res = s->resources[resource];

	if (res->now.state == (uint32_t)state)
		return;
	res->now.state = (uint32_t)state;
	res->dirty = true;
	/* a list is complete: it has what the server had at this version */
	if (state == RESOURCE_SYNCED && res->now.complete_from == 0)
		res->now.complete_from = resource_version_number(res->now.version, res->now.version_length);
}

/* ---- status ---- */

int
store_set_status(struct store *s, unsigned resource, const char *json)
{
	struct store_resource *res = s->resources[resource];
	uint32_t old = res->now.status, ref;
	int r = store_reserve_notes(s, res, 1);

	if (r < 0)
		return r;
	arena_open_reserve(s->arena, true); /* "the arena is full" must have room */
	r = store_make_document(s, json, &ref);
	arena_open_reserve(s->arena, false);
	if (r < 0)
		return r;
	if (ref == old) {
		intern_unref(s->intern, ref);
		return 0;
	}
	res->now.status = ref;
	res->dirty = true;
	store_note(s, QUEUE_STATUS, resource, s->seq, 0, ref);
	if (old)
		store_let_go(s, &res->left, s->seq, old);
	return 0;
}

/* ---- named consumers ---- */

const struct consumer *
store_consumers(const struct store *s, size_t *ret_count)
{
	const struct block *b;

	*ret_count = 0;
	if (!s->consumers)
		return NULL;
	b = block_at(&s->arena->view, s->consumers, BLOCK_CONSUMERS, sizeof(struct consumer));
	if (!b)
		return NULL;
	*ret_count = block_length(b) / sizeof(struct consumer);
	return (const struct consumer *)(const void *)b->payload;
}

int
store_set_consumers(struct store *s, const struct consumer *consumers, size_t count)
{
	size_t known_count;
	const struct consumer *known = store_consumers(s, &known_count);
	uint32_t ref = 0;
	int r = 0;

	if (count > BLOCK_LENGTH_MAX / sizeof(*consumers))
		return -E2BIG;
	if (count == known_count && (count == 0 || memcmp(known, consumers, count * sizeof(*consumers)) == 0))
		return 0;
	if (count > 0) {
		arena_open_reserve(s->arena, true);
		r = arena_new_block(s->arena, BLOCK_CONSUMERS, (uint32_t)(count * sizeof(*consumers)), 0,
				    &ref);
		arena_open_reserve(s->arena, false);
		if (r < 0)
			return r;
		memcpy(arena_payload(s->arena, ref), consumers, count * sizeof(*consumers));
		arena_seal(s->arena, ref);
	}
	if (s->consumers)
		arena_retire(s->arena, s->consumers);
	s->consumers = ref;
	s->root_changed = true;
	return 0;
}
