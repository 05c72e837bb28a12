/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, sharing and dropping bodies; see list_body.h. */
#include "tools/informer-gateway/answer/list_body_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/http/request_form.h"

#define LOOK_MS 50u               /* whether one may begin, or is old */
#define BODIES_LEAST 16u          /* at a time, however small the budget */
#define LARGE ((uint64_t)1 << 20) /* bytes of a body that is made once a second at most */
#define SHARE_MS 1000u            /* for so long a body is given to others */
#define LEAST_BYTES_A_MS 16u      /* who takes less is slow */
#define BRIEF 16u                 /* this part of stall_ms says nothing of how fast one is */

/* ---- which one ---- */

/* It was begun so recently that others may have it. */
static bool
is_fresh(const struct gw_body *b)
{
	return gw_bodies_now_ms(b->bodies) - b->begun_ms < SHARE_MS;
}

/* Whether another of the same kind is under way, or was begun just now and is large: b waits for it. */
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

/* ---- who does not take his list ---- */

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

/* They leave in the loop's next turns, not in here. */
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

/* ---- in time ---- */

static void on_timer(uv_timer_t *timer);

static void
look_later(struct gw_bodies *bodies)
{
	if (!uv_is_active((uv_handle_t *)&bodies->timer))
		uv_timer_start(&bodies->timer, on_timer, LOOK_MS, 0);
}

/* Begin what waited; let go what is old, and who is too slow. */
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

/* What must be equal for two requests to be given the same bytes. */
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
	/* of what the watch cache answers there are no pages */
	if (!events && query->limit && !(query->rv_given && query->rv == 0))
		return NULL;
	api_buf_printf(&key, "%u %d %s %d %d %d %d %d %d", x->api.resource->index, shape->kind,
		       shape->version ? shape->version : "", shape->rows, shape->protobuf, shape->bare,
		       events, events && query->bookmarks, gzip);
	/* a client chooses these, and may use any byte: by their lengths no two questions look the same */
	labels = labels ? labels : "";
	api_buf_printf(&key, " %zu %zu\n%s\n%s\n%s\n%s", ns_length, strlen(labels), x->api.resource->version,
		       ns_length ? x->api.namespace_ : "", labels, fields ? fields : "");
	return api_buf_take(&key);
}

/* The state that is asked for: not before this RV. */
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

	/* one that has not begun shows what will be then */
	TAILQ_FOREACH (b, &bodies->list, link)
		if (b->key && !strcmp(b->key, key) && (!b->begun_ms || (b->shown.rv >= least && is_fresh(b))))
			break;
	return b;
}

/* -ENOENT: the resource has gone meanwhile. */
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
	b->request.path = NULL; /* it goes with the exchange */
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
	b->query.next_token = NULL; /* the request's, and read */
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
	/* what is whole may still be wanted by others for a while */
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

/* ---- all of them ---- */

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
