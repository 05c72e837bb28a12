/* SPDX-License-Identifier: Apache-2.0 */
/* What the arena does not have, asked of upstream; see misses.h. */
#include "tools/informer-gateway/misses.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "tools/serving/buf.h"

#define RATE 20u

enum miss_state {
	MISS_PATIENT, /* the arena is waited for */
	MISS_ASKED,
	MISS_FOUND, /* upstream has it, and the arena is waited for */
	MISS_OVER,  /* to be told, and remembered */
};

struct gw_miss_wait {
	TAILQ_ENTRY(gw_miss_wait) link;
	struct miss *miss;
	gw_miss_fn *done;
	void *ctx;
};

/* One object, asked for with one right. */
struct miss {
	TAILQ_ENTRY(miss) link;
	struct gw_misses *misses;
	TAILQ_HEAD(miss_waits, gw_miss_wait) waits;
	enum miss_state state;
	const struct api_resource *resource;
	char *namespace_, *name, *path, *bearer;
	unsigned char right[16]; /* whose */
	struct gw_ask *ask;
	struct clock_timer timer;
	uint64_t begun_ms, until_ms; /* until_ms: what is known is kept so long */
	enum gw_miss result;
	int code;
	char *json;
	size_t json_length;
	bool telling;
};

struct gw_misses {
	struct gw_upstream *upstream;
	struct clock *clock;
	struct gw_misses_options options;
	TAILQ_HEAD(all_misses, miss) misses;
	unsigned count;
	unsigned char key[crypto_generichash_KEYBYTES];
	uint64_t tokens_ms; /* when the bucket was empty, moved on by each question */
	struct gw_misses_counters counters;
};

static void on_time(void *ctx);

/* ---- one of them ---------------------------------------------------------------------------- */

static char *
copy(const char *text)
{
	return text ? api_strndup(text, strlen(text)) : NULL;
}

static void
put_segment(struct api_buf *path, const char *segment)
{
	api_buf_puts(path, "/");
	for (; *segment; segment++) {
		bool plain = (*segment >= 'a' && *segment <= 'z') || (*segment >= 'A' && *segment <= 'Z') ||
			     (*segment >= '0' && *segment <= '9') || strchr("-._~:", *segment);

		if (plain)
			api_buf_put(path, segment, 1);
		else
			api_buf_printf(path, "%%%02X", (unsigned)(unsigned char)*segment);
	}
}

static char *
object_path(const struct api_resource *resource, const char *namespace_, const char *name)
{
	struct api_buf path = {0};

	api_buf_puts(&path, resource->group[0] ? "/apis" : "/api");
	if (resource->group[0])
		put_segment(&path, resource->group);
	put_segment(&path, resource->version);
	if (namespace_) {
		api_buf_puts(&path, "/namespaces");
		put_segment(&path, namespace_);
	}
	put_segment(&path, resource->plural);
	put_segment(&path, name);
	return api_buf_take(&path);
}

static void
forget_bearer(struct miss *miss)
{
	if (miss->bearer)
		sodium_memzero(miss->bearer, strlen(miss->bearer));
	free(miss->bearer);
	miss->bearer = NULL;
}

static void
miss_free(struct miss *miss)
{
	struct gw_miss_wait *wait;

	while ((wait = TAILQ_FIRST(&miss->waits))) {
		TAILQ_REMOVE(&miss->waits, wait, link);
		free(wait);
	}
	TAILQ_REMOVE(&miss->misses->misses, miss, link);
	miss->misses->count--;
	clock_clear(miss->misses->clock, &miss->timer);
	gw_ask_cancel(miss->ask);
	forget_bearer(miss);
	free(miss->namespace_);
	free(miss->name);
	free(miss->path);
	free(miss->json);
	free(miss);
}

static uint64_t
now_ms(const struct gw_misses *m)
{
	return m->clock->now_ms(m->clock);
}

static void
set_timer(struct miss *miss, uint64_t due_ms)
{
	uint64_t now = now_ms(miss->misses);

	clock_set(miss->misses->clock, &miss->timer, due_ms > now ? due_ms - now : 0, on_time, miss);
}

/* What is known now; told in the loop's next turn, and kept if it is kept. */
static void
finish(struct miss *miss, enum gw_miss result, uint64_t keep_ms)
{
	gw_ask_cancel(miss->ask);
	miss->ask = NULL;
	miss->state = MISS_OVER;
	miss->result = result;
	miss->until_ms = now_ms(miss->misses) + keep_ms;
	miss->misses->counters.found_in_arena += result == GW_MISS_THERE;
	miss->misses->counters.later += result == GW_MISS_LATER;
	forget_bearer(miss);
	set_timer(miss, 0);
}

static void
tell(struct miss *miss)
{
	struct gw_miss_wait *wait;

	miss->telling = true;
	while ((wait = TAILQ_FIRST(&miss->waits))) {
		TAILQ_REMOVE(&miss->waits, wait, link);
		wait->done(wait->ctx, miss->result, miss->code, miss->json ? miss->json : "",
			   miss->json_length);
		free(wait);
	}
	miss->telling = false;
	if (miss->until_ms > now_ms(miss->misses))
		set_timer(miss, miss->until_ms);
	else
		miss_free(miss);
}

/* ---- upstream ------------------------------------------------------------------------------- */

