/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One LIST as a stream of bytes from one consistent view: head, items, tail, in the requested shape. The list
 * is never in memory as a whole, and each call is short.
 *
 * The RV and the effect of `limit` follow the real server:
 *
 *   resourceVersion  match        the state      limit
 *   (none)                        now            counts
 *   0                             now            ignored: the watch cache answers
 *   N                             not before N   counts: then the state is exactly N's
 *   N                Exact        exactly N      counts
 *   N                NotOlderThan not before N   counts
 *   continue                      the token's    counts, but not together with RV 0
 *
 * Threads   one at a time
 */
#ifndef TOOLS_SERVING_API_LIST_H
#define TOOLS_SERVING_API_LIST_H

#include <sys/types.h>

#include "tools/serving/api_store.h"
#include "tools/serving/api_request.h"

struct api_list;

/*
 * Open the list that a request asks for. The RV of api_query_least_rv() must have been reached.
 *
 * as_events  make a watch's initial events: a line for each object, then, if the client takes bookmarks, the
 *            end mark. A watch with api_watch_options.begun_* continues after it
 * query      borrowed until the list is closed
 * ret_list   close with api_list_close()
 * Returns    0, or with request->status
 *            -EINVAL  refused as upstream does: 400, 410 with a token to continue, 504
 *            -EAGAIN  the first list has not arrived: 429
 */
int api_list_open(struct api_request *request, const struct api_query *query, const struct api_store *store,
		  bool as_events, struct api_list **ret_list);
/* NULL is fine. */
void api_list_close(struct api_list *list);

/*
 * Read the next bytes.
 *
 * Returns  > 0      their number, at most max
 *          0        the end
 *          -EAGAIN  no bytes yet: API_LIST_STRIDE objects were looked at, or the view is not ready; call
 *                   again
 *          -EIO     the view was revoked: cut the answer, so that it does not look complete
 */
#define API_LIST_STRIDE 256u
ssize_t api_list_read(struct api_list *list, char *out, size_t max);

/* The RV of the list, and, for a list of now, the position after it. */
uint64_t api_list_rv(const struct api_list *list);
uint64_t api_list_position(const struct api_list *list);

#endif
