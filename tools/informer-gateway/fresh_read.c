/* SPDX-License-Identifier: Apache-2.0 */
/* Reads that must be as new as upstream; see fresh_read.h. */
#include "tools/informer-gateway/fresh_read.h"

#include <errno.h>
#include <stdlib.h>

#include "tools/informer-gateway/absent_reply.h"
#include "tools/informer-gateway/arena_resources.h"
#include "tools/informer-gateway/gateway_config.h"

struct fresh_read {
	struct gw_exchange *x;
	gw_next *next;
	struct gw_freshness *freshness;
	struct gw_fresh_wait *wait;
};

static void
proved(void *ctx, int result, uint64_t rv, const char *why)
{
	struct fresh_read *read = ctx;
	struct gw_exchange *x = read->x;
	gw_next *next = read->next;

	free(read);
	gw_on_gone(x, NULL, NULL);
	if (result == 0) {
		x->proved = true;
		next(x);
		return;
	}
	if (result == -ETIMEDOUT && rv != 0) {
		api_status_too_large_rv(&x->api.status, rv, 0);
		gw_reply_status(x);
		return;
	}
	gw_reply_absent(x, why);
}

static void
gone(void *ctx)
{
	struct fresh_read *read = ctx;

	gw_fresh_cancel(read->wait);
	free(read);
}

/* The namespace in which alone informerd caches what is asked for, and may list it; NULL: all. */
static const char *
only_namespace(struct gw_arena *arena, const struct gw_exchange *x)
{
	struct gw_entry *entry;

	return gw_resources_find(arena, x->api.resource, x->api.namespace_, NULL, NULL, &entry) == 0 &&
			       entry->namespace_ && *entry->namespace_
		       ? entry->namespace_
		       : NULL;
}

void
gw_fresh_read(struct gw_freshness *freshness, struct gw_arena *arena, struct gw_exchange *x, gw_next *next)
{
	const struct gw_listener_config *listener = gw_listener_profile(x->listener);
	struct fresh_read *read;

	if (!freshness || listener->freshness != GW_FRESHNESS_STRICT) {
		next(x);
		return;
	}
	read = api_alloc(sizeof(*read));
	*read = (struct fresh_read){.x = x, .next = next, .freshness = freshness};
	gw_on_gone(x, gone, read);
	read->wait = gw_fresh_wait(freshness, x->api.resource, only_namespace(arena, x), proved, read);
}

/* Of several entries the one that is furthest behind. */
uint64_t
gw_arena_rv(void *ctx, const struct api_resource *resource)
{
	const struct gw_arena *arena = ctx;
	uint64_t rv = UINT64_MAX;

	for (unsigned i = 0; i < arena->count; i++) {
		const struct gw_entry *entry = arena->entries[i];

		if (entry->resource == resource && !entry->gone && entry->feed.begun &&
		    entry->feed.log.told < rv)
			rv = entry->feed.log.told;
	}
	return rv == UINT64_MAX ? 0 : rv;
}