static void
on_answer(void *ctx, int code, const char *body, size_t length, const char *error)
{
	struct miss *miss = ctx;

	(void)error;
	miss->ask = NULL;
	miss->code = code;
	if (code == 200) {
		miss->json = api_strndup(body, length);
		miss->json_length = length;
		miss->state = MISS_FOUND;
		set_timer(miss, miss->begun_ms + GW_MISS_ARENA_MS);
	} else if (code == 404) {
		finish(miss, GW_MISS_ABSENT, GW_MISS_REMEMBER_MS);
	} else if (code == 401 || code == 403) {
		finish(miss, GW_MISS_REFUSED, GW_MISS_REMEMBER_MS);
	} else {
		finish(miss, GW_MISS_LATER, GW_MISS_REMEMBER_MS);
	}
}

/* A bucket of as many as two seconds give. */
static bool
may_ask(struct gw_misses *m)
{
	uint64_t now = now_ms(m), step = 1000u / m->options.rate;

	if (m->tokens_ms + 2000 < now)
		m->tokens_ms = now - 2000;
	if (m->tokens_ms + step > now)
		return false;
	m->tokens_ms += step;
	return true;
}

static void
ask(struct miss *miss)
{
	struct gw_misses *m = miss->misses;

	if (!may_ask(m)) {
		finish(miss, GW_MISS_LATER, 0);
		return;
	}
	m->counters.questions++;
	miss->state = MISS_ASKED;
	miss->ask = gw_upstream_get(m->upstream, miss->path, miss->bearer, TRANSPORT_DROP_MANAGED,
				    GW_MISS_ANSWER_MS, on_answer, miss);
	forget_bearer(miss);
}

static void
on_time(void *ctx)
{
	struct miss *miss = ctx;

	switch (miss->state) {
	case MISS_PATIENT:
		ask(miss);
		break;
	case MISS_ASKED:
		break;
	case MISS_FOUND:
		finish(miss, GW_MISS_FOUND, 0);
		break;
	case MISS_OVER:
		tell(miss);
		break;
	}
}

/* ---- what others call ----------------------------------------------------------------------- */

struct gw_misses *
gw_misses_new(struct gw_upstream *upstream, const struct gw_misses_options *options)
{
	struct gw_misses *m = api_alloc(sizeof(*m));

	*m = (struct gw_misses){
		.upstream = upstream, .clock = gw_upstream_clock(upstream), .options = *options};
	if (m->options.rate == 0)
		m->options.rate = RATE;
	if (m->options.rate > 1000)
		m->options.rate = 1000;
	TAILQ_INIT(&m->misses);
	randombytes_buf(m->key, sizeof(m->key));
	return m;
}

void
gw_misses_free(struct gw_misses *misses)
{
	struct miss *miss;

	if (!misses)
		return;
	while ((miss = TAILQ_FIRST(&misses->misses)))
		miss_free(miss);
	free(misses);
}

static struct miss *
miss_new(struct gw_misses *m, const struct api_resource *resource, const char *namespace_, const char *name,
	 char *path, const unsigned char right[16], const char *bearer)
{
	struct miss *miss = api_alloc(sizeof(*miss));

	*miss = (struct miss){.misses = m,
			      .resource = resource,
			      .namespace_ = copy(namespace_),
			      .name = copy(name),
			      .path = path,
			      .bearer = copy(bearer),
			      .begun_ms = now_ms(m)};
	memcpy(miss->right, right, sizeof(miss->right));
	TAILQ_INIT(&miss->waits);
	TAILQ_INSERT_TAIL(&m->misses, miss, link);
	if (m->count++ >= GW_MISSES_MAX)
		finish(miss, GW_MISS_LATER, 0);
	else
		set_timer(miss, miss->begun_ms + GW_MISS_PATIENCE_MS);
	return miss;
}

struct gw_miss_wait *
gw_miss_ask(struct gw_misses *misses, const struct api_resource *resource, const char *namespace_,
	    const char *name, const char *bearer, gw_miss_fn *done, void *ctx)
{
	struct gw_miss_wait *wait = api_alloc(sizeof(*wait));
	char *path = object_path(resource, namespace_, name);
	unsigned char right[16] = {0};
	struct miss *miss;

	if (bearer)
		crypto_generichash(right, sizeof(right), (const unsigned char *)bearer, strlen(bearer),
				   misses->key, sizeof(misses->key));
	TAILQ_FOREACH(miss, &misses->misses, link)
	if (!miss->telling && strcmp(miss->path, path) == 0 && memcmp(miss->right, right, sizeof(right)) == 0)
		break;
	if (miss)
		free(path);
	else
		miss = miss_new(misses, resource, namespace_, name, path, right, bearer);
	*wait = (struct gw_miss_wait){.miss = miss, .done = done, .ctx = ctx};
	TAILQ_INSERT_TAIL(&miss->waits, wait, link);
	misses->counters.waits++;
	if (miss->state == MISS_OVER)
		set_timer(miss, 0);
	return wait;
}

void
gw_miss_cancel(struct gw_miss_wait *wait)
{
	if (!wait)
		return;
	TAILQ_REMOVE(&wait->miss->waits, wait, link);
	free(wait);
}

void
gw_misses_changed(struct gw_misses *misses, const struct api_resource *resource)
{
	struct miss *miss;

	TAILQ_FOREACH(miss, &misses->misses, link)
	if (miss->resource == resource && (miss->state != MISS_OVER || miss->result == GW_MISS_ABSENT) &&
	    !miss->telling &&
	    misses->options.has(misses->options.ctx, resource, miss->namespace_, miss->name))
		finish(miss, GW_MISS_THERE, 0);
}

const struct gw_misses_counters *
gw_misses_counters(const struct gw_misses *misses)
{
	return &misses->counters;
}
