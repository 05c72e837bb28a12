/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishes: writes the changed resource blocks and a new root, and makes the root visible by one
 * release-store. Then it frees blocks that no reader can see any more.
 */
#include "writer/store/commit.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "writer/store/store_internal.h"
#include "shm-layout/time_ns.h"

/* A commit that finds so many retired bytes scans the readers' pins. */
#define RECLAIM_BYTES (64ull * 1024)
/* A sweep that finds so many retired bytes commits without a change. */
#define SWEEP_BYTES (256ull * 1024)

static uint32_t
resource_length(const struct store_resource *res)
{
	return (uint32_t)(sizeof(struct resource) + res->indexes.count * sizeof(uint32_t));
}

/* Rows of the root: if more resources are expected, one empty row follows. */
static uint32_t
rows(const struct store *s)
{
	return s->resource_count + (s->expects_more && s->resource_count < RESOURCE_MAX);
}

static uint32_t
root_length(const struct store *s)
{
	return (uint32_t)(sizeof(struct root) + rows(s) * sizeof(uint32_t));
}

void
commit_root_tag(const struct arena *arena, uint32_t ref, uint8_t ret_tag[TAG_ROOT_BYTES])
{
	tag_root(&arena->root_key, arena->header->hash_key, ref_offset(ref), arena_block(arena, ref),
		 ret_tag);
}

static void
write_resource(struct store *s, struct store_resource *res, uint32_t ref)
{
	struct resource *r = arena_payload(s->arena, ref);

	res->now.index_count = res->indexes.count;
	memcpy(r, &res->now, sizeof(*r));
	memcpy(r->indexes, res->indexes.roots, res->indexes.count * sizeof(uint32_t));
	arena_seal(s->arena, ref);
	if (res->published)
		arena_retire(s->arena, res->published);
	res->published = ref;
	res->dirty = false;
}

static void
write_root(struct store *s, uint32_t ref)
{
	struct root *root = arena_payload(s->arena, ref);

	root->epoch = s->epoch + 1;
	root->seq = s->seq;
	memcpy(root->lineage, s->lineage, sizeof(root->lineage));
	root->committed_boot_ns = time_ns(CLOCK_BOOTTIME);
	root->committed_wall_ns = time_ns(CLOCK_REALTIME);
	root->resource_count = rows(s);
	root->consumers = s->consumers;
	root->table = s->table_changed ? s->epoch + 1 : s->table;
	for (unsigned i = 0; i < s->resource_count; i++)
		root->resources[i] = s->resources[i]->published;
	if (rows(s) > s->resource_count)
		root->resources[s->resource_count] = 0;
	commit_root_tag(s->arena, ref, root->tag);
	arena_seal(s->arena, ref);
}

static bool
anything_to_publish(const struct store *s)
{
	if (s->root_changed)
		return true;
	for (unsigned i = 0; i < s->resource_count; i++)
		if (s->resources[i]->dirty)
			return true;
	return false;
}

static bool
nobody_is_revoked(const struct store *s)
{
	return !s->pins || pins_revoked(s->pins) == 0;
}

static void
need_block(struct arena_need *need, uint32_t length)
{
	arena_need_add(need, block_footprint(length), block_footprint(length));
}

/*
 * W1 and W3 of shm-layout/PROTOCOLS.md, Pin. The root is stored only when all that it reaches is sealed in
 * the arena. Blocks that it replaces are reused only after a scan of the pins that follows the store.
 */
