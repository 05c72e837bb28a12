/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves names to resources by discovery, checks them, and starts each Reflector.
 */
#include "writer/daemon/daemon_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/value.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/config_check.h"
#include "writer/resource/descriptor.h"

static void
on_retry(void *context)
{
	daemon_discover(context);
}

/*
 * Ask again for optional resources that the server does not have, which is no error. Log them if they are
 * others than before, unless the server has nothing new.
 */
static void
discover_absent_later(struct daemon *d, const char *absent, bool unchanged)
{
	uint64_t wait = backoff_next(&d->discovery_backoff, &d->clock.clock, 0);

	if (!d->absent_told || (strcmp(d->absent_told, absent) != 0 && !unchanged)) {
		log_info("%s; asking again until it is there", absent);
		free(d->absent_told);
		d->absent_told = strdup(absent);
	}
	clock_set(&d->clock.clock, &d->discovery_retry, wait, on_retry, d);
}

static void
discover_later(struct daemon *d, const char *why)
{
	uint64_t wait = backoff_next(&d->discovery_backoff, &d->clock.clock, 0);

	if (!d->discovery_error || strcmp(d->discovery_error, why) != 0)
		log_warning("%s; trying again in %.1f s", why, (double)wait / 1000);
	free(d->discovery_error);
	d->discovery_error = strdup(why);
	clock_set(&d->clock.clock, &d->discovery_retry, wait, on_retry, d);
}

static void
forget_error(struct daemon *d)
{
	free(d->discovery_error);
	d->discovery_error = NULL;
}

/* The configured indexes whose resource resolved to this one; free() the array. NULL: no memory. */
static const struct config_index **
indexes_of(const struct config *config, const struct kube_resource *const *resolved,
	   const struct kube_resource *resource, size_t *ret_count)
{
	const struct config_index **indexes = calloc(config->n_indexes + 1,
						     sizeof(const struct config_index *));

	*ret_count = 0;
	for (size_t i = 0; indexes && i < config->n_indexes; i++) {
		const struct kube_resource *of = resolved[config->n_resources + i];

		if (of && strcmp(of->group, resource->group) == 0 &&
		    strcmp(of->version, resource->version) == 0 &&
		    strcmp(of->resource, resource->resource) == 0)
			indexes[(*ret_count)++] = &config->indexes[i];
	}
	return indexes;
}

int
daemon_make_spec(struct daemon *d, const struct kube_resource *const *resolved, size_t i,
		 struct resource_spec **ret_spec, char **ret_error)
{
	struct resource_spec_world world = {
		.config = d->config,
		.transport = d->transport,
		.server = d->kube.server,
		.ca = d->ca.data,
		.ca_length = d->ca.len,
		.as = &d->kube.as,
	};
	size_t count;
	const struct config_index **indexes = indexes_of(d->config, resolved, resolved[i], &count);
	int r = -ENOMEM;

	if (indexes)
		r = resource_spec_new(&world, resolved[i], &d->config->resources[i], indexes, count, ret_spec,
				      ret_error);
	free(indexes);
	return r;
}

/* Add entry i to the store, not started. Returns as resource_spec_new() and cached_resource_new(). */
static int
add_resource(struct daemon *d, const struct kube_resource *const *resolved, size_t i,
	     struct cached_resource **ret, char **ret_error)
{
	struct cached_resource_world world = {
		.config = d->config,
		.schema = d->schema,
		.store = d->local.store,
		.applier = d->applier,
		.clock = &d->clock.clock,
		.cluster = cluster_guard_id(&d->guard),
	};
	struct resource_spec *spec;
	int r = daemon_make_spec(d, resolved, i, &spec, ret_error);

	return r < 0 ? r : cached_resource_new(&world, spec, &d->config->resources[i], ret);
}

/* True if the store has a resource that this entry asks for. */
static bool
is_served(void *context, const struct config_resource *entry)
{
	const struct daemon *d = context;

	for (unsigned id = 0; d->local.store && id < store_resource_count(d->local.store); id++)
		if (descriptor_serves(value_of_block(&d->local.arena.view,
						     store_resource(d->local.store, id)->descriptor),
				      entry))
			return true;
	return false;
}

void
daemon_tell_expected(struct daemon *d)
{
	bool more = false;

	for (size_t i = 0; i < d->cached_count && !d->discovered && !more; i++)
		more = !d->cached[i] && !is_served(d, &d->config->resources[i]);
	store_expect(d->local.store, more);
}

static void
fail(struct daemon *d, int error, const char *message)
{
	bool typed = error == -EINVAL || error == -ENOENT || error == -EPERM || error == -ENOTSUP;

	log_error("%s", message ? message : strerror(-error));
	daemon_stop(d, typed ? DAEMON_USAGE : DAEMON_RUNTIME);
}

