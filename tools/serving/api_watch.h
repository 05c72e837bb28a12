/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One WATCH, from its request to its end: what comes next, and when to look again. It is pulled: nothing is
 * queued for it, no thread and no timer belong to it, and while it is idle it holds no object.
 *
 *   open -> initial -> (end mark) -> live -> END
 *        -> ERROR line -> END
 *
 * initial   an ADDED for every selected object of a view, where the client gave no RV or 0, or asked for
 *           sendInitialEvents; the position belongs to that view, which is held until then
 * live      the store's changes from that position on
 *
 * With selectors a change may cross the selection: into it is an ADDED, out of it a DELETED that shows the
 * state before with the new RV. A state that a client cannot have been told of in full is never made up:
 * where the one before is not known and matters, the watch ends with 410.
 *
 * A server pulls until WAIT, then waits for the store to have something, and no longer than
 * api_watch_wait_until(). Five thousand idle watches cost their structs.
 *
 * Threads   one at a time; different watches of a store as the store allows
 */
#ifndef TOOLS_SERVING_API_WATCH_H
#define TOOLS_SERVING_API_WATCH_H

#include "tools/serving/api_store.h"
#include "tools/serving/watch_line.h"

struct api_watch;

struct api_watch_options {
	uint64_t bookmark_ms; /* between two bookmarks; another comes 2 s before the end */
	uint64_t timeout_ms;  /* where the client gave none */
	/*
	 * A place in the history that is gone is told as 410, else the watch ends as if its time were up, and
	 * the client comes back with its RV.
	 */
	bool tell_lost;
	/*
	 * The initial events were sent by somebody else, who had them from a view of this RV and position:
	 * go on behind it. rv 0: no.
	 */
	uint64_t begun_rv;
	uint64_t begun_position;
};

/*
 * Open the watch that a request asks for. The RV that api_query_least_rv() names must have been waited for.
 *
 * query      its selectors are taken over, also on failure; done and zeroed for the caller
 * ret_watch  free with api_watch_free()
 * Returns    0; also where the client's RV is too old: then an ERROR line comes, as upstream tells it
 *            -EAGAIN  the first list is not in yet; request->status is 429
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
 * The next line, ready to be sent; *ret_frame is set for a LINE, with a reference.
 *
 * Cost   of a change that somebody has watched in this form: no encoding and no copy. One that is not
 * selected costs a look at its labels and fields.
 */
enum api_watch_said api_watch_next(struct api_watch *watch, uint64_t now_ms, struct api_frame **ret_frame);

/*
 * After WAIT: when to pull again though the store has nothing new, for a bookmark or the end; 0: the view is
 * not ready, pull again when others had their turn.
 */
uint64_t api_watch_wait_until(const struct api_watch *watch);

/*
 * End it: what it has in hand comes first, then a bookmark, where the client takes them and one can be given.
 * why  a literal
 */
void api_watch_end(struct api_watch *watch, const char *why);
/* End it by an ERROR line, which comes next. The status is taken over. */
void api_watch_fail(struct api_watch *watch, struct api_status *status);

#endif
