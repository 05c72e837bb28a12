/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, sharing and dropping bodies; see list_body.h. */
#include "tools/informer-gateway/answer/list_body_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/http/request_form.h"

#define LOOK_MS 50u               /* period of on_timer() */
#define BODIES_LEAST 16u          /* limit of bodies with the smallest budget */
#define LARGE ((uint64_t)1 << 20) /* bytes; larger bodies begin once a second at most */
#define SHARE_MS 1000u            /* how long new readers may join a body */
#define LEAST_BYTES_A_MS 16u      /* slower readers are dropped when the budget is used up */
#define BRIEF 16u                 /* a reader is slow only when blocked for stall_ms / BRIEF */

/* ---- when a body begins ---- */

/* Whether the body began within SHARE_MS: new readers may join. */
static bool
is_fresh(const struct gw_body *b)
{
	return gw_bodies_now_ms(b->bodies) - b->begun_ms < SHARE_MS;
}

/* Whether b must wait for an equal body: one in progress, or a large one that began within SHARE_MS. */
static bool
must_wait(const struct gw_body *b)
{
	const struct gw_body *o;

	TAILQ_FOREACH (o, &b->bodies->list, link)
		if (o != b && b->key && o->key && o->begun_ms && !strcmp(o->key, b->key) &&
		    (!o->whole || (o->bytes > LARGE && is_fresh(o))))
			return true;
	return false;
}

/* ---- slow readers ---- */

static bool
is_slow(const struct gw_body_reader *reader, uint64_t now)
{
	const struct gw_bodies *all = reader->body->bodies;
	uint64_t stall = all->router->options.stall_ms, since = gw_stream_blocked_since(reader->x),
		 age = now - reader->begun_ms;

	if (reader->dropped || since == 0 || since > now)
		return false;
	if (now - since >= stall)
		return true;
	return gw_bodies_are_full(all) && age >= stall && now - since >= stall / BRIEF &&
	       reader->x->sent < age * LEAST_BYTES_A_MS;
}

/* Cut slow readers. They leave later, in the loop's next turns, so the list stays unchanged here. */
static void
drop_slow(struct gw_body *body)
{
	uint64_t now = gw_bodies_now_ms(body->bodies);
	struct gw_body_reader *r;

	LIST_FOREACH (r, &body->readers, link) {
		if (!is_slow(r, now))
			continue;
		r->dropped = true;
		body->bodies->router->counters.lists_dropped++;
		gw_stream_drop(r->x);
	}
}

/* ---- the timer ---- */

static void on_timer(uv_timer_t *timer);

static void
look_later(struct gw_bodies *bodies)
{
	if (!uv_is_active((uv_handle_t *)&bodies->timer))
		uv_timer_start(&bodies->timer, on_timer, LOOK_MS, 0);
}

/* Begin waiting bodies. Drop old bodies without a reader, and slow readers. */
static void
on_timer(uv_timer_t *timer)
{
	struct gw_bodies *bodies = timer->data;
	struct gw_body *next;

	for (struct gw_body *b = TAILQ_FIRST(&bodies->list); b; b = next) {
		next = TAILQ_NEXT(b, link);
		if (!b->begun_ms && !must_wait(b)) {
			gw_body_begin(b);
			gw_bodies_start(bodies);
		}
		drop_slow(b);
		if (b->begun_ms && !is_fresh(b) && LIST_EMPTY(&b->readers))
			gw_body_drop(b);
		else
			look_later(bodies);
	}
}

/* ---- joining ---- */

