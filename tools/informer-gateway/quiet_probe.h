/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quiet probe: a short watch from an RV on. Its bookmark says up to which RV it has told everything, so
 * that where nothing came before it, nothing has happened.
 *
 * An API server sends a bookmark each minute, and 2 s before a watch's end: one of 3 s has its bookmark after
 * about a second. It carries metadata alone.
 *
 * Source    apiserver pkg/storage/cacher, nextBookmarkTime()
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_QUIET_PROBE_H
#define TOOLS_INFORMER_GATEWAY_QUIET_PROBE_H

#include <stdint.h>

#include "tools/informer-gateway/upstream.h"

#define GW_QUIET_PROBE_S 3u

struct gw_quiet_probe;

struct gw_quiet_probe_callbacks {
	/* All changes up to the RV `upto` are told; the last of them is `last`, or where the probe began. */
	void (*quiet)(void *ctx, uint64_t upto, uint64_t last);
	/* It is over, for whatever reason; called once, and the last. */
	void (*ended)(void *ctx);
};

/*
 * path     of the collection, without a query
 * from     the RV after which it begins
 * Returns  NULL: it cannot be asked
 */
struct gw_quiet_probe *gw_quiet_probe_start(struct gw_upstream *upstream, const char *path, uint64_t from,
					    const struct gw_quiet_probe_callbacks *callbacks, void *ctx);
/* Nothing is called any more. From within quiet(), too. NULL is fine. */
void gw_quiet_probe_cancel(struct gw_quiet_probe *probe);

/* The number that an RV's text says; 0: it says none. */
uint64_t gw_rv_number(const char *text);

#endif
