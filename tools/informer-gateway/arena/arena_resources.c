/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the arena's table with the entries. An entry is identified by resource, namespace and selectors.
 */
#include "tools/informer-gateway/arena/arena_resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
same_text(const char *text, const char *data, size_t length)
{
	return strlen(text) == length && !memcmp(text, data, length);
}

static bool
is_entry_of(const struct gw_entry *e, const struct informer_resource_info *info)
{
	const struct api_resource *r = e->resource;

	return same_text(r->plural, info->resource, info->resource_length) &&
	       same_text(r->group, info->group, info->group_length) &&
	       same_text(r->version, info->version, info->version_length) &&
	       same_text(r->kind, info->kind, info->kind_length) && r->namespaced == info->namespaced &&
	       same_text(e->namespace_, info->namespace_, info->namespace_length) &&
	       same_text(e->label_selector, info->label_selector, info->label_selector_length) &&
	       same_text(e->field_selector, info->field_selector, info->field_selector_length) &&
	       e->metadata_only == info->metadata_only;
}

static struct gw_standing
standing_of(const struct informer_resource_info *info, const struct informer_moment *moment)
{
	struct gw_standing standing = {
		.synced = info->synced,
		.changed_seq = info->changed_seq,
		.forgotten_seq = info->forgotten_seq,
		.complete_from = info->complete_from,
		.rv = gw_rv_parse(info->resource_version, info->resource_version_length),
		.age_ns = info->age_ns,
	};

	_Static_assert(sizeof(standing.lineage) == sizeof(moment->lineage), "lineage");
	memcpy(standing.lineage, moment->lineage, sizeof(standing.lineage));
	return standing;
}

/* ---- the registry -------------------------------------------------------- */

static struct api_resource *
registered(struct api_registry *registry, const struct api_resource *like)
{
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		struct api_resource *r = registry->items[i];

		if (!strcmp(r->plural, like->plural) && !strcmp(r->group, like->group) &&
		    !strcmp(r->version, like->version) && !strcmp(r->kind, like->kind) &&
		    r->namespaced == like->namespaced)
			return r;
	}
	return NULL;
}

static bool
is_built_in(const char *group, const char *version, const char *kind)
{
	_cleanup_(api_buf_done) struct api_buf api_version = {0};

	api_buf_printf(&api_version, group[0] ? "%s/%s" : "%s%s", group, version);
	return proto_schema_kind(proto_schema_builtin(), api_version.data, api_version.len, kind,
				 strlen(kind)) != NULL;
}

static void
read_short_names(const struct informer_snapshot *snapshot, uint32_t position, char *names[3])
{
	const char *name;
	size_t length;

	for (uint32_t i = 0; i < 3; i++)
		if (informer_resource_short_name(snapshot, position, i, &name, &length) == 0)
			names[i] = api_strndup(name, length);
}

/* NULL: the registry is full, or refuses a name. */
static struct api_resource *
register_resource(struct gw_arena *arena, const struct informer_snapshot *snapshot, uint32_t position,
		  const struct informer_resource_info *info)
{
	_cleanup_(api_freep) char *group = api_strndup(info->group, info->group_length);
	_cleanup_(api_freep) char *version = api_strndup(info->version, info->version_length);
	_cleanup_(api_freep) char *plural = api_strndup(info->resource, info->resource_length);
	_cleanup_(api_freep) char *kind = api_strndup(info->kind, info->kind_length);
	_cleanup_(api_freep) char *singular = api_strndup(info->singular, info->singular_length);
	char *names[3] = {0};
	struct api_resource like = {
		.group = group,
		.version = version,
		.plural = plural,
		.kind = kind,
		.singular = singular[0] ? singular : NULL,
		.namespaced = info->namespaced,
		.custom = !is_built_in(group, version, kind),
	};
	struct api_resource *resource = registered(&arena->registry, &like);

	if (resource) {
		atomic_store_explicit(&resource->gone, false, memory_order_release);
		return resource;
	}
	read_short_names(snapshot, position, names);
	for (unsigned i = 0; i < 3; i++)
		like.shorts[i] = names[i];
	if (api_registry_define(&arena->registry, &like, NULL, &resource) < 0)
		resource = NULL;
	for (unsigned i = 0; i < 3; i++)
		free(names[i]);
	return resource;
}

