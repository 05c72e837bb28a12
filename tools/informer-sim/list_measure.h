/* SPDX-License-Identifier: Apache-2.0 */
/* What a list will be, told ahead of it. */
#ifndef TOOLS_INFORMER_SIM_LIST_MEASURE_H
#define TOOLS_INFORMER_SIM_LIST_MEASURE_H

#include "tools/serving/api_list.h"

/*
 * Walk it once without giving bytes: how many items and bytes api_list_read() will give. Before the first
 * read. Tables have no size before they are written: 0. Takes as long as reading all of it.
 *
 * ret_bytes  NULL: nobody asks
 */
void sim_list_measure(struct api_list *list, uint64_t *ret_items, uint64_t *ret_bytes);

/* The token for the next page, once it was measured; NULL: this is the last. */
const char *sim_list_token(const struct api_list *list);

/* Does the watch cache answer it (and `limit` not count)? Upstream's such answers come in chunks. */
bool sim_list_is_cached(const struct api_query *query);

#endif
