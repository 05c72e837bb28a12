/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins a resource's checks when they are due, counts their differences, and tells the owner.
 */
#include "writer/resource/check_schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "shm-layout/time_ns.h"
#include "writer/base/log.h"

#define SETTLE_MS 1000u

static void on_time(void *context);

static void
plan(struct check_schedule *s, uint64_t least_ms, uint64_t chance_ms)
{
	clock_set(s->clock, &s->timer, least_ms + s->clock->chance(s->clock, (uint32_t)chance_ms + 1),
		  on_time, s);
}

/* A period, give or take a tenth. */
static void
plan_next(struct check_schedule *s)
{
	plan(s, s->every_ms - s->every_ms / 10, s->every_ms / 5);
}

static void
tell(const struct check_schedule *s, const struct consistency_result *result)
{
	uint64_t count = result->missing + result->extra + result->different;

	if (result->inconclusive) {
		log_info("%s: cannot be compared with the server at resourceVersion %s: %s", s->name,
			 result->version, result->inconclusive);
		return;
	}
	if (count == 0) {
		log_debug("%s: the same %" PRIu64 " objects as the server at resourceVersion %s", s->name,
			  result->objects, result->version);
		return;
	}
	for (size_t i = 0; i < result->name_count; i++)
		log_warning("%s: %s", s->name, result->names[i]);
	log_error("%s: %" PRIu64 " difference%s from the server's %" PRIu64
		  " objects at resourceVersion %s: %" PRIu64 " missing, %" PRIu64 " too much, %" PRIu64
		  " of another state; listing anew",
		  s->name, count, count == 1 ? "" : "s", result->objects, result->version, result->missing,
		  result->extra, result->different);
}

static void
on_done(void *context, const struct consistency_result *result)
{
	struct check_schedule *s = context;
	bool differs = !result->inconclusive && result->missing + result->extra + result->different > 0;

	s->checks++;
	s->last_wall_ns = time_ns(CLOCK_REALTIME);
	if (result->inconclusive) {
		s->inconclusive++;
	} else {
		s->missing += result->missing;
		s->extra += result->extra;
		s->different += result->different;
	}
	tell(s, result);
	consistency_check_free(s->check);
	s->check = NULL;
	plan_next(s);
	if (differs)
		s->owner.differs(s->owner.context);
}

static void
on_time(void *context)
{
	struct check_schedule *s = context;
	int r = s->owner.begin(s->owner.context, on_done, s, &s->check);

	if (r == -EAGAIN) {
		plan(s, SETTLE_MS, SETTLE_MS);
	} else if (r < 0) {
		log_warning("%s: cannot be compared with the server: %s", s->name, strerror(-r));
		plan_next(s);
	}
}

void
check_schedule_set(struct check_schedule *s, uint64_t every_ms)
{
	if (every_ms == s->every_ms)
		return;
	s->every_ms = every_ms;
	if (every_ms == 0)
		check_schedule_done(s);
	else if (!s->check)
		plan(s, 0, every_ms);
}

void
check_schedule_stop(struct check_schedule *s)
{
	if (!s->check)
		return;
	consistency_check_free(s->check);
	s->check = NULL;
	plan_next(s);
}

void
check_schedule_done(struct check_schedule *s)
{
	if (s->clock)
		clock_clear(s->clock, &s->timer);
	consistency_check_free(s->check);
	s->check = NULL;
}
