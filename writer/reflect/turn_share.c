/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses and resumes a stream's request, for list.c and watch.c. The loop's time stands still during a
 * turn: as long as it does, amounts add up. Turns within one millisecond count as one, which costs a pause
 * too many now and then and nothing else.
 */
#include "writer/reflect/turn_share.h"

static void
update(struct turn_share *r, bool was_paused)
{
	bool paused = r->resting || r->held;
	const struct lister_watcher *lister_watcher = r->source->lister_watcher;

	if (paused == was_paused || !*r->request)
		return;
	if (paused)
		lister_watcher->pause(lister_watcher->context, *r->request);
	else
		lister_watcher->resume(lister_watcher->context, *r->request);
}

static void
rested(void *context)
{
	struct turn_share *r = context;

	r->resting = false;
	r->used = 0;
	update(r, true);
}

void
turn_share_init(struct turn_share *r, const struct source *source, void **request, uint64_t share)
{
	*r = (struct turn_share){ .source = source, .request = request, .share = share };
}

void
turn_share_stop(struct turn_share *r)
{
	if (r->source)
		clock_clear(r->source->clock, &r->rest);
	r->resting = r->held = false;
	r->used = 0;
}

void
turn_share_use(struct turn_share *r, uint64_t amount)
{
	uint64_t now = r->source->clock->now_ms(r->source->clock);

	if (now != r->turn_ms)
		r->used = 0;
	r->turn_ms = now;
	r->used += amount;
	if (r->used < r->share || r->resting)
		return;
	r->resting = true;
	clock_set(r->source->clock, &r->rest, 0, rested, r);
	update(r, r->held);
}

void
turn_share_hold(struct turn_share *r)
{
	bool was_paused = r->resting || r->held;

	r->held = true;
	update(r, was_paused);
}

void
turn_share_release(struct turn_share *r)
{
	bool was_paused = r->resting || r->held;

	r->held = false;
	update(r, was_paused);
}
