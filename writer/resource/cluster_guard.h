/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cluster guard: is the cluster that answers still the one that the cache is of? A resourceVersion counts
 * within one cluster. Behind the same URL and CA there may be another one some day (rebuilt, moved, another
 * backend of a load balancer), whose versions overlap with those that are known: a watch from there would mix
 * two clusters into one cache, and nobody would be told.
 *
 *	at start		asked before anything is adopted, again until there is an answer
 *	a new connection	asked again, for another server is always another connection;
 *				CLUSTER_GUARD_INTERVAL_MS apart at least, and over more: an older one that
 *				still stands (HTTP/1.1 keeps them) leads to the server from before
 *
 * Before the id the server's release is asked for, which may have become another one at the same places: what
 * protobuf means in JSON depends on it (tools/schema).
 *
 * Where the id is hidden (kube/cluster_id.h) URL and CA must do; so must they where a proxy ends our
 * connections, and makes others to somewhere else without our notice.
 *
 * An answer that differs, also one where there was none before, is told as a change: then everything is
 * listed anew.
 *
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_RESOURCE_CLUSTER_GUARD_H
#define WRITER_RESOURCE_CLUSTER_GUARD_H

#include <stdbool.h>

#include "writer/base/clock.h"
#include "writer/kube/cluster_id.h"
#include "writer/kube/question.h"

#define CLUSTER_GUARD_INTERVAL_MS 10000u

struct cluster_guard_events {
	/*
	 * The first answer is there (result 0; the id may be hidden), or not this time (negative, with
	 * message): ask again later.
	 */
	void (*on_known)(void *context, int result, const char *message);
	/* Another cluster answers from now on; cluster_guard_id() has its id. */
	void (*on_changed)(void *context);
	/*
	 * The server is of this release (proto_release()), or of another one from now on. 0: it does not
	 * tell; why says more. Before the first on_known(), too.
	 */
	void (*on_release)(void *context, unsigned release, const char *why);
};

struct cluster_guard {
	struct transport *transport;	/* borrowed, as the clock */
	struct clock *clock;
	const struct cluster_guard_events *events;
	void *context;
	struct question *question; /* the one under way, or NULL */
	struct clock_timer timer;
	uint64_t asked_ms;
	bool known, asked, doubted, released;
	char id[CLUSTER_ID_MAX + 1];	/* "": hidden */
	unsigned release;               /* the last that was told */
};

/* Listens to the transport's connections from now on. */
void cluster_guard_init(struct cluster_guard *guard, struct transport *transport, struct clock *clock,
			const struct cluster_guard_events *events, void *context);
/* Before the transport goes. A zeroed one is fine. */
void cluster_guard_done(struct cluster_guard *guard);

/* Ask for the first time, or again after on_known() said no. Returns 0, -ENOMEM. */
int cluster_guard_ask(struct cluster_guard *guard);
bool cluster_guard_is_known(const struct cluster_guard *guard);

/* "" while it is hidden. Borrowed. */
const char *cluster_guard_id(const struct cluster_guard *guard);

#endif
