/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIST: one whole list of a resource, page by page. Each item is decoded as its bytes arrive, and staged as
 * a draft. After the last page one Replace puts all items into the DeltaFIFO, together with the list's RV. A
 * list that fails, at whatever byte, discards its drafts and changes nothing.
 *
 * A page with a `continue` token is followed by a request with only limit and token. If the token has
 * expired (410), one full list without limit is asked for, at the RV of the first request. The list's RV is
 * that of its first page. A list without an RV, as some extension servers send, counts as one at RV "0".
 *
 * Memory: 8 private bytes an item until Replace; bodies stand in the arena.
 *
 * With keys_only the list adds and changes no object. Known objects that it lacks are deleted
 * (delta_fifo_bury_others()). This makes room for a list that does not fit into the arena.
 *
 * Source    client-go tools/pager, ListPager.List
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_REFLECT_LIST_H
#define WRITER_REFLECT_LIST_H

#include "writer/reflect/resource_request.h"

struct list;

/*
 * on_done    called once, from the loop; on RESULT_OK the FIFO has the list. list_free() may be called
 *            inside it. `ended` is lent for the call.
 * source     borrowed
 * version    RV to ask for: "", "0" or the last known RV
 * limit      items of a page; 0: no pages
 * keys_only  only delete known objects that the list lacks; list_progress() then counts deleted objects as
 *            items
 * Returns    0, -EINVAL, -ENOMEM (then on_done is not called)
 */
typedef void list_done_fn(void *context, const struct request_result *ended);
int list_start(const struct source *source, const char *version, unsigned limit, bool keys_only,
	       list_done_fn *on_done, void *context, struct list **ret_list);
/* May be called while the list runs: cancels it and discards staged items. NULL is fine. */
void list_free(struct list *list);

const struct resource_request_progress *list_progress(const struct list *list);

#endif
