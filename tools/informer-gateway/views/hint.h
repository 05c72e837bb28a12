/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hint: what a request selects, so that an index can narrow the search. A hint only narrows: the caller still
 * checks each object.
 *
 * Threads  any
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_HINT_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_HINT_H

#include "tools/serving/query.h"

/*
 * namespace_     NULL: all
 * name           metadata.name=; NULL: any
 * field, value   this field of the resource must have this value; value NULL: none
 * labels         the label selector's text; NULL: any
 * label          "key=value" that the label selector requires; NULL: none
 */
struct gw_hint {
	char *namespace_, *name, *value, *labels, *label;
	unsigned field;
};

/* namespace_: the request's, NULL: all. Free with gw_hint_done(). */
void gw_hint_init(struct gw_hint *hint, const char *namespace_, const struct api_query *query);
/* A zeroed one is fine. */
void gw_hint_done(struct gw_hint *hint);
bool gw_hint_equal(const struct gw_hint *a, const struct gw_hint *b);
/* Whether at most one object fits. A name alone is not enough in a namespaced resource. */
bool gw_hint_names_one(const struct gw_hint *hint, const struct api_resource *resource);

#endif
