/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits until the arena is as fresh as upstream; see freshness_proof.h. */
#include "tools/informer-gateway/freshness_proof.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "tools/informer-gateway/quiet_probe.h"
#include "tools/serving/buf.h"

enum wait_state {
	WAIT_TO_ASK, /* for the next question */
	WAIT_ANSWER, /* its question is under way */
	WAIT_ARENA,  /* upstream's RV is known */
	WAIT_OVER,   /* to be told */
};

struct gw_fresh_wait {
	TAILQ_ENTRY(gw_fresh_wait) link;
	struct topic *topic;
	enum wait_state state;
	uint64_t deadline_ms, rv;
	int result;
	gw_fresh_fn *done;
	void *ctx;
};

/* What is asked of one collection; there while somebody waits. */
struct topic {
	struct topic *next;
	struct gw_freshness *freshness;
	const struct api_resource *resource;
	char *path;
	TAILQ_HEAD(fresh_waits, gw_fresh_wait) waits; /* in the order in which they came, and are late */
	struct gw_ask *ask;
	struct gw_quiet_probe *probe;
	uint64_t probe_ms; /* when one may begin */
	bool no_probe;     /* one could not say anything */
	bool probe_said;   /* this one did */
	bool telling;
	bool to_compare; /* the arena has got on */
	struct clock_timer timer;
	struct api_buf why;
};

struct gw_freshness {
	struct gw_upstream *upstream;
	struct clock *clock;
	uint64_t (*rv)(void *ctx, const struct api_resource *resource);
	void *ctx;
	struct topic *topics;
	struct gw_freshness_counters counters;
};

static void act(void *ctx);

/* ---- topics --------------------------------------------------------------------------------- */

static char *
collection_path(const struct api_resource *resource, const char *namespace_)
{
	struct api_buf path = {0};

	if (resource->group[0])
		api_buf_printf(&path, "/apis/%s/%s/", resource->group, resource->version);
	else
		api_buf_printf(&path, "/api/%s/", resource->version);
	if (namespace_ && resource->namespaced)
		api_buf_printf(&path, "namespaces/%s/", namespace_);
	api_buf_puts(&path, resource->plural);
	return api_buf_take(&path);
}

static struct topic *
topic_of(struct gw_freshness *f, const struct api_resource *resource, const char *namespace_)
{
	char *path = collection_path(resource, namespace_);
	struct topic *topic = f->topics;

	while (topic && strcmp(topic->path, path) != 0)
		topic = topic->next;
	if (topic) {
		free(path);
		return topic;
	}
	topic = api_alloc(sizeof(*topic));
	*topic = (struct topic){.next = f->topics, .freshness = f, .resource = resource, .path = path};
	TAILQ_INIT(&topic->waits);
	f->topics = topic;
	return topic;
}

static void
topic_free(struct topic *topic)
{
	struct topic **at = &topic->freshness->topics;
	struct gw_fresh_wait *wait;

	while ((wait = TAILQ_FIRST(&topic->waits))) {
		TAILQ_REMOVE(&topic->waits, wait, link);
		free(wait);
	}
	gw_ask_cancel(topic->ask);
	gw_quiet_probe_cancel(topic->probe);
	clock_clear(topic->freshness->clock, &topic->timer);
	while (*at != topic)
		at = &(*at)->next;
	*at = topic->next;
	api_buf_done(&topic->why);
	free(topic->path);
	free(topic);
}

static bool
any_in(const struct topic *topic, enum wait_state state)
{
	const struct gw_fresh_wait *wait;

	TAILQ_FOREACH(wait, &topic->waits, link)
	if (wait->state == state)
		return true;
	return false;
}

/* Wake when something is to be asked, or somebody's time is over. */
static void
arm(struct topic *topic)
{
	struct clock *clock = topic->freshness->clock;
	uint64_t now = clock->now_ms(clock), due = TAILQ_FIRST(&topic->waits)->deadline_ms;

	if (!topic->ask && any_in(topic, WAIT_TO_ASK))
		due = now;
	else if (!topic->probe && !topic->no_probe && topic->probe_ms < due && any_in(topic, WAIT_ARENA))
		due = topic->probe_ms;
	clock_set(clock, &topic->timer, due > now ? due - now : 0, act, topic);
}