/* ---- entries ------------------------------------------------------------- */

static char *
entry_name(const struct api_resource *resource)
{
	struct api_buf buf = {0};

	api_buf_printf(&buf, resource->group[0] ? "%s.%s.%s" : "%s.%s%s", resource->plural, resource->version,
		       resource->group);
	return api_buf_take(&buf);
}

static struct gw_entry *
add_entry(struct gw_arena *arena, struct api_resource *resource, const struct informer_resource_info *info)
{
	struct gw_entry *e = api_alloc(sizeof(*e));

	*e = (struct gw_entry){
		.arena = arena,
		.resource = resource,
		.name = entry_name(resource),
		.namespace_ = api_strndup(info->namespace_, info->namespace_length),
		.label_selector = api_strndup(info->label_selector, info->label_selector_length),
		.field_selector = api_strndup(info->field_selector, info->field_selector_length),
		.metadata_only = info->metadata_only,
		.gone = true,
	};
	gw_feed_init(&e->feed, &(struct gw_log_options){arena->options.history_bytes, arena->options.history,
							arena->options.now_ms});
	arena->entries = api_realloc(arena->entries, (arena->count + 1) * sizeof(*arena->entries));
	arena->entries[arena->count++] = e;
	return e;
}

static void
free_entry(struct gw_entry *e)
{
	gw_feed_done(&e->feed);
	gw_object_maker_done(&e->maker);
	free(e->name);
	free(e->namespace_);
	free(e->label_selector);
	free(e->field_selector);
	free(e);
}

void
gw_resources_done(struct gw_arena *arena)
{
	for (unsigned i = 0; i < arena->count; i++)
		free_entry(arena->entries[i]);
	free(arena->entries);
	arena->entries = NULL;
	arena->count = 0;
}

/* The table has the entry, for the first time or again. */
static int
open_entry(struct gw_entry *e)
{
	int r = informer_resource_open(e->arena->reads, e->name, &e->of_reads);

	if (r == 0)
		r = informer_resource_open(e->arena->events[0], e->name, &e->of_events);
	if (r == 0 && !e->maker.resource)
		r = gw_object_maker_init(&e->maker, e->arena->reads, e->resource);
	e->gone = r < 0;
	return r;
}

/* Views of the entry may still be in use. */
static void
close_entry(struct gw_entry *e)
{
	e->gone = true;
	gw_feed_close(&e->feed);
	if (e->followed)
		gw_handles_give_room(e->arena, e->handle);
	e->followed = false;
}

/*
 * Open the feed on a handle with room. Its first callbacks come with the next dispatch. Without room the next
 * sync tries again.
 */
static void
follow(struct gw_entry *e)
{
	struct gw_arena *arena = e->arena;
	int handle = gw_handles_take_room(arena);

	if (handle < 0)
		return;
	e->handle = (unsigned)handle;
	e->followed = gw_feed_open(&e->feed, arena->events[handle], &e->maker, e->name, e->namespace_) == 0;
	if (e->followed)
		gw_handles_kick(arena);
	else
		gw_handles_give_room(arena, e->handle);
}

/* The entry for a position of the table. Most entries keep their position, so that one is compared first. */
static struct gw_entry *
entry_at(struct gw_arena *arena, const struct informer_snapshot *snapshot, uint32_t position,
	 const struct informer_resource_info *info)
{
	struct api_resource *resource;

	if (position < arena->count && is_entry_of(arena->entries[position], info))
		return arena->entries[position];
	for (unsigned i = 0; i < arena->count; i++)
		if (is_entry_of(arena->entries[i], info))
			return arena->entries[i];
	resource = register_resource(arena, snapshot, position, info);
	return resource ? add_entry(arena, resource, info) : NULL;
}

static void
take_over(struct gw_entry *e, uint32_t position, const struct informer_resource_info *info,
	  const struct informer_moment *moment)
{
	const struct gw_standing standing = standing_of(info, moment);

	e->seen = true;
	e->position = position;
	e->on_demand = info->on_demand;
	atomic_store_explicit(&e->resource->gone, false, memory_order_release);
	if (e->gone && open_entry(e) < 0)
		return;
	if (!e->followed && !e->on_demand)
		follow(e);
	gw_feed_advance(&e->feed, &standing);
}

