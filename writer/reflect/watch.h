/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WATCH: one stream of events from an RV on. Each whole event goes into the DeltaFIFO at once, with its RV.
 * A bookmark changes only the RV. An event that is cut off is ignored: the next watch, from the last RV,
 * gets it again.
 *
 * With params->initial_events it is a WatchList. The server first sends the state, as ADDED events, up to a
 * bookmark annotated `k8s.io/initial-events-end`. Until then events are staged (staging.h). At the mark one
 * Replace puts them into the FIFO with the mark's RV, and the stream continues as a WATCH. A stream that
 * ends before the mark changes nothing.
 *
 * A WATCH from RV "0" also begins with the state, without an end mark and in no order. So the RVs of its
 * ADDED events are ignored until another event or a bookmark comes (client-go's propagateRVFromStart). If it
 * ends before, there is no RV to resume from.
 *
 * Back-pressure: while the FIFO holds more than WATCH_QUEUE_MAX Deltas (the arena is full, or a list is
 * being applied) the stream is paused; watch_relax() resumes it.
 *
 * Source    client-go reflector.go, watchHandler
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_REFLECT_WATCH_H
#define WRITER_REFLECT_WATCH_H

#include "writer/reflect/resource_request.h"

#define WATCH_QUEUE_MAX 4096u
#define WATCH_TURN_EVENTS 64u /* in one turn of the loop, rounded up to a whole read */

struct watch;

struct watch_stats {
	uint64_t events, bookmarks;
	uint64_t heard_ms; /* time of the last event or bookmark; at first of the start */
	bool opened;       /* the server accepted it */
	bool bookmarked;   /* a bookmark came, other than the end mark */
	bool initial;      /* a WatchList before its end mark */
	bool paused;
};

/*
 * on_open    the server accepted the watch
 * on_heard   an event or a bookmark came
 * on_listed  a WatchList's state is complete and in the FIFO
 * on_end     called once, from the loop; watch_free() may be called inside it. `ended` is lent for the call.
 *            RESULT_UNSUPPORTED: the server refuses WatchLists, or takes one for a plain WATCH. RESULT_LOST:
 *            an event could not be stored; the RV is that of the event before it.
 * Returns    0, -EINVAL, -ENOMEM (then on_end is not called)
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
/* True if a WATCH can resume at version. "" and "0" cannot be resumed from. */
bool watch_can_resume(const char *version, size_t length);

/* May be called while the watch runs. NULL is fine. */
void watch_free(struct watch *watch);

/* The FIFO was popped: resume the stream if it is paused and the FIFO is short enough. */
void watch_relax(struct watch *watch);

/* items: objects of a WatchList's state */
const struct resource_request_progress *watch_progress(const struct watch *watch);
const struct watch_stats *watch_stats(const struct watch *watch);

#endif