/* Tell those whose wait is over, and let the topic go with the last. */
static void
tell(struct topic *topic)
{
	struct gw_fresh_wait *wait;

	if (topic->telling)
		return;
	topic->telling = true;
	do {
		TAILQ_FOREACH(wait, &topic->waits, link)
		if (wait->state == WAIT_OVER)
			break;
		if (wait) {
			TAILQ_REMOVE(&topic->waits, wait, link);
			topic->freshness->counters.late += wait->result == -ETIMEDOUT;
			wait->done(wait->ctx, wait->result, wait->rv,
				   wait->result < 0 && topic->why.data ? topic->why.data : "");
			free(wait);
		}
	} while (wait);
	topic->telling = false;
	if (TAILQ_EMPTY(&topic->waits)) {
		topic_free(topic);
		return;
	}
	if (topic->probe && !any_in(topic, WAIT_ARENA)) {
		gw_quiet_probe_cancel(topic->probe);
		topic->probe = NULL;
	}
	arm(topic);
}

/* Whose RV does the arena show by now? */
static void
compare(struct topic *topic)
{
	uint64_t rv = topic->freshness->rv(topic->freshness->ctx, topic->resource);
	struct gw_fresh_wait *wait;

	TAILQ_FOREACH(wait, &topic->waits, link)
	if (wait->state == WAIT_ARENA && wait->rv <= rv)
		wait->state = WAIT_OVER;
}

/* ---- the question, the probe ---------------------------------------------------------------- */

static uint64_t
list_rv(const char *body, size_t length)
{
	cJSON *list = cJSON_ParseWithLength(body, length);
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(list, "metadata");
	uint64_t rv = gw_rv_number(
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "resourceVersion")));

	cJSON_Delete(list);
	return rv;
}

static int
result_of(int code, uint64_t rv)
{
	if (code < 0)
		return code;
	if (code == 401 || code == 403)
		return -EACCES;
	if (code == 404)
		return -ENOENT;
	return code == 200 && rv ? 0 : code == 200 ? -EPROTO : -EAGAIN;
}

static void
say_why(struct topic *topic, int code, const char *error)
{
	api_buf_reset(&topic->why);
	if (code < 0)
		api_buf_puts(&topic->why, error);
	else
		api_buf_printf(&topic->why, "%s answered %d when it was asked how new its %s are",
			       gw_upstream_server(topic->freshness->upstream), code,
			       topic->resource->group_resource);
}

static void
on_answer(void *ctx, int code, const char *body, size_t length, const char *error)
{
	struct topic *topic = ctx;
	struct clock *clock = topic->freshness->clock;
	uint64_t rv = code == 200 ? list_rv(body, length) : 0;
	int result = result_of(code, rv);
	struct gw_fresh_wait *wait;

	topic->ask = NULL;
	if (result < 0)
		say_why(topic, code, error);
	TAILQ_FOREACH(wait, &topic->waits, link)
	{
		if (wait->state != WAIT_ANSWER)
			continue;
		wait->state = result < 0 ? WAIT_OVER : WAIT_ARENA;
		wait->result = result;
		wait->rv = rv;
	}
	topic->probe_ms = clock->now_ms(clock) + GW_FRESH_PROBE_MS;
	topic->no_probe = false;
	compare(topic);
	tell(topic);
}

static void
ask(struct topic *topic)
{
	struct gw_freshness *f = topic->freshness;
	_cleanup_(api_buf_done) struct api_buf url = {0};
	struct gw_fresh_wait *wait;

	TAILQ_FOREACH(wait, &topic->waits, link)
	if (wait->state == WAIT_TO_ASK)
		wait->state = WAIT_ANSWER;
	api_buf_printf(&url, "%s?limit=1", topic->path);
	f->counters.questions++;
	topic->ask = gw_upstream_get(f->upstream, url.data, NULL, TRANSPORT_METADATA | TRANSPORT_DROP_MANAGED,
				     GW_FRESH_WAIT_MS, on_answer, topic);
}

static void
on_quiet(void *ctx, uint64_t upto, uint64_t last)
{
	struct topic *topic = ctx;
	struct gw_fresh_wait *wait;

	topic->probe_said = true;
	TAILQ_FOREACH(wait, &topic->waits, link)
	if (wait->state == WAIT_ARENA && wait->rv <= upto && last < wait->rv)
		wait->rv = last;
	compare(topic);
	tell(topic);
}