static void
forget_unseen(struct gw_arena *arena)
{
	for (unsigned i = 0; i < arena->count; i++) {
		struct gw_entry *e = arena->entries[i];

		if (!e->seen && !e->gone)
			close_entry(e);
		if (e->gone)
			api_registry_drop(e->resource);
	}
	for (unsigned i = 0; i < arena->count; i++)
		if (!arena->entries[i]->gone)
			atomic_store_explicit(&arena->entries[i]->resource->gone, false,
					      memory_order_release);
}

void
gw_resources_sync(struct gw_arena *arena, const struct informer_snapshot *snapshot)
{
	uint32_t count = informer_resource_count(snapshot);
	struct informer_moment moment;
	bool whole = true;

	if (informer_snapshot_moment(snapshot, &moment) < 0)
		return;
	for (unsigned i = 0; i < arena->count; i++)
		arena->entries[i]->seen = false;
	for (uint32_t i = 0; i < count; i++) {
		struct informer_resource_info info = {.size = sizeof(info)};
		struct gw_entry *e = NULL;

		if (informer_resource_info_at(snapshot, i, &info) == 0)
			e = entry_at(arena, snapshot, i, &info);
		if (e)
			take_over(e, i, &info, &moment);
		whole &= e != NULL;
	}
	/* informerd may still be discovering the missing entries */
	arena->known = whole && count > 0;
	if (arena->known)
		forget_unseen(arena);
}

/* ---- look-ups ------------------------------------------------------------ */

/* Length of the selector's first requirement, which ends at a comma outside parentheses. */
static size_t
requirement_length(const char *selector)
{
	size_t i = 0;

	for (int depth = 0; selector[i] && (selector[i] != ',' || depth > 0); i++)
		depth += (selector[i] == '(') - (selector[i] == ')');
	return i;
}

/* Whether each requirement of `wanted` appears in `asked`, with the same text. */
static bool
asks_for(const char *asked, const char *wanted)
{
	while (*wanted) {
		size_t length = requirement_length(wanted);
		const char *at = asked ? asked : "";
		bool found = false;

		while (*at && !found) {
			size_t n = requirement_length(at);

			found = n == length && !memcmp(at, wanted, n);
			at += n + (at[n] == ',');
		}
		if (!found)
			return false;
		wanted += length + (wanted[length] == ',');
	}
	return true;
}

static bool
is_of(const struct gw_entry *e, const struct api_resource *resource)
{
	return !e->gone && e->resource == resource;
}

static bool
has_namespace(const struct gw_entry *e, const char *namespace_)
{
	return !e->namespace_[0] || (namespace_ && !strcmp(e->namespace_, namespace_));
}

/*
 * The position in the table of the entry that has the object; UINT32_MAX: none. `any`: any entry of the
 * resource; its snapshot has the objects of all of them.
 */
static uint32_t
position_of(struct gw_entry *any, const char *key)
{
	struct informer_object object;
	struct gw_reading reading;
	uint32_t position = UINT32_MAX;

	if (gw_entry_begin(any, &reading) < 0)
		return position;
	if (informer_get_key(&reading.snapshot, reading.resource, key, strlen(key), &object) == 0)
		position = informer_object_position(&object);
	gw_reading_end(&reading);
	return position;
}

static bool
has_all(const struct gw_entry *e, const struct gw_want *want)
{
	return has_namespace(e, want->namespace_) && asks_for(want->labels, e->label_selector) &&
	       asks_for(want->fields, e->field_selector);
}

static bool
has_part(const struct gw_entry *e, const struct gw_want *want)
{
	bool all = !want->namespace_ || !want->namespace_[0];

	return want->narrow && (all || has_namespace(e, want->namespace_));
}