static int
publish(struct store *s)
{
	struct arena_need need = {0};
	uint64_t base = s->published_seq;
	struct arena_stats stats;
	uint32_t root, ref;
	int r = store_prepare_events(s);

	if (r < 0)
		return r;
	need_block(&need, root_length(s));
	for (unsigned i = 0; i < s->resource_count; i++)
		need_block(&need, resource_length(s->resources[i]));
	r = arena_ensure(s->arena, need);
	if (r < 0)
		return r;
	r = arena_new_block(s->arena, BLOCK_ROOT, root_length(s), 0, &root);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < s->resource_count; i++) {
		if (!s->resources[i]->dirty)
			continue;
		r = arena_new_block(s->arena, BLOCK_RESOURCE, resource_length(s->resources[i]), 0, &ref);
		if (r < 0) {
			arena_free(s->arena, root);
			return r;
		}
		write_resource(s, s->resources[i], ref);
	}
	trie_edit_seal(s->edit);
	write_root(s, root);
	for (unsigned i = 0; i < s->resource_count; i++)
		shortcut_apply(&s->resources[i]->shortcuts, s->arena, &s->resources[i]->now);
	if (s->root)
		arena_retire(s->arena, s->root);

	/*
	 * Meets R2's acquire load, slot_load_root() (shm-layout/slot.h): all that the root reaches, and the
	 * cells of the shortcuts, were written before. Without it a reader could follow the root to blocks
	 * that are not there yet. W1's full fence is in broker_wake() and pins_horizon(), before their loads.
	 */
	atomic_store_explicit(&s->arena->header->root, ref_offset(root), memory_order_release); /* W1 */
	arena_tell_epoch(s->arena, s->epoch + 1);                                               /* W1' */
	s->root = root;
	s->epoch++;
	s->commits++;
	s->root_changed = false;
	s->table = s->table_changed ? s->epoch : s->table;
	s->table_changed = false;
	s->published_seq = s->seq;
	arena_set_working_epoch(s->arena, s->epoch + 1);

	store_tell_events(s, base);
	/* Wake readers first: they run while the writer cleans up. */
	if (s->on_commit)
		s->on_commit(s->on_commit_context, s->epoch);
	store_release_held(s);
	arena_stats(s->arena, &stats);
	if (stats.retired_bytes + stats.lapsed_bytes >= RECLAIM_BYTES ||
	    (stats.buried_bytes > 0 && nobody_is_revoked(s)))
		store_reclaim(s);
	return 0;
}

int
store_commit(struct store *s)
{
	int r;

	tombstones_give_way(s);
	if (!anything_to_publish(s))
		return 0;
	for (unsigned i = 0; i < s->resource_count; i++)
		if (s->resources[i]->dirty)
			shortcut_fit(&s->resources[i]->shortcuts, s->arena, &s->resources[i]->now);
	arena_open_reserve(s->arena, true);
	r = publish(s);
	arena_open_reserve(s->arena, false);
	return r;
}

int
store_sweep(struct store *s)
{
	struct arena_stats stats;
	bool changed = s->root_changed;
	int r;

	if (tombstones_give_way(s))
		return store_commit(s);
	arena_stats(s->arena, &stats);
	if (stats.retired_since_bytes < SWEEP_BYTES)
		return 0;
	s->root_changed = true;
	r = store_commit(s);
	if (r < 0)
		s->root_changed = changed;
	return r;
}

void
store_reclaim(struct store *s)
{
	if (s->keeps)
		return;
	if (nobody_is_revoked(s))
		arena_dig_up(s->arena);
	arena_reclaim(s->arena, s->pins ? pins_horizon(s->pins, s->epoch) : s->epoch); /* W2, W3 */
	arena_punch(s->arena);
}

void
store_revoke(struct store *s, unsigned slot)
{
	pins_revoke(s->pins, slot); /* V1 */
	arena_see(s->arena);        /* V2 */
	store_reclaim(s);
}

/*
 * Neither the current root nor the working version reaches blocks retired under a published epoch. So they
 * may be freed during a change or a commit.
 */
bool
store_make_room(void *store)
{
	struct store *s = store;
	struct arena_stats before, after;

	arena_stats(s->arena, &before);
	store_reclaim(s);
	arena_stats(s->arena, &after);
	return after.retired_bytes < before.retired_bytes || after.lapsed_bytes < before.lapsed_bytes ||
	       after.free_bytes > before.free_bytes || after.absent_bytes > before.absent_bytes ||
	       (s->on_full && s->on_full(s->on_full_context));
}

void
store_on_full(struct store *s, bool (*make_room)(void *context), void *context)
{
	s->on_full = make_room;
	s->on_full_context = context;
}

void
store_keep(struct store *s)
{
	s->keeps = true;
}

void
store_on_commit(struct store *s, void (*callback)(void *context, uint64_t epoch), void *context)
{
	s->on_commit = callback;
	s->on_commit_context = context;
}

void
store_stats(const struct store *s, struct store_stats *ret)
{
	struct arena_stats a;

	arena_stats(s->arena, &a);
	ret->epoch = s->epoch;
	ret->seq = s->seq;
	ret->commits = s->commits;
	ret->generation = s->arena->header->generation;
	ret->arena_bytes = a.committed_bytes;
	ret->used_bytes = a.used_bytes;
	ret->retired_bytes = a.retired_bytes;
	ret->retired_since_bytes = a.retired_since_bytes;
	ret->free_bytes = a.free_bytes;
	ret->buried_bytes = a.buried_bytes;
	ret->absent_bytes = a.absent_bytes;
	ret->present_bytes = a.present_bytes;
	ret->budget_bytes = a.budget_bytes;
	ret->private_bytes = a.private_bytes + intern_private_bytes(s->intern);
	ret->shared_blocks = intern_count(s->intern);
	ret->leaked_blocks = a.leaked_blocks;
}