/* The key of a body: requests with equal keys get equal bytes. NULL: the body is not shared. */
static char *
make_key(const struct gw_exchange *x, bool events, bool gzip)
{
	const struct api_query *query = &x->route->query;
	const struct api_shape *shape = &x->api.shape;
	const char *labels = api_request_query(&x->api, "labelSelector");
	const char *fields = api_request_query(&x->api, "fieldSelector");
	size_t ns_length = x->api.namespace_ ? strlen(x->api.namespace_) : 0;
	struct api_buf key = {0};

	if (query->next_token || query->match == API_MATCH_EXACT)
		return NULL;
	/* pages are not shared; a list with RV 0 ignores its limit */
	if (!events && query->limit && !(query->rv_given && query->rv == 0))
		return NULL;
	api_buf_printf(&key, "%u %d %s %d %d %d %d %d %d %d", x->api.resource->index, shape->kind,
		       shape->version ? shape->version : "", shape->rows, shape->protobuf, shape->bare,
		       shape->unversioned, events, events && query->bookmarks, gzip);
	/* clients choose these texts, with any bytes: the lengths keep keys unambiguous */
	labels = labels ? labels : "";
	api_buf_printf(&key, " %zu %zu\n%s\n%s\n%s\n%s", ns_length, strlen(labels), x->api.resource->version,
		       ns_length ? x->api.namespace_ : "", labels, fields ? fields : "");
	return api_buf_take(&key);
}

/* The lowest RV that the request accepts. */
static uint64_t
least_rv(const struct gw_exchange *x)
{
	const struct api_query *query = &x->route->query;

	return query->rv_given ? query->rv : gw_read_rv(x);
}

static struct gw_body *
find(const struct gw_bodies *bodies, const char *key, uint64_t least)
{
	struct gw_body *b;

	/* a body that has not begun will show the newest state */
	TAILQ_FOREACH (b, &bodies->list, link)
		if (b->key && !strcmp(b->key, key) && (!b->begun_ms || (b->shown.rv >= least && is_fresh(b))))
			break;
	return b;
}

/* -ENOENT: the resource is gone. */
static int
add(struct gw_bodies *bodies, struct gw_exchange *x, char *key, bool events, bool gzip,
    struct gw_body **ret_body)
{
	struct gw_body *b = api_alloc(sizeof(*b));
	int r;

	*b = (struct gw_body){
		.bodies = bodies, .key = key, .request = x->api, .events = events, .may_gzip = gzip};
	b->request.status = (struct api_status){0};
	if (x->api.namespace_)
		b->namespace_ = api_strndup(x->api.namespace_, strlen(x->api.namespace_));
	b->request.namespace_ = b->namespace_;
	b->request.path = NULL; /* belongs to the exchange */
	b->request.value = NULL;
	TAILQ_INSERT_HEAD(&bodies->list, b, link);
	bodies->count++;
	r = gw_read_open(x, &b->store);
	if (r == 0)
		r = api_query_parse(&x->api, &b->query);
	if (r < 0) {
		gw_body_drop(b);
		return r;
	}
	if (!must_wait(b))
		gw_body_begin(b);
	b->query.next_token = NULL; /* belongs to the request, and is parsed */
	b->request.connection = NULL;
	*ret_body = b;
	return 0;
}

/* Make room for another body: drop complete bodies without a reader. */
static bool
make_room(struct gw_bodies *bodies)
{
	struct gw_body *next;

	for (struct gw_body *b = TAILQ_FIRST(&bodies->list);
	     b && (gw_bodies_are_full(bodies) || bodies->count >= bodies->most); b = next) {
		next = TAILQ_NEXT(b, link);
		if (b->whole && LIST_EMPTY(&b->readers))
			gw_body_drop(b);
	}
	return !gw_bodies_are_full(bodies) && bodies->count < bodies->most;
}