static bool
is_wanted(const struct daemon *d, const char *group_name)
{
	for (size_t i = 0; i < d->wanted_count; i++)
		if (strcmp(d->wanted[i], group_name) == 0)
			return true;
	return false;
}

static bool
is_on_demand(const struct daemon *d, const char *group_name)
{
	for (size_t i = 0; i < d->cached_count; i++)
		if (d->cached[i] && d->cached[i]->entry->on_demand &&
		    strcmp(d->cached[i]->spec->group_name, group_name) == 0)
			return true;
	return false;
}

/* True if some names are not resolved: a resource that a reader knows from an earlier run may be one. */
static bool
may_come(const struct daemon *d)
{
	for (size_t i = 0; i < d->cached_count; i++)
		if (!d->cached[i])
			return true;
	return false;
}

/* Start the resource, unless it is on demand and no reader asked for it. */
static void
start_resource(const struct daemon *d, struct cached_resource *c)
{
	if (cached_resource_starts_by_itself(c) || is_wanted(d, c->spec->group_name))
		cached_resource_start(c);
}

void
daemon_want(void *daemon, const char *resource, size_t length)
{
	struct daemon *d = daemon;
	char *name = strndup(resource, length);

	if (!name || is_wanted(d, name) || d->wanted_count == CONFIG_MAX_RESOURCES ||
	    !(is_on_demand(d, name) || may_come(d))) {
		free(name);
		return;
	}
	d->wanted[d->wanted_count++] = name;
	for (size_t i = 0; i < d->cached_count; i++) {
		struct cached_resource *c = d->cached[i];

		if (!c || c->started || strcmp(c->spec->group_name, name) != 0)
			continue;
		log_info("%s: asked for by a reader", c->spec->name);
		cached_resource_start(c);
	}
}

/*
 * Give up adopted resources that no entry means, now that all names are resolved. A store drops no resource
 * while positions are in use, so restart: the next run drops them. 0, or negative errno of the commit.
 */
static int
give_up_unclaimed(struct daemon *d)
{
	int r;

	if (!store_disown_unclaimed(d->local.store))
		return 0;
	r = store_commit(d->local.store); /* else the next run would adopt it again */
	if (r < 0)
		return r;
	log_info("the adopted arena has a resource that no name of the configuration means: going on without "
		 "it");
	d->again = true;
	daemon_stop(d, DAEMON_OK);
	return 0;
}

/*
 * Add and start the resources whose names are resolved; others may be later. Returns 0, or negative errno,
 * maybe with message, if some were not added.
 */
static int
add_known(struct daemon *d, const struct kube_resource *const *resolved, bool all, char **ret_error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->cached_count; i++)
		if (!d->cached[i] && resolved[i])
			r = add_resource(d, resolved, i, &d->cached[i], ret_error);
	if (r == 0 && all && !d->discovered) {
		r = give_up_unclaimed(d);
		d->discovered = r == 0 && !d->stopping;
	}
	if (d->stopping)
		return r;
	daemon_tell_expected(d);
	applier_touch(d->applier);
	for (size_t i = 0; i < d->cached_count; i++)
		if (d->cached[i])
			start_resource(d, d->cached[i]);
	return r;
}

/* There is no room to add a resource (error): try again later, or when room comes free. */
static void
wait_for_room(struct daemon *d, int error)
{
	const char *directory = d->config->arena_dir ? d->config->arena_dir : DEFAULT_ARENA_DIR;
	_cleanup_(message_freep) char *why = NULL;
	struct store_stats stats;

	store_stats(d->local.store, &stats);
	if (error == -ENOSPC)
		message_format(
			&why,
			"the arena %s/%s is full (%" PRIu64 " of at most %" PRIu64
			" MiB), and has no room for another resource: raise arena.maxBytes, the size of its "
			"tmpfs, or the memory limit",
			directory, d->local.arena.name, stats.arena_bytes >> 20,
			arena_budget(&d->local.arena) >> 20);
	d->foreseen = true; /* the next try needs no discovery */
	discover_later(d, why ? why : "no memory for another resource");
}

static int
add_all_known(struct daemon *d, bool all, char **ret_error)
{
	const struct kube_resource **resolved = known_names_of(&d->known, d->config);
	int r = resolved ? add_known(d, resolved, all, ret_error) : -ENOMEM;

	free(resolved);
	if (r != -ENOSPC && r != -ENOMEM)
		return r;
	wait_for_room(d, r);
	return -ENOSPC;
}