static void
on_probe_ended(void *ctx)
{
	struct topic *topic = ctx;
	struct clock *clock = topic->freshness->clock;

	topic->probe = NULL;
	topic->no_probe = !topic->probe_said;
	topic->probe_ms = clock->now_ms(clock) + GW_FRESH_PROBE_MS;
	arm(topic);
}

static void
probe(struct topic *topic)
{
	static const struct gw_quiet_probe_callbacks callbacks = {on_quiet, on_probe_ended};
	struct gw_freshness *f = topic->freshness;
	uint64_t from = f->rv(f->ctx, topic->resource);

	topic->probe_said = false;
	if (from)
		topic->probe = gw_quiet_probe_start(f->upstream, topic->path, from, &callbacks, topic);
	topic->no_probe = !topic->probe;
	f->counters.probes += topic->probe != NULL;
}

static void
act(void *ctx)
{
	struct topic *topic = ctx;
	struct clock *clock = topic->freshness->clock;
	uint64_t now = clock->now_ms(clock);
	struct gw_fresh_wait *wait;
	bool late = false;

	TAILQ_FOREACH(wait, &topic->waits, link)
	{
		if (wait->deadline_ms > now)
			break;
		wait->state = WAIT_OVER;
		wait->result = -ETIMEDOUT;
		late = true;
	}
	if (late) {
		api_buf_reset(&topic->why);
		api_buf_printf(&topic->why,
			       "the cache of %s did not become as new as the API server's in time",
			       topic->resource->group_resource);
	}
	if (!topic->ask && any_in(topic, WAIT_TO_ASK))
		ask(topic);
	if (!topic->probe && !topic->no_probe && topic->probe_ms <= now && any_in(topic, WAIT_ARENA))
		probe(topic);
	tell(topic);
}

/* ---- what others call ----------------------------------------------------------------------- */

struct gw_freshness *
gw_freshness_new(struct gw_upstream *upstream, uint64_t (*rv)(void *ctx, const struct api_resource *resource),
		 void *ctx)
{
	struct gw_freshness *f = api_alloc(sizeof(*f));

	*f = (struct gw_freshness){
		.upstream = upstream, .clock = gw_upstream_clock(upstream), .rv = rv, .ctx = ctx};
	return f;
}

void
gw_freshness_free(struct gw_freshness *freshness)
{
	if (!freshness)
		return;
	while (freshness->topics)
		topic_free(freshness->topics);
	free(freshness);
}

struct gw_fresh_wait *
gw_fresh_wait(struct gw_freshness *freshness, const struct api_resource *resource, const char *namespace_,
	      gw_fresh_fn *done, void *ctx)
{
	struct topic *topic = topic_of(freshness, resource, namespace_);
	struct gw_fresh_wait *wait = api_alloc(sizeof(*wait));

	*wait = (struct gw_fresh_wait){.topic = topic,
				       .deadline_ms = freshness->clock->now_ms(freshness->clock) +
						      GW_FRESH_WAIT_MS,
				       .done = done,
				       .ctx = ctx};
	freshness->counters.waits++;
	TAILQ_INSERT_TAIL(&topic->waits, wait, link);
	arm(topic);
	return wait;
}

void
gw_fresh_cancel(struct gw_fresh_wait *wait)
{
	struct topic *topic;

	if (!wait)
		return;
	topic = wait->topic;
	TAILQ_REMOVE(&topic->waits, wait, link);
	free(wait);
	if (!topic->telling && TAILQ_EMPTY(&topic->waits))
		topic_free(topic);
}

void
gw_fresh_reached(struct gw_freshness *freshness, const struct api_resource *resource)
{
	struct topic *topic;

	for (topic = freshness->topics; topic; topic = topic->next)
		topic->to_compare = topic->resource == resource;
	do { /* whoever is told may end other waits, and with them their topics */
		for (topic = freshness->topics; topic && !topic->to_compare; topic = topic->next)
			;
		if (topic) {
			topic->to_compare = false;
			compare(topic);
			tell(topic);
		}
	} while (topic);
}

const struct gw_freshness_counters *
gw_freshness_counters(const struct gw_freshness *freshness)
{
	return &freshness->counters;
}
