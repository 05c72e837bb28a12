/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One WATCH: returns its next line, and when to ask again. It is pulled: it has no queue, no thread and no
 * timer, and holds no object while idle.
 *
 *   open -> initial -> (end mark) -> live -> END
 *        -> ERROR line -> END
 *
 * initial   an ADDED line for each selected object of a view, if the client gave no RV or 0, or asked for
 *           sendInitialEvents. The view is held until then; live begins at its position
 * live      the store's changes from that position on
 *
 * With selectors, a change into the selection is an ADDED. A change out of it is a DELETED with the previous
 * state and the new RV. If the previous state is needed and not known, the watch ends with 410.
 *
 * A server pulls until WAIT. Then it waits until the store has a change, at the latest until
 * api_watch_wait_until(). An idle watch costs only its struct.
 *
 * Threads   one at a time; different watches of a store as the store allows
 */
#ifndef TOOLS_SERVING_API_WATCH_H
#define TOOLS_SERVING_API_WATCH_H

#include "tools/serving/api_store.h"
#include "tools/serving/watch_line.h"

struct api_watch;

struct api_watch_options {
	uint64_t bookmark_ms; /* between two bookmarks; one more comes 2 s before the end */
	uint64_t timeout_ms;  /* if the client gives none */
	/*
	 * True: a lost position ends the watch with 410. False: the watch ends as if its time were up, and
	 * the client returns with its RV.
	 */
	bool tell_lost;
	/*
	 * The caller has sent the initial events from a view of this RV and position: continue after it. rv
	 * 0: no.
	 */
	uint64_t begun_rv;
	uint64_t begun_position;
};

/*
 * Open the watch that a request asks for. The RV of api_query_least_rv() must have been reached.
 *
 * query      its selectors are taken over, also on failure; the caller's are zeroed
 * ret_watch  free with api_watch_free()
 * Returns    0; also if the client's RV is too old: then an ERROR line follows, as upstream does
 *            -EAGAIN  the first list has not arrived; request->status is 429
 */
int api_watch_open(struct api_request *request, struct api_query *query, const struct api_store *store,
		   const struct api_watch_options *options, uint64_t now_ms, struct api_watch **ret_watch);
/* NULL is fine. */
void api_watch_free(struct api_watch *watch);

enum api_watch_said {
	API_WATCH_WAIT, /* nothing now */
	API_WATCH_LINE,
	API_WATCH_END, /* there will be no more */
};

/*
 * Get the next line. For a LINE, *ret_frame is set to a reference.
 *
 * Cost   a change already sent to a watch of the same form: no encoding, no copy. A change that is not
 *        selected: a look at its labels and fields.
 */
enum api_watch_said api_watch_next(struct api_watch *watch, uint64_t now_ms, struct api_frame **ret_frame);

/*
 * After WAIT: when to pull again without a change, for a bookmark or the end; 0: the view is not ready, pull
 * again after other requests.
 */
uint64_t api_watch_wait_until(const struct api_watch *watch);

/*
 * End the watch: first the fetched changes, then a bookmark if the client takes them and one is possible.
 * why  a literal
 */
void api_watch_end(struct api_watch *watch, const char *why);
/* End the watch with an ERROR line, which comes next. Takes over the status. */
void api_watch_fail(struct api_watch *watch, struct api_status *status);

#endif
