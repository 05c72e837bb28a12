/* SPDX-License-Identifier: Apache-2.0 */
/* Counts every list; a list counts itself only if its head needs that. */
#include "tools/informer-sim/list_measure.h"

#include <errno.h>

#include "tools/serving/api_list_private.h"

void
sim_list_measure(struct api_list *list, uint64_t *ret_items, uint64_t *ret_bytes)
{
	bool sizable = list->form.shape.kind != API_TABLE;

	list->sizing |= ret_bytes && sizable;
	list->phase = COUNTING;
	while (list_count(list, API_LIST_STRIDE) == -EAGAIN)
		;
	*ret_items = list->items;
	if (!ret_bytes)
		return;
	*ret_bytes = sizable ? list->bytes : 0;
	if (!sizable)
		return;
	list_make_head(list);
	*ret_bytes += list->own.len;
	list_make_tail(list);
	*ret_bytes += list->own.len;
}

const char *
sim_list_token(const struct api_list *list)
{
	return list->token.len ? list->token.data : NULL;
}

bool
sim_list_is_cached(const struct api_query *query)
{
	return (query->rv_given && query->rv == 0) ||
	       (query->rv && !query->limit && query->match != API_MATCH_EXACT);
}
