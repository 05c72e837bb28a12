/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store source: gives each request a store: from the arena in the program (arena_store.h), from arrays in
 * tests.
 *
 * Threads  the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_STORE_SOURCE_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_STORE_SOURCE_H

#include "tools/informer-gateway/arena/arena_resources.h"
#include "tools/serving/api_store.h"

/* A store for one resource and one request. A request may have several. */
struct gw_store {
	struct api_store api;
	bool metadata_only; /* its objects have only metadata */

	void (*close)(struct gw_store *store);
	/*
	 * Begin to watch: events() returns what concerns the query, and wake() is called when there may be an
	 * event. wake() comes from the loop, never from within a function of the store. Call before asking
	 * for a position. query and namespace_ (NULL: all) are borrowed for the call.
	 */
	void (*watch)(struct gw_store *store, const char *namespace_, const struct api_query *query,
		      void (*wake)(void *ctx), void *ctx);
	/* The text of a Warning header if the store is stale; else NULL. */
	const char *(*warning)(struct gw_store *store);
};

struct gw_source {
	void *ctx;
	const struct api_registry *registry;

	/* Returns 0; -ENOENT: not cached; -EXDEV: only a part is, or not this object; see parts(). */
	int (*open)(void *ctx, const struct gw_want *want, struct gw_store **ret_store);
	/* Append which parts are cached: "with fieldSelector=spec.nodeName=n1, or in namespace a". */
	void (*parts)(void *ctx, const struct api_resource *resource, struct api_buf *ret);
};

#endif
