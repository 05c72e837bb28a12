/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a store for each request.
 */
#include "tools/informer-gateway/views/arena_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct place {
	struct gw_place place; /* first: it is what is handed out */
	struct gw_store store;
	char warning[160];
};

static struct place *
place_of(struct gw_place *place)
{
	return (struct place *)(void *)place;
}

static int
open_place(void *ctx, const struct gw_want *want, struct gw_place **ret_place)
{
	struct gw_entry *entry;
	struct place *p;
	int r = gw_resources_find(ctx, want->resource, want->namespace_, want->labels, want->fields, &entry);

	if (r == -EXDEV && want->key)
		r = gw_resources_holder(ctx, want->resource, want->key, &entry);
	else if (r == -EXDEV && want->narrow)
		r = gw_resources_part(ctx, want->resource, want->namespace_, &entry);
	if (r < 0)
		return r;
	p = api_alloc(sizeof(*p));
	gw_store_init(&p->store, entry);
	p->place = (struct gw_place){.store = &p->store.api, .metadata_only = entry->metadata_only};
	*ret_place = &p->place;
	return 0;
}

static void
tell_parts(void *ctx, const struct api_resource *resource, struct api_buf *ret)
{
	gw_resources_parts(ctx, resource, ret);
}

static void
close_place(struct gw_place *place)
{
	struct place *p = place_of(place);

	gw_store_done(&p->store);
	free(p);
}

static void
watch_place(struct gw_place *place, const char *namespace_, const struct api_query *query,
	    void (*wake)(void *ctx), void *ctx)
{
	struct gw_hint hint;

	gw_hint_init(&hint, namespace_, query);
	gw_store_watch(&place_of(place)->store, &hint, wake, ctx);
	gw_hint_done(&hint);
}

static const char *
warn_of_place(struct gw_place *place)
{
	struct place *p = place_of(place);
	uint64_t age = gw_entry_age_ns(p->store.entry);

	if (age == UINT64_MAX)
		return "how old this is is not known: informerd is away, or has not heard of the API server";
	if (age < GW_STALE_NS)
		return NULL;
	snprintf(p->warning, sizeof(p->warning),
		 "the API server was last heard of %" PRIu64 " s ago: this may be as old", age / 1000000000u);
	return p->warning;
}

struct gw_source
gw_arena_source(struct gw_arena *arena)
{
	return (struct gw_source){
		.ctx = arena,
		.registry = &arena->registry,
		.open = open_place,
		.parts = tell_parts,
		.close = close_place,
		.watch = watch_place,
		.warning = warn_of_place,
	};
}