int
gw_resources_find(struct gw_arena *arena, const struct gw_want *want, struct gw_entry **ret_entry)
{
	struct gw_entry *any = NULL, *found = NULL, *part = NULL;
	uint32_t position;

	for (unsigned i = 0; i < arena->count && !found; i++) {
		struct gw_entry *e = arena->entries[i];

		if (!is_of(e, want->resource))
			continue;
		any = e;
		if (has_all(e, want))
			found = e;
		else if (!part && has_part(e, want))
			part = e;
	}
	if (!any)
		return -ENOENT;
	position = !found && want->key ? position_of(any, want->key) : UINT32_MAX;
	for (unsigned i = 0; i < arena->count && position != UINT32_MAX && !found; i++)
		if (is_of(arena->entries[i], want->resource) && arena->entries[i]->position == position)
			found = arena->entries[i];
	found = found ? found : part;
	if (!found)
		return -EXDEV;
	if (!found->followed)
		follow(found);
	*ret_entry = found;
	return 0;
}

void
gw_resources_parts(void *ctx, const struct api_resource *resource, struct api_buf *ret)
{
	const struct gw_arena *arena = ctx;
	const char *between = "";

	for (unsigned i = 0; i < arena->count; i++) {
		const struct gw_entry *e = arena->entries[i];

		if (!is_of(e, resource))
			continue;
		api_buf_puts(ret, between);
		if (e->namespace_[0])
			api_buf_printf(ret, "in namespace %s", e->namespace_);
		if (e->label_selector[0])
			api_buf_printf(ret, "%swith labelSelector=%s", e->namespace_[0] ? " " : "",
				       e->label_selector);
		if (e->field_selector[0])
			api_buf_printf(ret, "%swith fieldSelector=%s",
				       e->namespace_[0] || e->label_selector[0] ? " " : "",
				       e->field_selector);
		between = ", or ";
	}
}

int
gw_entry_standing(struct gw_entry *entry, const struct informer_snapshot *snapshot,
		  struct gw_standing *ret_standing)
{
	uint32_t count = informer_resource_count(snapshot);
	struct informer_moment moment;
	int r = informer_snapshot_moment(snapshot, &moment);

	for (uint32_t i = 0; i < count && r == 0; i++) {
		/* begin with the last known position */
		uint32_t position = i == 0 ? entry->position : i <= entry->position ? i - 1 : i;
		struct informer_resource_info info = {.size = sizeof(info)};

		if (position < count && informer_resource_info_at(snapshot, position, &info) == 0 &&
		    is_entry_of(entry, &info)) {
			*ret_standing = standing_of(&info, &moment);
			return 0;
		}
	}
	return r < 0 ? r : -ENOENT;
}

/*
 * Whether the snapshot is of the arena that the feeds last saw. Each handle moves to a new arena at its own
 * time.
 */
static bool
is_seen_arena(const struct gw_arena *arena, const struct informer_snapshot *snapshot)
{
	struct informer_moment moment;

	return informer_snapshot_moment(snapshot, &moment) == 0 &&
	       moment.generation == arena->seen_generation &&
	       !memcmp(moment.lineage, arena->seen_lineage, sizeof(moment.lineage));
}

int
gw_entry_begin(struct gw_entry *entry, struct gw_reading *ret_reading)
{
	int r;

	ret_reading->brief = false;
	ret_reading->resource = entry->of_reads;
	if (entry->gone)
		return -ENOENT;
	r = informer_begin(entry->arena->reads, &ret_reading->snapshot);
	if (r == 0 && !is_seen_arena(entry->arena, &ret_reading->snapshot)) {
		informer_end(&ret_reading->snapshot);
		r = INFORMER_E_NOT_READY;
	}
	if (r != INFORMER_E_NOT_READY)
		return r;
	ret_reading->brief = true;
	ret_reading->resource = entry->of_events;
	return informer_begin(entry->arena->events[0], &ret_reading->snapshot);
}

void
gw_reading_end(struct gw_reading *reading)
{
	informer_end(&reading->snapshot);
}

uint64_t
gw_entry_age_ns(struct gw_entry *entry)
{
	struct gw_standing standing;
	uint64_t age = UINT64_MAX;
	struct gw_reading reading;

	if (gw_entry_begin(entry, &reading) < 0)
		return age;
	if (gw_entry_standing(entry, &reading.snapshot, &standing) == 0)
		age = standing.age_ns;
	gw_reading_end(&reading);
	return age;
}
