/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Misses: a GET by name of what the arena does not have. It may be a moment old (rsyslog asks for a pod
 * with its first line, and keeps a 404 for an hour), so the arena is waited for, and then upstream is
 * asked, once for all who want the same with the same right.
 *
 *	0 ms ── the arena is waited for ──▶ 100 ms ── GET upstream ──▶ 200 ──▶ the arena again, until 1 s
 *	──▶ upstream's
 *	                                                          └─▶ 404, 403, 401: no, for the next
 *	                                                          second, too
 *
 * As many a second are asked as `rate` says. Where upstream does not answer, or the rate is through, it is
 * not known whether there is such an object: that is GW_MISS_LATER (429), for a 404 would be a lie.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_MISSES_H
#define TOOLS_INFORMER_GATEWAY_MISSES_H

#include <stdbool.h>

#include "tools/informer-gateway/upstream.h"
#include "tools/serving/served_resource.h"

#define GW_MISS_PATIENCE_MS 100u
#define GW_MISS_ARENA_MS 1000u	 /* from the beginning */
#define GW_MISS_ANSWER_MS 5000u	 /* for upstream's answer */
#define GW_MISS_REMEMBER_MS 1000u
#define GW_MISSES_MAX 1024u	 /* different ones at once */

enum gw_miss {
	GW_MISS_THERE,	 /* the arena has it by now */
	GW_MISS_FOUND,	 /* upstream has it: its JSON */
	GW_MISS_ABSENT,	 /* upstream has none, either */
	GW_MISS_REFUSED, /* upstream refuses, with this code */
	GW_MISS_LATER,
};

struct gw_misses_options {
	unsigned rate; /* a second; 0: 20. Twice as many at once */
	/* whether the arena has an object; called at any time */
	bool (*has)(void *ctx, const struct api_resource *resource, const char *namespace_, const char *name);
	void *ctx;
};

struct gw_misses;
struct gw_miss_wait;

struct gw_misses *gw_misses_new(struct gw_upstream *upstream, const struct gw_misses_options *options);
/* Who waits hears nothing. Not from a callback. NULL is fine. */
void gw_misses_free(struct gw_misses *misses);

/* Called once, from the loop. code: GW_MISS_REFUSED; json: GW_MISS_FOUND, terminated, lent for the call. */
typedef void gw_miss_fn(void *ctx, enum gw_miss result, int code, const char *json, size_t length);

/*
 * namespace_  NULL: it has none
 * bearer      the caller's, with which alone upstream is asked; NULL: the listener knows no bearers, and
 *             what may be seen there is its scope: asked with our credentials
 * Returns     what gw_miss_cancel() takes, until `done` is called, which is not from in here
 */
struct gw_miss_wait *gw_miss_ask(struct gw_misses *misses, const struct api_resource *resource,
				 const char *namespace_, const char *name, const char *bearer,
				 gw_miss_fn *done, void *ctx);
/* NULL is fine. */
void gw_miss_cancel(struct gw_miss_wait *wait);

/* The arena has something new of a resource. */
void gw_misses_changed(struct gw_misses *misses, const struct api_resource *resource);

struct gw_misses_counters {
	uint64_t waits, questions, found_in_arena, later;
};
const struct gw_misses_counters *gw_misses_counters(const struct gw_misses *misses);

#endif
