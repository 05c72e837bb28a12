/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for the server's release and the cluster's id at the start and after new connections. If the id
 * differs, the daemon lists everything anew. One request runs at a time; if a connection is made meanwhile,
 * another follows.
 */
#include "writer/resource/cluster_guard.h"

#include <stdio.h>
#include <string.h>

#include "tools/schema/proto_release.h"
#include "tools/schema/proto_schema.h"
#include "writer/base/log.h"

/* Any authenticated user may ask for it (ClusterRole system:public-info-viewer). */
#define VERSION "/version"

static void recheck(struct cluster_guard *g);

static void
on_timer(void *context)
{
	struct cluster_guard *g = context;

	g->recheck = false;
	cluster_guard_ask(g); /* without memory: asks with the next connection */
}

static void
note_id(struct cluster_guard *g, const char *id, const char *why)
{
	bool first = !g->known, differs = *id && strcmp(id, g->id) != 0;

	g->known = true;
	if (first && !*id)
		log_info("one cluster cannot be told from another at this URL: %s; to let informerd see it, "
			 "grant it get on the namespace "
			 "kube-system",
			 why);
	if (!first && differs)
		log_warning("another cluster answers: the UID of its namespace kube-system is %s, it was %s; "
			    "everything is listed anew",
			    id, *g->id ? g->id : "hidden until now");
	if (differs)
		snprintf(g->id, sizeof(g->id), "%s", id);
	if (first)
		g->events->on_known(g->context, 0, "");
	else if (differs)
		g->events->on_changed(g->context);
}

/* There was no answer. */
static void
ask_later(struct cluster_guard *g, int result, const char *message)
{
	g->recheck = false;
	if (g->known)
		recheck(g);
	else
		g->events->on_known(g->context, result, message);
}

/*
 * The release of {"major": "1", "minor": "36+"}. A server that emulates an older release reports its real one
 * here, which decides the form of objects.
 */
static unsigned
release_of(const cJSON *version)
{
	const char *major = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(version, "major")),
		   *minor = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(version, "minor"));

	return major && minor ? proto_release(major, minor) : 0;
}

static void
on_namespace(void *context, int result, const cJSON *document, const char *message)
{
	struct cluster_guard *g = context;
	char id[CLUSTER_ID_MAX + 1] = "";
	bool again = g->recheck;

	g->question = NULL;
	if (result < 0) {
		ask_later(g, result, message);
		return;
	}
	g->recheck = false;
	if (result == 0 && !cluster_id_of(document, id))
		message = "what it says of " CLUSTER_ID_WHAT " holds no UID";
	note_id(g, id, message);
	if (again)
		recheck(g);
}

/* Send one of the two requests. */
static int
ask(struct cluster_guard *g, const char *path, const char *what, question_fn *on_answer)
{
	struct transport_order order = {.path_and_query = path,
					.flags = g->known ? TRANSPORT_OWN_CONNECTION : 0};

	return question_ask(g->transport, &order, what, QUESTION_BYTES, on_answer, g, &g->question);
}

static void
on_version(void *context, int result, const cJSON *document, const char *message)
{
	struct cluster_guard *g = context;
	unsigned release = result == 0 ? release_of(document) : 0;

	g->question = NULL;
	if (result >= 0 && (!g->released || release != g->release)) {
		g->released = true;
		g->release = release;
		g->events->on_release(g->context, release,
				      result == 0 ? "what it says of " VERSION " is no release" : message);
	}
	if (result >= 0)
		result = ask(g, CLUSTER_ID_PATH, CLUSTER_ID_WHAT, on_namespace);
	if (result < 0)
		ask_later(g, result, message);
}

int
cluster_guard_ask(struct cluster_guard *guard)
{
	if (guard->question)
		return 0;
	guard->asked = true;
	guard->asked_ms = guard->clock->now_ms(guard->clock);
	return ask(guard, VERSION, VERSION, on_version);
}

/* Ask again, after the interval: another server may answer now. */
static void
recheck(struct cluster_guard *g)
{
	uint64_t now = g->clock->now_ms(g->clock),
		 due = g->asked ? g->asked_ms + CLUSTER_GUARD_INTERVAL_MS : now;

	if (g->question) {
		g->recheck = true;
		return;
	}
	if (!g->timer.armed)
		clock_set(g->clock, &g->timer, due > now ? due - now : 0, on_timer, g);
}

static void
on_connection(void *context)
{
	struct cluster_guard *g = context;

	if (g->known)
		recheck(g);
}

void
cluster_guard_init(struct cluster_guard *guard, struct transport *transport, struct clock *clock,
		   const struct cluster_guard_events *events, void *context)
{
	*guard = (struct cluster_guard){
		.transport = transport, .clock = clock, .events = events, .context = context};
	transport_on_connection(transport, on_connection, guard);
}

void
cluster_guard_done(struct cluster_guard *guard)
{
	if (!guard->transport)
		return;
	clock_clear(guard->clock, &guard->timer);
	question_cancel(guard->question);
	transport_on_connection(guard->transport, NULL, NULL);
	memset(guard, 0, sizeof(*guard));
}

bool
cluster_guard_is_known(const struct cluster_guard *guard)
{
	return guard->known;
}

const char *
cluster_guard_id(const struct cluster_guard *guard)
{
	return guard->id;
}
