/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions on handlers. run.c runs them.
 */
#include <string.h>

#include "reader-lib/events/run.h"
#include "reader-lib/events/wait.h"

int
informer_add_handler(struct informer *inf, const struct informer_handler_options *options,
		     struct informer_handler **ret_handler)
{
	return handler_add(inf, options, NULL, ret_handler);
}

int
handler_add(struct informer *inf, const struct informer_handler_options *options, struct handler_group *group,
	    struct informer_handler **ret_handler)
{
	struct informer_handler *h;
	struct handler_work *w;
	int r;

	if (!inf || !options)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	r = handler_work_new(inf, options, &w);
	if (r < 0)
		return r;
	h = memory_get(inf, sizeof(*h));
	if (!h) {
		handler_work_free(inf, w, false);
		return -ENOMEM;
	}
	h->inf = inf;
	h->work = w;
	h->pulled = w->o.pull;
	w->group = group;
	pthread_mutex_lock(&inf->run->wait_lock);
	if (inf->run->stopped) {
		r = error_set(INFORMER_E_STOPPED, "informer_stop() was called: no handler can be added");
	} else if (group && group->stopped) {
		r = error_set(INFORMER_E_STOPPED, "the informer of %s was stopped", w->sub.resource->name);
	} else {
		atomic_store_explicit(&h->paused, group && !group->started, memory_order_relaxed);
		pthread_mutex_lock(&inf->lock);
		r = subscription_add(inf, &w->sub);
		if (r < 0)
			error_set(r,
				  "all %u queues of this handle are taken: remove a handler, or attach a "
				  "second handle",
				  SLOT_QUEUES);
		else
			subscriptions_step(inf);
		pthread_mutex_unlock(&inf->lock);
	}
	if (r < 0) {
		pthread_mutex_unlock(&inf->run->wait_lock);
		handler_work_free(inf, w, false);
		memory_put(inf, h);
		return r;
	}
	if (ret_handler)
		*ret_handler = h;
	run_add(h);
	pthread_mutex_unlock(&inf->run->wait_lock);
	return 0;
}

int
informer_pause_handler(struct informer_handler *h, bool pause)
{
	if (!h)
		return -EINVAL;
	if (forked(h->inf))
		return INFORMER_E_FORKED;
	/*
	 * Of two threads that resume, one wakes the runner. A turn that is under way leaves off at the next
	 * handler_leaves(). The runner looks again under wait_lock, which orders the store.
	 */
	if (atomic_exchange_explicit(&h->paused, pause, memory_order_acq_rel) == pause || pause)
		return 0;
	pthread_mutex_lock(&h->inf->run->wait_lock);
	run_look_again(h->inf);
	pthread_mutex_unlock(&h->inf->run->wait_lock);
	return 0;
}

bool
informer_handler_has_synced(const struct informer_handler *h)
{
	/*
	 * Meets the release store in handler_pending_calls() (handler_tell.c): a caller that sees it synced
	 * sees what the handler's functions wrote. Without acquire a caller could find its own table half
	 * filled.
	 */
	return h && !forked(h->inf) &&
	       atomic_load_explicit(&((struct informer_handler *)(uintptr_t)h)->synced, memory_order_acquire);
}

bool
handlers_synced(const struct informer *inf, const void *group)
{
	for (const struct informer_handler *h = inf->run->handlers; h; h = h->next)
		if (h->work && (!group || h->work->group == group) && !h->removed &&
		    !informer_handler_has_synced(h))
			return false;
	return true;
}

static bool
one_synced(const struct informer *inf, const void *h)
{
	(void)inf;
	return informer_handler_has_synced(h);
}

int
handlers_wait(struct informer *inf, bool (*met)(const struct informer *inf, const void *context),
	      const void *context, int timeout_ms)
{
	uint64_t end_ns = wait_deadline(timeout_ms);
	bool is;
	int r = 0;

	pthread_mutex_lock(&inf->run->wait_lock);
	inf->run->watchers++;
	/* Meets the fence in tell_watchers() (run.c). */
	slot_fence();
	while (!(is = met(inf, context)) && r == 0)
		r = wait_on(&inf->run->handler_cond, &inf->run->wait_lock, end_ns);
	inf->run->watchers--;
	pthread_mutex_unlock(&inf->run->wait_lock);
	return is ? 0
		  : error_set(-ETIMEDOUT, "after %d ms not every handler was told of all that was there",
			      timeout_ms);
}

