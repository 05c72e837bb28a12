/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One resource that is cached: its spec, with everything between the API server and the store that is its
 * own: DeltaFIFO, Reflector.
 *
 * Where content of an earlier life stays though its configuration is another one (store_add_resource()), the
 * resource is LISTING until a list is in, and of what that brings only the differences are published.
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
	struct resource_spec *spec;	/* what it is */
	const struct config_resource *entry;
	unsigned id;			/* in the store */
	struct store *store;
	struct applier *applier;
	struct clock *clock;
	struct wire wire;
	struct delta_fifo *fifo;
	struct reflector *reflector;
	struct reflector_error trouble;	/* what readers are told of its failures */
	struct check_schedule checks;	/* whether it has what the server has */
	bool was_synced;	/* once, at least: daemon_turn.c looks */
	bool started;		/* its Reflector; one that is on demand waits until somebody asks for it */
	/* the server found it, or its history, no more: it may be another one now (redefinition.h) */
	bool doubted;
	bool adopted;		/* its content was kept, at the RV that the store says */
	bool added;		/* to the store */
};

/* What all of them share; borrowed. */
struct cached_resource_world {
	const struct config *config;
	const struct proto_schema *schema; /* NULL: all comes as JSON */
	struct store *store;
	struct applier *applier;
	struct clock *clock;
	const char *cluster;		/* its id (cluster_guard.h), "": hidden */
};

/*
 * Add a resource to the store and make everything that feeds it; nothing is requested yet. entry is borrowed.
 *
 * spec      taken, also on failure
 * Returns   0 with *ret, or negative errno
 */
int cached_resource_new(const struct cached_resource_world *world, struct resource_spec *spec,
			const struct config_resource *entry, struct cached_resource **ret);
void cached_resource_free(struct cached_resource *c);

/* LIST, or WATCH from the adopted RV. Once is enough. */
void cached_resource_start(struct cached_resource *c);

/*
 * Another cluster answers: what is there stays until it is listed anew, at no RV that is known, and the list
 * is published as a difference.
 * cluster  its id
 */
void cached_resource_distrust(struct cached_resource *c, const char *cluster);

/*
 * The server is of another release: what its bytes meant until now is not remembered, and protobuf is asked
 * for again where it was given up.
 */
void cached_resource_meet_release(struct cached_resource *c);

/* Free the values that the decoder keeps only for speed (decoder_schema_give_back()). */
void cached_resource_give_back(struct cached_resource *c);

/* The server was heard of, over whatever connection, so long ago: that counts for a watch that is open. */
void cached_resource_hear(struct cached_resource *c, uint64_t ago_ms);

/* Once a second: readers are told, with the next commit, what the Reflector met or that it is over. */
void cached_resource_tell(struct cached_resource *c);

/* It is for whoever asks, and nobody did yet: nobody misses it. Or it is about to be started. */
bool cached_resource_is_dormant(const struct cached_resource *c);
/*
 * Whether it is to be started before anybody asks for it: if it is not on demand; or if it is, and there is
 * content of an earlier life, which would grow old.
 */
bool cached_resource_starts_by_itself(const struct cached_resource *c);

/* Its published content is whole. */
bool cached_resource_is_synced(const struct cached_resource *c);

#endif
