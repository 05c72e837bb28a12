/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIST: one whole list of a resource, page by page, each item decoded as its bytes arrive and staged as a
 * draft; when the last page is in, one Replace puts everything into the DeltaFIFO, together with the list's
 * RV. A list that fails, at whatever byte, takes its drafts back and changes nothing.
 *
 * A page that says `continue` is followed by a request with limit and token only. When the token has become
 * too old (410), one full list without limit is asked for, at the RV of the first request. The whole list has
 * its first page's RV; a list without one, as some extension servers send, counts as one at RV "0".
 *
 * Memory: 8 private bytes an item until Replace; bodies stand in the arena.
 *
 * Source    client-go tools/pager, ListPager.List
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_REFLECT_LIST_H
#define WRITER_REFLECT_LIST_H

#include "writer/reflect/source.h"
#include "writer/reflect/request_result.h"

struct list;

struct list_progress {
	uint64_t items, bytes;
	uint64_t bad_items;	/* well-formed, and no object that can be kept: left out */
	int64_t remaining;	/* as the server estimates; -1: it does not say */
	unsigned pages;		/* answers that were read to their end */
	uint64_t started_ms;
	uint64_t waited_ms;	/* of that, for answers to begin */
	uint64_t decoded_ns;	/* and with decoding; the rest is the transfer, and other work of the loop */
};

/*
 * on_done   called once, from the loop; on RESULT_OK the FIFO has the list. list_free() may be called inside
 *           it. `ended` is lent for the call.
 * params    resource_version "", "0" or what was seen last; limit 0: no pages; the rest is ignored
 * Returns   0, -EINVAL, -ENOMEM (then on_done is not called)
 */
typedef void list_done_fn(void *context, struct list *list, const struct request_result *ended);
int list_start(const struct source *source, const struct list_params *params, list_done_fn *on_done,
	       void *context, struct list **ret_list);
/* Also while it runs: cancels, discards what is staged. NULL is fine. */
void list_free(struct list *list);

void list_get_progress(const struct list *list, struct list_progress *ret);

#endif
