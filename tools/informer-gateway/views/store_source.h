/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: what gives each request its store: the arena in the program (arena_store.h), arrays in tests.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_STORE_SOURCE_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_STORE_SOURCE_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/serving/api_store.h"

/* What one request is answered from: a store for one resource. Several may be open for one. */
struct gw_store {
	struct api_store api;
	bool metadata_only; /* its objects have no more than their metadata */

	void (*close)(struct gw_store *store);
	/*
	 * From now on events() gives what concerns the query, and wake() is called when there may be
	 * something: from the loop, never from within a function of the store. Called before a position is
	 * asked for; query and namespace_ (NULL: all) are borrowed for the call.
	 */
	void (*watch)(struct gw_store *store, const char *namespace_, const struct api_query *query,
		      void (*wake)(void *ctx), void *ctx);
	/* A sentence for a Warning header when what the store has is old; else NULL. */
	const char *(*warning)(struct gw_store *store);
};

struct gw_source {
	void *ctx;
	const struct api_registry *registry;

	/* Returns 0; -ENOENT: that is not here; -EXDEV: not all of it, or not this object; see parts(). */
	int (*open)(void *ctx, const struct gw_want *want, struct gw_store **ret_store);
	/* Append what of a resource is here: "with fieldSelector=spec.nodeName=n1, or in namespace a". */
	void (*parts)(void *ctx, const struct api_resource *resource, struct api_buf *ret);
};

#endif
