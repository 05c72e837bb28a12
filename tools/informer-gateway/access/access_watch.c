/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated access checks of open watches; see access_watch.h. */
#include "tools/informer-gateway/access/access_watch.h"

#include <stdlib.h>

#include "tools/serving/buf.h"

#define RETRY_MS 2000 /* plus a random time of up to RETRY_MS */

struct gw_access_watch {
	struct gw_access *access;
	struct gw_question question;
	struct gw_identity *identity;
	uint64_t made_ms;
	struct gw_check *check;
	struct clock_timer timer;
	void (*turned)(void *ctx, const char *why);
	void *ctx;
	const char *why; /* reason for turned() */
};

static void look(void *ctx);

static struct clock *
clock_of(const struct gw_access_watch *watch)
{
	return gw_access_clock(watch->access);
}

static uint64_t
now_of(const struct gw_access_watch *watch)
{
	struct clock *clock = clock_of(watch);

	return clock->now_ms(clock);
}

/* Set the timer to due_ms, or to the expiry of the identity if that is earlier. */
static void
look_at(struct gw_access_watch *watch, uint64_t due_ms)
{
	uint64_t now = now_of(watch);

	if (watch->identity->expires_ms < due_ms)
		due_ms = watch->identity->expires_ms;
	if (due_ms != UINT64_MAX)
		clock_set(clock_of(watch), &watch->timer, due_ms > now ? due_ms - now : 0, look, watch);
}

static void
look_before_it_is_old(struct gw_access_watch *watch)
{
	struct clock *clock = clock_of(watch);
	uint64_t keep = gw_access_keep_ms(watch->access);

	if (gw_access_is_reviewed(watch->question.listener))
		look_at(watch, watch->made_ms + keep - clock->chance(clock, (uint32_t)(keep / 4)));
	else
		look_at(watch, UINT64_MAX);
}

static void
tell(void *ctx)
{
	struct gw_access_watch *watch = ctx;

	watch->turned(watch->ctx, watch->why);
}

/* Call turned() from the loop, because turned() may free the watch. */
static void
turn(struct gw_access_watch *watch, const char *why)
{
	watch->why = why;
	clock_set(clock_of(watch), &watch->timer, 0, tell, watch);
}

/* The check got no decision: retry until GW_KEEP_MOST_MS after the last decision. */
static void
look_once_more(struct gw_access_watch *watch)
{
	struct clock *clock = clock_of(watch);
	uint64_t end = watch->made_ms + GW_KEEP_MOST_MS,
		 next = now_of(watch) + RETRY_MS + clock->chance(clock, RETRY_MS);

	if (now_of(watch) >= end)
		turn(watch, "nobody could say whether it is still allowed");
	else
		look_at(watch, next < end ? next : end);
}

static void
answered(void *ctx, const struct gw_decision *decision)
{
	struct gw_access_watch *watch = ctx;

	watch->check = NULL;
	switch (decision->outcome) {
	case GW_ACCESS_ALLOWED:
		gw_identity_ref(decision->identity);
		gw_identity_unref(watch->identity);
		watch->identity = decision->identity;
		watch->made_ms = decision->made_ms;
		look_before_it_is_old(watch);
		return;
	case GW_ACCESS_UNAUTHENTICATED:
		turn(watch, "its token is nobody's any more");
		return;
	case GW_ACCESS_FORBIDDEN:
		turn(watch, "it is not allowed any more");
		return;
	case GW_ACCESS_BUSY:
	case GW_ACCESS_UNAVAILABLE:
		look_once_more(watch);
		return;
	}
}

static void
look(void *ctx)
{
	struct gw_access_watch *watch = ctx;

	if (now_of(watch) >= watch->identity->expires_ms) {
		turn(watch, "the proof of its identity has run out");
		return;
	}
	watch->question.since_ms = watch->made_ms + 1; /* a cached decision must be newer than the last one */
	watch->check = gw_access_ask(watch->access, &watch->question, answered, watch);
}

struct gw_access_watch *
gw_access_watch_begin(struct gw_access *access, const struct gw_question *question,
		      struct gw_identity *identity, uint64_t made_ms,
		      void (*turned)(void *ctx, const char *why), void *ctx)
{
	struct gw_access_watch *watch = api_alloc(sizeof(*watch));

	*watch = (struct gw_access_watch){.access = access,
					  .question = *question,
					  .identity = gw_identity_ref(identity),
					  .made_ms = made_ms,
					  .turned = turned,
					  .ctx = ctx};
	look_before_it_is_old(watch);
	return watch;
}

void
gw_access_watch_end(struct gw_access_watch *watch)
{
	if (!watch)
		return;
	clock_clear(clock_of(watch), &watch->timer);
	gw_check_cancel(watch->check);
	gw_identity_unref(watch->identity);
	free(watch);
}
