/* SPDX-License-Identifier: Apache-2.0 */
/* List measure: computes a list's size before it is sent. */
#ifndef TOOLS_INFORMER_SIM_LIST_MEASURE_H
#define TOOLS_INFORMER_SIM_LIST_MEASURE_H

#include "tools/serving/api_list.h"

/*
 * Count the items and bytes that api_list_read() will return. Call before the first read. Tables have no
 * known size: 0. Takes as long as reading everything.
 *
 * ret_bytes  may be NULL
 */
void sim_list_measure(struct api_list *list, uint64_t *ret_items, uint64_t *ret_bytes);

/* The token for the next page, after measuring; NULL: this is the last page. */
const char *sim_list_token(const struct api_list *list);

/* Whether upstream's watch cache would answer (and ignore `limit`). Upstream sends such answers in chunks. */
bool sim_list_is_cached(const struct api_query *query);

#endif