int
informer_wait_handler_synced(struct informer *inf, struct informer_handler *h, int timeout_ms)
{
	if (!inf || (h && h->inf != inf))
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	return handlers_wait(inf, h ? one_synced : handlers_synced, h, timeout_ms);
}

int
informer_handler_cursor(const struct informer_handler *handler, struct informer_cursor *ret)
{
	struct informer_handler *h = (struct informer_handler *)(uintptr_t)handler;

	if (!h || !ret)
		return -EINVAL;
	if (forked(h->inf))
		return INFORMER_E_FORKED;
	pthread_mutex_lock(&h->inf->lock);
	memcpy(ret->lineage, h->shown_lineage, sizeof(ret->lineage));
	ret->seq = atomic_load_explicit(&h->shown_seq, memory_order_relaxed);
	pthread_mutex_unlock(&h->inf->lock);
	return 0;
}

int
informer_acknowledge(struct informer_handler *h, const struct informer_cursor *cursor)
{
	struct handler_work *w;

	if (!h || !cursor)
		return -EINVAL;
	if (forked(h->inf))
		return INFORMER_E_FORKED;
	pthread_mutex_lock(&h->inf->lock);
	w = h->work;
	if (w && w->sub.consumer[0] && w->o.manual_ack) {
		bool same = memcmp(w->acknowledged.lineage, cursor->lineage, sizeof(cursor->lineage)) == 0;

		if (!same || cursor->seq > w->acknowledged.seq)
			w->acknowledged = *cursor;
		/*
		 * A ring's slot counts in its arena's lineage. If the lineages differ, acknowledge() stores
		 * it in a later turn.
		 */
		if (w->feed.ring &&
		    memcmp(w->feed.ring->arena_lineage, cursor->lineage, sizeof(cursor->lineage)) == 0 &&
		    cursor->seq >
			    atomic_load_explicit(&w->feed.ring->cursor->acknowledged, memory_order_relaxed))
			/*
			 * Meets take_acknowledgement() (writer/serve/consumers.c): what is acknowledged was
			 * done before.
			 */
			atomic_store_explicit(&w->feed.ring->cursor->acknowledged, cursor->seq,
					      memory_order_release);
	}
	pthread_mutex_unlock(&h->inf->lock);
	return 0;
}

static uint64_t
newest_seq(struct informer *inf)
{
	struct informer_snapshot snap;
	struct informer_moment moment = {0};

	if (informer_begin(inf, &snap) < 0)
		return 0;
	if (informer_snapshot_moment(&snap, &moment) < 0)
		moment.seq = 0;
	informer_end(&snap);
	return moment.seq;
}

int
informer_handler_stats(const struct informer_handler *handler, struct informer_handler_stats *stats)
{
	struct informer_handler *h = (struct informer_handler *)(uintptr_t)handler;
	struct informer_handler_stats s = {0};
	struct ring *ring;
	uint64_t newest, shown;

	if (!h || !stats || stats->size < sizeof(stats->size))
		return -EINVAL;
	if (forked(h->inf))
		return INFORMER_E_FORKED;
	newest = newest_seq(h->inf);
	s.events = atomic_load_explicit(&h->events, memory_order_relaxed);
	s.coalesced = atomic_load_explicit(&h->coalesced, memory_order_relaxed);
	s.resyncs = atomic_load_explicit(&h->resyncs, memory_order_relaxed);
	s.keys = atomic_load_explicit(&h->keys, memory_order_relaxed);
	s.synced = informer_handler_has_synced(h);
	shown = atomic_load_explicit(&h->shown_seq, memory_order_relaxed);
	s.lag_seq = newest > shown ? newest - shown : 0;
	pthread_mutex_lock(&h->inf->lock);
	ring = h->work ? h->work->feed.ring : NULL;
	s.subscribed = ring != NULL;
	if (ring) {
		s.waiting = atomic_load_explicit(&ring->queue->head, memory_order_relaxed) -
			    atomic_load_explicit(&ring->consumed, memory_order_relaxed);
		s.waiting = s.waiting > ring->capacity ? ring->capacity : s.waiting;
		/* changes in other resources or namespaces are no lag */
		if (s.synced && s.waiting == 0 && ring_is_open(ring) && !ring_has_news(ring))
			s.lag_seq = 0;
	}
	pthread_mutex_unlock(&h->inf->lock);
	s.size = stats->size;
	memcpy(stats, &s, stats->size < sizeof(s) ? stats->size : sizeof(s));
	return 0;
}