/* -EBUSY with x->api.status: the budget is used up, or the resource has gone. */
static int
join(struct gw_exchange *x, bool events, struct gw_body_reader **ret_reader)
{
	struct gw_bodies *bodies = x->route->router->bodies;
	bool gzip = !events && !x->api.shape.protobuf && gw_request_takes_gzip(x->api.connection);
	char *key = make_key(x, events, gzip);
	struct gw_body *b = key ? find(bodies, key, least_rv(x)) : NULL;
	struct gw_body_reader *reader;

	if (!b && !make_room(bodies)) {
		free(key);
		bodies->share->refused++;
		api_status_set(&x->api.status, 429, "TooManyRequests",
			       "too many lists are being answered, please try again later");
		x->api.status.retry_after = 1;
		return -EBUSY;
	}
	if (b) {
		free(key);
		bodies->router->counters.lists_shared++;
	} else if (add(bodies, x, key, events, gzip, &b) < 0) {
		api_status_not_ready(&x->api.status);
		return -EBUSY;
	}
	reader = api_alloc(sizeof(*reader));
	*reader = (struct gw_body_reader){.body = b, .x = x, .begun_ms = gw_bodies_now_ms(bodies)};
	LIST_INSERT_HEAD(&b->readers, reader, link);
	gw_blocks_join(&b->blocks);
	reader->waiting = b->state == GW_BODY_PENDING;
	gw_bodies_start(bodies);
	look_later(bodies);
	*ret_reader = reader;
	return 0;
}

/* ---- reading ---- */

void
gw_body_leave(struct gw_body_reader *reader)
{
	struct gw_body *b;
	size_t before;

	if (!reader)
		return;
	b = reader->body;
	before = b->blocks.held;
	LIST_REMOVE(reader, link);
	gw_blocks_leave(&b->blocks, &reader->place);
	gw_body_count_held(b, before);
	free(reader);
	/* other requests may still join a complete body */
	if (LIST_EMPTY(&b->readers) && (!b->key || !b->whole))
		gw_body_drop(b);
	else if (b->list)
		gw_bodies_start(b->bodies);
}

struct gw_body_shown
gw_body_shown(const struct gw_body_reader *reader)
{
	return reader->body->shown;
}

void
gw_body_answer(struct gw_exchange *x, bool events, const struct gw_stream_ops *ops, void *ctx,
	       struct gw_body_reader **ret_reader)
{
	struct gw_body_reader *reader = NULL;

	if (join(x, events, &reader) < 0) {
		ops->closed(ctx);
		gw_reply_status(x);
		return;
	}
	reader->ops = ops;
	reader->ctx = ctx ? ctx : reader;
	if (ret_reader)
		*ret_reader = reader;
	gw_on_gone(x, ops->closed, reader->ctx);
	if (!reader->waiting)
		gw_body_wake(reader);
}

ssize_t
gw_body_read(struct gw_body_reader *reader, char *out, size_t max)
{
	struct gw_body *b = reader->body;
	size_t before = b->blocks.held, n;

	n = gw_blocks_read(&b->blocks, &reader->place, out, max);
	if (b->blocks.held < before)
		gw_body_count_held(b, before);
	if (n > 0)
		return (ssize_t)n;
	if (b->whole)
		return b->broken ? GW_STREAM_BROKEN : GW_STREAM_END;
	reader->waiting = true;
	return 0;
}

/* ---- creating and freeing ---- */

struct gw_bodies *
gw_bodies_new(struct gw_router *router)
{
	struct gw_bodies *bodies = api_alloc(sizeof(*bodies));
	struct api_share *share = router->options.lists;

	*bodies = (struct gw_bodies){.router = router, .share = share};
	bodies->most = BODIES_LEAST + (unsigned)(share->most / GW_BODY_SHARE);
	TAILQ_INIT(&bodies->list);
	uv_idle_init(gw_front_loop(router->front), &bodies->maker);
	uv_timer_init(gw_front_loop(router->front), &bodies->timer);
	bodies->maker.data = bodies->timer.data = bodies;
	bodies->open_handles = 2;
	return bodies;
}

static void
on_closed(uv_handle_t *handle)
{
	struct gw_bodies *bodies = handle->data;

	if (--bodies->open_handles == 0)
		free(bodies);
}

void
gw_bodies_free(struct gw_bodies *bodies)
{
	if (!bodies)
		return;
	while (!TAILQ_EMPTY(&bodies->list))
		gw_body_drop(TAILQ_FIRST(&bodies->list));
	uv_close((uv_handle_t *)&bodies->timer, on_closed);
	uv_close((uv_handle_t *)&bodies->maker, on_closed);
}
