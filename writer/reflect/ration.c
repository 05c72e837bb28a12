/*
 * Ration. The loop's time stands still during a turn: as long as it does, amounts add up. Turns within one millisecond
 * count as one, which costs a pause too many now and then and nothing else.
 */
#include "writer/reflect/ration.h"

static void
update(struct ration *r, bool was_paused)
{
	bool paused = r->resting || r->held;
	const struct lister_watcher *source = r->feed->source;

	if (paused == was_paused || !*r->request)
		return;
	if (paused)
		source->pause(source->context, *r->request);
	else
		source->resume(source->context, *r->request);
}

static void
rested(void *context)
{
	struct ration *r = context;

	r->resting = false;
	r->used = 0;
	update(r, true);
}

void
ration_init(struct ration *r, const struct feed *feed, void **request, uint64_t share)
{
	*r = (struct ration){ .feed = feed, .request = request, .share = share };
}

void
ration_stop(struct ration *r)
{
	if (r->feed)
		clock_clear(r->feed->clock, &r->rest);
	r->resting = r->held = false;
	r->used = 0;
}

void
ration_use(struct ration *r, uint64_t amount)
{
	uint64_t now = r->feed->clock->now_ms(r->feed->clock);

	if (now != r->turn_ms)
		r->used = 0;
	r->turn_ms = now;
	r->used += amount;
	if (r->used < r->share || r->resting)
		return;
	r->resting = true;
	clock_set(r->feed->clock, &r->rest, 0, rested, r);
	update(r, r->held);
}

void
ration_hold(struct ration *r)
{
	bool was_paused = r->resting || r->held;

	r->held = true;
	update(r, was_paused);
}

void
ration_release(struct ration *r)
{
	bool was_paused = r->resting || r->held;

	r->held = false;
	update(r, was_paused);
}
