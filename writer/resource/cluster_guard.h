/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster guard checks that the answering cluster is still the cached one. resourceVersions are valid
 * within one cluster. Behind the same URL and CA another cluster may appear (rebuilt, moved, another backend
 * of a load balancer) whose versions overlap with the known ones. A watch would then mix two clusters in one
 * cache, unnoticed.
 *
 *	at start		asks before anything is adopted, and again until there is an answer
 *	a new connection	asks again, since another server means another connection; at intervals of
 *				CLUSTER_GUARD_INTERVAL_MS or more, over a connection of its own: an older
 *				one (HTTP/1.1 keeps them) may lead to the old server
 *
 * Before the id it asks for the server's release, which may change at the same URL. The meaning of protobuf
 * in JSON depends on the release (tools/schema).
 *
 * If the id is hidden (kube/cluster_id.h), only URL and CA identify the cluster. The same holds where a
 * proxy ends our connections and connects to another server without our notice.
 *
 * A different id is reported as a change, also if the id was hidden before; then everything is listed again.
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
	 * The first answer came (result 0; the id may be hidden), or none could be had this time (negative,
	 * with message): ask again later.
	 */
	void (*on_known)(void *context, int result, const char *message);
	/* Another cluster answers from now on; cluster_guard_id() returns its id. */
	void (*on_changed)(void *context);
	/*
	 * The server has this release (proto_release()) now. 0: it does not tell its release; why says more.
	 * Also called before the first on_known().
	 */
	void (*on_release)(void *context, unsigned release, const char *why);
};

struct cluster_guard {
	struct transport *transport;	/* borrowed, as the clock */
	struct clock *clock;
	const struct cluster_guard_events *events;
	void *context;
	struct question *question; /* the one that runs, or NULL */
	struct clock_timer timer;
	uint64_t asked_ms;
	bool known, asked, recheck, released;
	char id[CLUSTER_ID_MAX + 1];	/* "": hidden */
	unsigned release;               /* the last one reported */
};

/* Listens to the transport's connections from now on. */
void cluster_guard_init(struct cluster_guard *guard, struct transport *transport, struct clock *clock,
			const struct cluster_guard_events *events, void *context);
/* Call before the transport is freed. A zeroed guard is fine. */
void cluster_guard_done(struct cluster_guard *guard);

/* Ask for the first time, or again after on_known() reported a failure. Returns 0, -ENOMEM. */
int cluster_guard_ask(struct cluster_guard *guard);
bool cluster_guard_is_known(const struct cluster_guard *guard);

/* "" while it is hidden. Borrowed. */
const char *cluster_guard_id(const struct cluster_guard *guard);

#endif
