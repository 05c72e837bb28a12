/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WATCH: one stream of events from an RV on. Each whole event goes into the DeltaFIFO at once, with its RV; a
 * bookmark moves the RV and nothing else. What is cut off in the middle of an event was not heard: the next
 * watch, from the last RV, hears it again.
 *
 * With params->initial_events it is a WatchList: the server first sends the state, as ADDED events, up to a
 * bookmark that is annotated `k8s.io/initial-events-end`. Until then events are staged (staging.h); at the
 * mark one Replace puts them into the FIFO, with the mark's RV, and the same stream goes on as a WATCH. One
 * that ends before the mark changes nothing.
 *
 * A WATCH from RV "0" begins with the state, too, with nothing to say where that ends, and in no order: the
 * RVs of its ADDED events are not taken over until another event or a bookmark came (client-go's
 * propagateRVFromStart). One that ends before leaves no RV from which to go on.
 *
 * Back-pressure: while the FIFO holds more than WATCH_QUEUE_MAX Deltas (the arena is full, or a list is being
 * applied) the stream is paused; watch_relax() lets it go on.
 *
 * Source    client-go reflector.go, watchHandler
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_REFLECT_WATCH_H
#define WRITER_REFLECT_WATCH_H

#include "writer/reflect/resource_request.h"

#define WATCH_QUEUE_MAX 4096u
#define WATCH_TURN_EVENTS 64u	/* in one turn of the loop, rounded up to what one read brings */

struct watch;

struct watch_stats {
	uint64_t events, bookmarks;
	uint64_t heard_ms; /* the last event or bookmark; at first when it was started */
	bool opened;       /* the server accepted it */
	bool bookmarked;   /* a bookmark came that is not the end mark */
	bool initial;      /* a WatchList before its end mark */
	bool paused;
};

/*
 * on_open   the server accepted the watch
 * on_heard  an event came, or a bookmark
 * on_listed a WatchList's state is whole and in the FIFO
 * on_end    called once, from the loop; watch_free() may be called inside it. `ended` is lent for the call.
 *           RESULT_UNSUPPORTED: the server refuses WatchLists, or takes one for a plain WATCH;
 *           RESULT_LOST: an event came that could not be kept; the RV stands before it
 * Returns   0, -EINVAL, -ENOMEM (then on_end is not called)
 */
struct watch_events {
	void (*on_open)(void *context);
	void (*on_heard)(void *context, bool bookmark);
	void (*on_listed)(void *context);
	void (*on_end)(void *context, const struct request_result *ended);
};
/* source and events are borrowed. */
int watch_start(const struct source *source, const struct request_params *params,
		const struct watch_events *events, void *context, struct watch **ret_watch);
/* Whether a WATCH from this RV goes on from there: "" and "0" are none of those. */
bool watch_can_resume(const char *version, size_t length);

/* Also while it runs. NULL is fine. */
void watch_free(struct watch *watch);

/* The FIFO was popped from: go on if that is what was waited for. */
void watch_relax(struct watch *watch);

/* items: objects of a WatchList's state */
const struct resource_request_progress *watch_progress(const struct watch *watch);
const struct watch_stats *watch_stats(const struct watch *watch);

#endif
