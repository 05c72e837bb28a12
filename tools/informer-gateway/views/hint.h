/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request says it wants, so that not everything need be looked at. A hint only narrows: whoever asked
 * looks at each object himself.
 *
 * Threads  any
 */
#ifndef TOOLS_INFORMER_GATEWAY_VIEWS_HINT_H
#define TOOLS_INFORMER_GATEWAY_VIEWS_HINT_H

#include "tools/serving/query.h"

/*
 * namespace_     NULL: all
 * name           metadata.name=; NULL: any
 * field, value   one of the resource's fields must have this value; value NULL: none is asked for
 * labels         a label selector, as a text; NULL: any
 */
struct gw_hint {
	char *namespace_, *name, *value, *labels;
	unsigned field;
};

/* namespace_: the request's, NULL: all. Free with gw_hint_done(). */
void gw_hint_init(struct gw_hint *hint, const char *namespace_, const struct api_query *query);
/* A zeroed one is fine. */
void gw_hint_done(struct gw_hint *hint);
void gw_hint_copy(struct gw_hint *hint, const struct gw_hint *from);
bool gw_hint_equal(const struct gw_hint *a, const struct gw_hint *b);

#endif
