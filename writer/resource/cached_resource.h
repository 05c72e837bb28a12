/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cached resource is one resource with its spec, its DeltaFIFO and its Reflector.
 *
 * If adopted content stays though its configuration has changed (store_add_resource()), the resource is
 * LISTING until a list has come. Only the list's differences are published.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_RESOURCE_CACHED_RESOURCE_H
#define WRITER_RESOURCE_CACHED_RESOURCE_H

#include "writer/config/config.h"
#include "writer/fifo/apply.h"
#include "writer/reflect/reflector.h"
#include "writer/reflect/wire.h"
#include "writer/resource/resource_spec.h"
#include "writer/store/store.h"
#include "writer/resource/check_schedule.h"
#include "writer/resource/reflector_error.h"

struct cached_resource {
	struct resource_spec *spec; /* owned */
	const struct config_resource *entry;
	unsigned id; /* its id in the store */
	struct store *store;
	struct applier *applier;
	struct clock *clock;
	struct wire wire;
	struct delta_fifo *fifo;
	struct reflector *reflector;
	struct reflector_error trouble; /* its failures, as readers are told of them */
	struct check_schedule checks;   /* its comparisons with the server */
	bool was_synced;                /* at least once; kept by daemon_turn.c */
	bool started; /* its Reflector runs; if on demand, from a reader's first request on */
	/* the server answered 404 or 410: its definition may have changed (redefinition.h) */
	bool recheck;
	bool adopted;           /* its content was kept, at the store's RV */
	bool added;		/* to the store */
};

/* What all cached resources share; borrowed. */
struct cached_resource_world {
	const struct config *config;
	const struct proto_schema *schema; /* NULL: only JSON is requested */
	struct store *store;
	struct applier *applier;
	struct clock *clock;
	const char *cluster;		/* its id (cluster_guard.h), "": hidden */
};

/*
 * Add a resource to the store and make its FIFO and Reflector; nothing is requested yet. entry is borrowed.
 *
 * spec      taken, also on failure
 * Returns   0 with *ret, or negative errno
 */
int cached_resource_new(const struct cached_resource_world *world, struct resource_spec *spec,
			const struct config_resource *entry, struct cached_resource **ret);
void cached_resource_free(struct cached_resource *c);

/* Start its Reflector: LIST, or WATCH from the adopted RV. A second call does nothing. */
void cached_resource_start(struct cached_resource *c);

/*
 * Another cluster answers: keep the content, without an RV, until it is listed again. Only the list's
 * differences are published.
 * cluster  the new cluster's id
 */
void cached_resource_distrust(struct cached_resource *c, const char *cluster);

/*
 * The server has another release: forget what its protobuf bytes meant, and request protobuf again if it was
 * given up.
 */
void cached_resource_meet_release(struct cached_resource *c);

/* Free the values that the decoder keeps only for speed (decoder_schema_give_back()). */
void cached_resource_give_back(struct cached_resource *c);

/* The server was heard on some connection, so long ago: an open watch counts this as contact. */
void cached_resource_hear(struct cached_resource *c, uint64_t ago_ms);

/* Call once a second: the next commit tells readers of a new failure, or of its end. */
void cached_resource_tell(struct cached_resource *c);

/*
 * True if it is not started: it is on demand and no reader asked for it yet, or its start is still to come.
 */
bool cached_resource_is_dormant(const struct cached_resource *c);
/*
 * True if it starts before any reader asks for it: it is not on demand, or it has adopted content, which
 * would become old.
 */
bool cached_resource_starts_by_itself(const struct cached_resource *c);

/* True if its state is SYNCED: the content is complete. */
bool cached_resource_is_synced(const struct cached_resource *c);

#endif
