/*
 * One resource that is cached: a configuration entry and what discovery made of it, with everything between the API server
 * and the store that is its own: schema, DeltaFIFO, ListerWatcher, Reflector.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_CACHED_RESOURCE_H
#define WRITER_CACHED_RESOURCE_H

#include "writer/config.h"
#include "writer/fingerprint.h"
#include "writer/kube/transport.h"
#include "writer/lister_watcher.h"
#include "writer/pipeline.h"
#include "writer/reflector.h"
#include "writer/store.h"
#include "writer/store_known.h"
#include "writer/trouble.h"

struct cached_resource {
	struct kube_resource kube;
	const struct config_resource *entry;
	char *name;		/* "pods", "deployments.apps in team-a": for messages and stat */
	char *group_name;	/* "pods", "deployments.apps" */
	unsigned id;		/* in the store */
	struct store *store;
	struct pipeline *pipeline;
	struct store_known known;
	struct decoder_schema *schema;
	struct delta_fifo *fifo;
	struct kube_lister_watcher source;
	struct reflector *reflector;
	struct trouble trouble;	/* what readers are told of its failures */
	bool was_synced;	/* once, at least: daemon.c looks */
	bool started;		/* its Reflector; one that is on demand waits until somebody asks for it */
	bool doubted;		/* the server found it, or its history, no more: it may be another one now (redefinition.h) */
	bool adopted;		/* its content was kept, at the RV that the store says */
};

/* What all of them share; borrowed. */
struct cached_resource_world {
	const struct config *config;
	struct store *store;
	struct pipeline *pipeline;
	struct clock *clock;
	struct transport *transport;
	const char *server;		/* URL */
	const void *ca;
	size_t ca_length;
	const struct kube_impersonation *as;
	const char *cluster;		/* its id (cluster_guard.h), "": hidden */
	struct reflector_timing timing;
};

/*
 * Add a resource to the store and make everything that feeds it; nothing is requested yet. kube is copied, entry borrowed.
 *
 * indexes    what config declares for it
 * Returns    0 with *ret; -EINVAL with message (an index or drop that is impossible); other negative errno
 */
int cached_resource_new(const struct cached_resource_world *world, const struct kube_resource *kube,
			const struct config_resource *entry, const struct config_index *const *indexes, size_t index_count,
			struct cached_resource **ret, char **ret_error);
void cached_resource_free(struct cached_resource *c);

/*
 * The configuration was read again, and says this of the resource now; borrowed. Its selection, its drops and indexes are what they were.
 * What is chosen about lists counts from the next one.
 */
void cached_resource_set_entry(struct cached_resource *c, const struct config *config, const struct config_resource *entry);

/* LIST, or WATCH from the adopted RV. Once is enough. */
void cached_resource_start(struct cached_resource *c);

/*
 * Another cluster answers: what is there stays until it is listed anew, at no RV that is known, and the list is published as a difference.
 * cluster  its id
 */
void cached_resource_distrust(struct cached_resource *c, const char *cluster);

/* Its position in the store has become another one (store_drop_unclaimed()). */
void cached_resource_renumber(struct cached_resource *c, unsigned id);

/* Once a second: readers are told, with the next commit, what the Reflector met or that it is over. */
void cached_resource_tell(struct cached_resource *c);

/* It is for whoever asks, and nobody did yet: nobody misses it. Or it is about to be started. */
bool cached_resource_is_dormant(const struct cached_resource *c);
/*
 * Whether it is to be started before anybody asks for it: if it is not on demand; or if it is, and there is content of an earlier life,
 * which would grow old.
 */
bool cached_resource_starts_by_itself(const struct cached_resource *c);

/* Its published content is whole. */
bool cached_resource_is_synced(const struct cached_resource *c);

#endif
