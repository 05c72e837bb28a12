/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: whence the router's answers come: the arena in the program, arrays in tests.
 *
 * A place is what one request is answered from: a store, for one resource. It is open for as long as the
 * answer needs it; several may be open for one resource.
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_PLACE_SOURCE_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_PLACE_SOURCE_H

#include "tools/serving/api_store.h"

struct gw_place {
	const struct api_store *store; /* good until the place is closed */
	bool metadata_only;	       /* its objects have no more than their metadata */
};

/* What a request wants of a resource; texts are borrowed for the call. */
struct gw_want {
	const struct api_resource *resource;
	const char *namespace_;	     /* NULL: all */
	const char *labels, *fields; /* selectors as they were asked for; NULL: none */
	const char *key;	     /* "namespace/name" or "name", of a GET; NULL: it is none */
	bool narrow;		     /* a part of it will do */
};

struct gw_source {
	void *ctx;
	const struct api_registry *registry;

	/* Returns 0; -ENOENT: that is not here; -EXDEV: not all of it, or not this object; see parts(). */
	int (*open)(void *ctx, const struct gw_want *want, struct gw_place **ret_place);
	/* Append what of a resource is here: "with fieldSelector=spec.nodeName=n1, or in namespace a". */
	void (*parts)(void *ctx, const struct api_resource *resource, struct api_buf *ret);
	void (*close)(struct gw_place *place);
	/*
	 * The place is for a watch: wake() is called, never from within a function of the store, when the
	 * store's events() may have something for it. Before a position is asked for; query and namespace_
	 * for the call.
	 */
	void (*watch)(struct gw_place *place, const char *namespace_, const struct api_query *query,
		      void (*wake)(void *ctx), void *ctx);
	/*
	 * A sentence when what the place has is old: it goes into a Warning header. NULL: it is not, or
	 * nobody knows.
	 */
	const char *(*warning)(struct gw_place *place);
};

#endif
