/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How reviews get to the API server: by the gateway's own way (upstream.h).
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_UPSTREAM_REVIEWS_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_UPSTREAM_REVIEWS_H

#include "tools/informer-gateway/access/reviews.h"
#include "tools/informer-gateway/upstream/upstream.h"

/* The upstream is borrowed for as long as reviews are asked. */
struct gw_review_way gw_upstream_reviews(struct gw_upstream *upstream);

#endif
