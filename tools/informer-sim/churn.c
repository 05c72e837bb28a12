/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Churn: a thread wakes every few milliseconds and makes the changes that are due. Each is an ordinary store
 * change, retried on another object if the first has changed meanwhile.
 *
 * Of 1,000 changes about 850 are status updates of pods, 40 create pods, and 40 delete pods (two changes
 * each: the deletionTimestamp, then the end). The rest are heartbeats of nodes and endpoints.
 */
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/new_object.h"
#include "tools/informer-sim/churn.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informer-sim/sim_clock.h"
#include "tools/informer-sim/mutate.h"

#define TICK_MS 5
#define DYING_MAX 64

struct sim_churn {
	struct sim_store *store;
	const struct api_resource *pods, *nodes, *slices;
	struct sim_hosts hosts;
	struct sim_rng rng;
	char *dying[DYING_MAX]; /* keys of pods that carry a deletionTimestamp, oldest first */
	unsigned dying_count;
	size_t population; /* number of pods at the start, which creates and deletes keep */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	pthread_t thread;
	double rate;
	uint64_t count; /* 0: endless */
	uint64_t done_in_run;
	uint64_t done;
	bool quit;
};

/* ---- single changes: each returns true if made ---------------------------- */

static struct api_object *
pick(struct sim_churn *churn, const struct api_resource *resource)
{
	return sim_store_pick(churn->store, resource, (size_t)sim_rng_next(&churn->rng),
			      (size_t)(sim_rng_next(&churn->rng) >> 8));
}

/* Replace old by doc. */
static bool
commit(struct sim_churn *churn, const struct api_resource *resource, struct api_object *old,
       struct api_doc *doc)
{
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	struct sim_object_error error;

	return sim_object_new(resource, doc, &object, &error) == 0 &&
	       sim_store_update(churn->store, resource, old, object) == 0;
}

static bool
update(struct sim_churn *churn, const struct api_resource *resource,
       bool (*mutate)(struct api_doc *doc, struct sim_mutation *mutation))
{
	_cleanup_(api_object_unrefp) struct api_object *old = pick(churn, resource);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct sim_mutation mutation = {
		.rng = &churn->rng, .hosts = &churn->hosts, .now = (int64_t)time(NULL)};

	if (!old)
		return false;
	sim_object_edit(resource, old, &doc);
	return mutate(&doc, &mutation) && commit(churn, resource, old, &doc);
}

static bool
create_pod(struct sim_churn *churn)
{
	_cleanup_(api_object_unrefp) struct api_object *like = pick(churn, churn->pods);
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct sim_mutation mutation = {
		.rng = &churn->rng, .hosts = &churn->hosts, .now = (int64_t)time(NULL)};
	struct sim_object_error error;

	if (!like)
		return false;
	sim_object_edit(churn->pods, like, &doc);
	sim_replica_make(&doc, &churn->hosts, &churn->rng);
	sim_mutate_fresh(&doc, &mutation);
	return sim_object_new(churn->pods, &doc, &object, &error) == 0 &&
	       sim_store_create(churn->store, churn->pods, object) == 0;
}

static bool
mark_pod(struct sim_churn *churn)
{
	_cleanup_(api_object_unrefp) struct api_object *old = pick(churn, churn->pods);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct sim_mutation mutation = {
		.rng = &churn->rng, .hosts = &churn->hosts, .now = (int64_t)time(NULL)};

	if (!old)
		return false;
	sim_object_edit(churn->pods, old, &doc);
	if (!sim_mutate_terminating(&doc, &mutation) || !commit(churn, churn->pods, old, &doc))
		return false;
	churn->dying[churn->dying_count++] = api_strndup(old->key, strlen(old->key));
	return true;
}

static bool
bury_pod(struct sim_churn *churn)
{
	_cleanup_(api_freep) char *key = churn->dying[0];
	_cleanup_(api_object_unrefp) struct api_object *old = sim_store_get(churn->store, churn->pods, key);
	uint64_t rv;

	churn->dying_count--;
	memmove(&churn->dying[0], &churn->dying[1], churn->dying_count * sizeof(char *));
	return old && sim_store_delete(churn->store, churn->pods, old, &rv) == 0;
}