static int
check_known(const struct daemon *d, char **ret_error)
{
	const struct kube_resource **resolved = known_names_of(&d->known, d->config);
	_cleanup_(message_freep) char *wrong = NULL;
	int r = resolved ? config_check_resolved(d->config, resolved, &wrong) : -ENOMEM;

	free(resolved);
	return r < 0 ? message_set(ret_error, r, "%s", wrong ? wrong : strerror(-r)) : 0;
}

static void
use_discovery(struct daemon *d, const struct discovery *discovery)
{
	_cleanup_(message_freep) char *error = NULL;
	_cleanup_(message_freep) char *absent = NULL;
	int unknown, r;

	unknown = r = known_names_learn(&d->known, d->config, discovery, is_served, d, &absent, &error);
	if (r >= 0)
		r = check_known(d, &error);
	d->names_known = r == 0 && unknown == 0;
	d->foreseen = d->names_known && !absent && !d->local.store;
	if (r == 0 && d->local.store)
		r = add_all_known(d, d->names_known, &error);
	if (r == -ENOSPC)
		return;
	if (r < 0) {
		fail(d, r, error);
		return;
	}
	if (discovery_used_builtin(discovery))
		log_warning("the server forbids discovery; well-known resources are taken as every "
			    "Kubernetes has them");
	if (unknown) {
		discover_later(d, error ? error : "some resources are not known yet");
	} else {
		forget_error(d);
		if (absent)
			discover_absent_later(d, absent, discovery_is_unchanged(discovery));
	}
}

static void
on_discovered(void *ctx, struct discovery *discovery, int result, const char *message)
{
	struct daemon *d = ctx;

	if (result < 0)
		discover_later(d, message);
	else
		use_discovery(d, discovery);
	discovery_free(discovery);
	d->discovery = NULL;
}

static void
on_cluster_known(void *context, int result, const char *message)
{
	if (result < 0)
		discover_later(context, message);
	else
		daemon_discover(context);
}

static void
on_cluster_changed(void *context)
{
	struct daemon *d = context;

	for (size_t i = 0; i < d->cached_count; i++)
		if (d->cached[i])
			cached_resource_distrust(d->cached[i], cluster_guard_id(&d->guard));
}

void
daemon_publish_release(struct daemon *d)
{
	if (d->guard.released && d->local.arena.header) /* relaxed: no other data depends on it */
		atomic_store_explicit(&d->local.arena.header->server_release, d->guard.release,
				      memory_order_relaxed);
}

/* The protobuf schema depends on the release; decoders forget what they learnt under another one. */
static void
on_release(void *context, unsigned release, const char *why)
{
	struct daemon *d = context;
	char span[PROTO_SCHEMA_SPAN];

	proto_schema_fit(d->schema, release);
	daemon_publish_release(d);
	if (!release)
		log_warning(
			"the API server's release is not known, so objects are requested in JSON: %s; bind "
			"ClusterRole system:public-info-viewer to informerd's user",
			why);
	else if (!proto_schema_release(d->schema))
		log_warning(
			"the server is of Kubernetes %u.%u, and the protobuf definitions are of %s, so all "
			"comes in JSON",
			release / 1000, release % 1000, proto_schema_span(d->schema, span));
	for (size_t i = 0; i < d->cached_count; i++)
		if (d->cached[i])
			cached_resource_meet_release(d->cached[i]);
}

void
daemon_guard_cluster(struct daemon *d)
{
	static const struct cluster_guard_events events = {on_cluster_known, on_cluster_changed, on_release};

	cluster_guard_init(&d->guard, d->transport, &d->clock.clock, &events, d);
}

/* Move the names that are not resolved to the front. Returns their number. */
static size_t
keep_unknown(const struct daemon *d, const char **names)
{
	size_t count = d->config->n_resources + d->config->n_indexes, kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!known_names_find(&d->known, names[i]))
			names[kept++] = names[i];
	return kept;
}

void
daemon_discover(struct daemon *d)
{
	const char **names;
	_cleanup_(message_freep) char *error = NULL;
	int r = -ENOMEM;

	if (d->discovery)
		return;
	clock_clear(&d->clock.clock, &d->discovery_retry);
	if (d->foreseen) {
		d->foreseen = false;
		r = add_all_known(d, d->names_known, &error);
		if (r < 0 && r != -ENOSPC)
			fail(d, r, error);
		if (r == 0)
			forget_error(d);
		if (r < 0 || !may_come(d))
			return;
	}
	if (!cluster_guard_is_known(&d->guard)) {
		if (cluster_guard_ask(&d->guard) < 0)
			fail(d, -ENOMEM, NULL);
		return;
	}
	names = config_names(d->config);
	if (names)
		r = discovery_start(d->transport, names, keep_unknown(d, names), &d->absent_memory,
				    on_discovered, d, &d->discovery, &error);
	free(names);
	if (r < 0)
		fail(d, r, error);
}
