/* SPDX-License-Identifier: Apache-2.0 */
/* Connects the arena's parts, and reports new commits. */
#include "tools/informer-gateway/views/gateway_arena.h"

#include <stdlib.h>
#include <time.h>

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/informer-gateway/arena/arena_take.h"
#include "tools/informer-gateway/views/arena_view.h"
#include "tools/schema/proto_schema.h"

/* Built-in kinds are registered for their fields and short names, but not served until the arena has them. */
static void
begin_registry(struct api_registry *registry)
{
	api_registry_init(registry);
	for (unsigned i = 0; i < api_registry_count(registry); i++)
		api_registry_drop(registry->items[i]);
}

static uint64_t
system_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int
gw_arena_new(const struct gw_arena_options *options, struct gw_arena **ret_arena)
{
	struct gw_arena *arena = api_alloc(sizeof(*arena));
	int r;

	*arena = (struct gw_arena){.options = *options, .epoll = -1, .kick = -1};
	if (!arena->options.now_ms)
		arena->options.now_ms = system_now_ms;
	begin_registry(&arena->registry);
	r = gw_handles_open(arena);
	if (r < 0)
		gw_arena_free(arena);
	else
		*ret_arena = arena;
	return r;
}

void
gw_arena_free(struct gw_arena *arena)
{
	if (!arena)
		return;
	gw_moments_free(arena);
	gw_resources_done(arena);
	gw_handles_close(arena);
	api_registry_done(&arena->registry);
	free(arena);
}

int
gw_arena_fd(const struct gw_arena *arena)
{
	return arena->epoll;
}

void
gw_arena_fit_release(const struct gw_arena *arena)
{
	struct informer_status status = {.size = sizeof(status)};

	if (informer_status(arena->reads, &status) == 0 && status.server_release &&
	    status.server_release != proto_schema_release(proto_schema_builtin()))
		proto_schema_fit(proto_schema_builtin(), status.server_release);
}

static void
tell(struct gw_arena *arena, struct gw_entry *entry)
{
	uint64_t told = entry->feed.log.told;

	if (told == entry->told)
		return;
	entry->told = told;
	if (arena->options.on_told && told > 0)
		arena->options.on_told(arena->options.context, entry->resource, told);
}

void
gw_arena_dispatch(struct gw_arena *arena)
{
	gw_handles_rest(arena);
	gw_arena_take(arena);
	gw_moments_expire(arena);
	for (unsigned i = 0; i < arena->count; i++)
		tell(arena, arena->entries[i]);
	for (unsigned i = 0; i < arena->count; i++)
		gw_interests_wake(&arena->entries[i]->feed.interests);
}