static bool
change(struct sim_churn *churn)
{
	uint32_t dice = sim_rng_below(&churn->rng, 1000);
	size_t pods = sim_store_count(churn->store, churn->pods);
	/* more creates below the first population, more deletes above it; the last pod stays */
	uint32_t create = pods < churn->population ? 55 : 25;

	if (dice < create)
		return create_pod(churn);
	if (dice < 120) {
		if (churn->dying_count == DYING_MAX || (churn->dying_count && sim_rng_below(&churn->rng, 2)))
			return bury_pod(churn);
		return pods > 1 + churn->dying_count && mark_pod(churn);
	}
	if (dice < 135)
		return update(churn, churn->nodes, sim_mutate_node);
	if (dice < 150)
		return update(churn, churn->slices, sim_mutate_slice);
	return update(churn, churn->pods, sim_mutate_pod);
}

/* ---- the thread ----------------------------------------------------------- */

/* Sleep for a tick, or until the settings change. Lock held. */
static void
nap(struct sim_churn *churn)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += TICK_MS * 1000000L;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	pthread_cond_timedwait(&churn->changed, &churn->lock, &at);
}

static bool
running(const struct sim_churn *churn)
{
	return churn->rate > 0 && (churn->count == 0 || churn->done_in_run < churn->count);
}

static void *
run(void *cls)
{
	struct sim_churn *churn = cls;
	uint64_t last = sim_now_us();
	double owed = 0;

	pthread_mutex_lock(&churn->lock);
	while (!churn->quit) {
		unsigned tries;
		uint64_t now;

		if (!running(churn)) {
			pthread_cond_wait(&churn->changed, &churn->lock);
			last = sim_now_us();
			owed = 0;
			continue;
		}
		now = sim_now_us();
		owed += (double)(now - last) * 1e-6 * churn->rate;
		last = now;
		if (owed > churn->rate) /* the machine is too slow: owe at most one second's changes */
			owed = churn->rate;
		/* some draws change nothing (no nodes, a finished pod), so tries are limited */
		tries = 100 + 4 * (unsigned)owed;
		while (owed >= 1 && running(churn) && !churn->quit && tries--) {
			bool made;

			pthread_mutex_unlock(&churn->lock);
			made = change(churn);
			pthread_mutex_lock(&churn->lock);
			if (!made)
				continue;
			owed -= 1;
			churn->done++;
			churn->done_in_run++;
		}
		if (running(churn) && !churn->quit)
			nap(churn);
	}
	pthread_mutex_unlock(&churn->lock);
	return NULL;
}

struct sim_churn *
sim_churn_new(const struct api_registry *registry, struct sim_store *store, uint64_t seed)
{
	struct sim_churn *churn = api_alloc(sizeof(*churn));

	*churn = (struct sim_churn){.store = store, .rng = {seed ^ 0xc0ffee}};
	churn->pods = api_registry_find(registry, "", "v1", "pods");
	churn->nodes = api_registry_find(registry, "", "v1", "nodes");
	churn->slices = api_registry_find(registry, "discovery.k8s.io", "v1", "endpointslices");
	churn->population = sim_store_count(store, churn->pods);
	sim_mutate_hosts(store, churn->nodes, &churn->hosts, &churn->rng);
	pthread_mutex_init(&churn->lock, NULL);
	pthread_cond_init(&churn->changed, NULL);
	pthread_create(&churn->thread, NULL, run, churn);
	return churn;
}

void
sim_churn_free(struct sim_churn *churn)
{
	if (!churn)
		return;
	pthread_mutex_lock(&churn->lock);
	churn->quit = true;
	pthread_cond_signal(&churn->changed);
	pthread_mutex_unlock(&churn->lock);
	pthread_join(churn->thread, NULL);
	while (churn->dying_count)
		free(churn->dying[--churn->dying_count]);
	sim_hosts_done(&churn->hosts);
	pthread_cond_destroy(&churn->changed);
	pthread_mutex_destroy(&churn->lock);
	free(churn);
}

void
sim_churn_set(struct sim_churn *churn, double rate, uint64_t count)
{
	pthread_mutex_lock(&churn->lock);
	churn->rate = rate;
	churn->count = count;
	churn->done_in_run = 0;
	pthread_cond_signal(&churn->changed);
	pthread_mutex_unlock(&churn->lock);
}

struct sim_churn_stats
sim_churn_stats(struct sim_churn *churn)
{
	struct sim_churn_stats stats;

	pthread_mutex_lock(&churn->lock);
	stats.rate = churn->rate;
	stats.done = churn->done;
	stats.running = running(churn);
	stats.remaining = stats.running && churn->count ? churn->count - churn->done_in_run : 0;
	pthread_mutex_unlock(&churn->lock);
	return stats;
}
