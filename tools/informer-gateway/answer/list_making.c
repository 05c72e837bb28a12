/* SPDX-License-Identifier: Apache-2.0 */
/* An idle handle makes the bodies' bytes, in slices of SLICE_NS; see list_body.h. */
#include "tools/informer-gateway/answer/list_body_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/answer.h"

#define SLICE_NS 2000000u
#define GZIP_MIN ((size_t)128 * 1024)

/* ---- references ---- */

void
gw_body_count_held(struct gw_body *b, size_t before)
{
	struct gw_bodies *bodies = b->bodies;

	if (b->blocks.held >= before) {
		api_share_add(bodies->share, b->blocks.held - before);
	} else {
		api_share_give_back(bodies->share, before - b->blocks.held);
		/* bodies that paused may have room now */
		gw_bodies_start(bodies);
	}
}

void
gw_body_drop(struct gw_body *b)
{
	size_t before = b->blocks.held;

	api_list_close(b->list);
	gw_blocks_done(&b->blocks);
	gw_body_count_held(b, before);
	if (b->store)
		b->store->close(b->store);
	TAILQ_REMOVE(&b->bodies->list, b, link);
	b->bodies->count--;
	api_query_done(&b->query);
	api_status_done(&b->request.status);
	free(b->key);
	free(b->namespace_);
	free(b);
}

static void
no_newcomers(struct gw_body *b)
{
	free(b->key);
	b->key = NULL;
}

static void
copy_status(struct api_status *copy, const struct api_status *status)
{
	api_status_set(copy, status->code, status->reason, "%s", status->message ? status->message : "");
	copy->retry_after = status->retry_after;
	copy->has_details = status->has_details;
	for (unsigned i = 0; i < status->cause_count; i++)
		api_status_cause(copy, status->causes[i].reason, status->causes[i].field, "%s",
				 status->causes[i].message);
	if (status->next_token)
		copy->next_token = api_strndup(status->next_token, strlen(status->next_token));
}

void
gw_body_wake(struct gw_body_reader *reader)
{
	struct gw_exchange *x = reader->x;
	const struct gw_body *b = reader->body;

	if (reader->replied) {
		gw_stream_wake(x);
		return;
	}
	gw_on_gone(x, NULL, NULL);
	if (b->state == GW_BODY_FAILED) {
		copy_status(&x->api.status, &b->request.status);
		reader->ops->closed(reader->ctx);
		gw_reply_status(x);
		return;
	}
	reader->replied = true;
	if (!b->events)
		x->rv = b->shown.rv;
	if (b->gzip) {
		gw_reply_header(x, "Content-Encoding", "gzip");
		gw_reply_header(x, "Vary", "Accept-Encoding");
	}
	gw_reply_stream(x, 200, api_answer_type(&x->api, b->events), reader->ops, reader->ctx);
}

static void
wake_all(struct gw_body *b)
{
	struct gw_body_reader *next;

	for (struct gw_body_reader *r = LIST_FIRST(&b->readers); r; r = next) {
		next = LIST_NEXT(r, link); /* only r may leave here */
		if (!r->waiting)
			continue;
		r->waiting = false;
		gw_body_wake(r);
	}
}

/* ---- making a body ---- */

/* No more bytes will come. The body is OPEN if it is broken, else FAILED. */
static void
fail(struct gw_body *b)
{
	b->state = b->broken ? GW_BODY_OPEN : GW_BODY_FAILED;
	b->whole = true;
	no_newcomers(b);
}

void
gw_body_begin(struct gw_body *b)
{
	b->begun_ms = gw_bodies_now_ms(b->bodies);
	b->bodies->router->counters.lists_made++;
	if (api_list_open(&b->request, &b->query, &b->store->api, b->events, &b->list) < 0) {
		fail(b);
		return;
	}
	b->shown.rv = api_list_rv(b->list);
	b->shown.position = api_list_position(b->list);
	if (!b->may_gzip)
		b->state = GW_BODY_OPEN;
}

static void
finish(struct gw_body *b)
{
	gw_blocks_finish(&b->blocks);
	api_list_close(b->list);
	b->list = NULL;
	b->whole = true;
	b->state = GW_BODY_OPEN;
}

/* The snapshot was revoked: the body must not look complete. */
static void
break_off(struct gw_body *b)
{
	api_list_close(b->list);
	b->list = NULL;
	if (b->state == GW_BODY_PENDING)
		api_status_set(&b->request.status, 410, "Expired",
			       "The snapshot of this list is not kept any more: list again.");
	else
		b->broken = true;
	fail(b);
}

/* The body exceeds its share: accept no new readers, and keep only blocks that a reader still needs. */
static void
detach(struct gw_body *b)
{
	const struct gw_blocks_place **places = api_alloc((b->blocks.readers + 1) * sizeof(*places));
	struct gw_body_reader *r;
	unsigned count = 0;

	LIST_FOREACH (r, &b->readers, link)
		places[count++] = &r->place;
	no_newcomers(b);
	gw_blocks_close(&b->blocks, places);
	free(places);
}

/*
 * Whether the body has more than half of the budget, or more than GW_BODY_SHARE while the budget is used up.
 */
static bool
is_over(const struct gw_body *b)
{
	const struct gw_bodies *all = b->bodies;

	return b->blocks.held > all->share->most / 2 ||
	       (gw_bodies_are_full(all) && b->blocks.held > GW_BODY_SHARE);
}

/* Make some bytes. False: none now, so that other bodies are next. */
static bool
make(struct gw_body *b)
{
	size_t before = b->blocks.held, room;
	char *out = gw_blocks_room(&b->blocks, &room);
	ssize_t n = api_list_read(b->list, out, room);

	if (n > 0) {
		b->bytes += (uint64_t)n;
		gw_blocks_used(&b->blocks, (size_t)n);
	}
	if (n > 0 && b->state == GW_BODY_PENDING && b->bytes > GZIP_MIN) {
		gw_blocks_compress(&b->blocks);
		b->gzip = true;
		b->state = GW_BODY_OPEN;
	}
	if (n == 0)
		finish(b);
	else if (n < 0 && n != -EAGAIN)
		break_off(b);
	if (!b->whole && !b->blocks.closed && is_over(b))
		detach(b);
	gw_body_count_held(b, before);
	return n != -EAGAIN;
}

static bool
is_making(const struct gw_body *b)
{
	return b->list && !(b->blocks.closed && is_over(b));
}

static void
on_idle(uv_idle_t *idle)
{
	struct gw_bodies *bodies = idle->data;
	uint64_t end = uv_hrtime() + SLICE_NS;
	struct gw_body *b, *next;

	/* in turns, so that no body waits for a long one */
	for (unsigned resting = 0; resting < bodies->count && uv_hrtime() < end;) {
		b = TAILQ_FIRST(&bodies->list);
		TAILQ_REMOVE(&bodies->list, b, link);
		TAILQ_INSERT_TAIL(&bodies->list, b, link);
		resting = is_making(b) && make(b) ? 0 : resting + 1;
	}
	for (b = TAILQ_FIRST(&bodies->list); b && !is_making(b);)
		b = TAILQ_NEXT(b, link);
	if (!b)
		uv_idle_stop(idle);
	/* after uv_idle_stop(): a woken reader may leave, which starts the idle handle again */
	for (b = TAILQ_FIRST(&bodies->list); b; b = next) {
		next = TAILQ_NEXT(b, link);
		if (b->state != GW_BODY_PENDING)
			wake_all(b);
	}
}

void
gw_bodies_start(struct gw_bodies *bodies)
{
	uv_idle_start(&bodies->maker, on_idle);
}
