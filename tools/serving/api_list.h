/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One LIST, as a stream of bytes out of one consistent view: head, items, tail, in the shape that was asked
 * for. No list is ever built as a whole, and no call takes long.
 *
 * Which RV is answered, and whether `limit` counts, follows the real server:
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
 * Open the list that a request asks for. The RV that api_query_least_rv() names must have been waited for.
 *
 * as_events  not a list, but the initial events of a watch: a line for each object, then, where the client
 *            takes bookmarks, the end mark. api_watch_options.begun_* go on behind it
 * query      borrowed until the list is closed
 * ret_list   close with api_list_close()
 * Returns    0, or with request->status
 *            -EINVAL  as upstream refuses it: 400, 410 with a token to go on, 504
 *            -EAGAIN  the first list is not in yet: 429
 */
int api_list_open(struct api_request *request, const struct api_query *query, const struct api_store *store,
		  bool as_events, struct api_list **ret_list);
/* NULL is fine. */
void api_list_close(struct api_list *list);

/*
 * The next bytes, in order.
 *
 * Returns  > 0      so many, at most max
 *          0        there are no more
 *          -EAGAIN  it looked at API_LIST_STRIDE objects, or its view is not ready, and there is nothing to
 *                   show for it yet: call again
 *          -EIO     what it reads was taken away: break the answer off, for it must not look whole
 */
#define API_LIST_STRIDE 256u
ssize_t api_list_read(struct api_list *list, char *out, size_t max);

/* The RV that it shows, and the position behind it of a list of now. */
uint64_t api_list_rv(const struct api_list *list);
uint64_t api_list_position(const struct api_list *list);

#endif
