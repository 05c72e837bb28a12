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
 * label          "key=value" that each object must have by it; NULL: it names none
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
/* Whether no more than one object fits: a name does not say which one where there are namespaces. */
bool gw_hint_names_one(const struct gw_hint *hint, const struct api_resource *resource);

#endif
