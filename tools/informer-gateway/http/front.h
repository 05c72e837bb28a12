/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Front: what all listeners share: the loop, who may connect how often, counters, who is told of requests
 * that are over, and the end of all (drain).
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_FRONT_H
#define TOOLS_INFORMER_GATEWAY_HTTP_FRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <uv.h>

#include "tools/serving/budget.h"

struct gw_front;
struct gw_exchange;

struct gw_front_options {
	unsigned connections;	    /* in all; 0: 10,000 */
	unsigned connections_of_one; /* of one uid or address; 0: as many as in all */
	/* told once of each request that is over, answered or not (x->code 0); for audit lines; or NULL */
	void (*over)(struct gw_exchange *x, void *ctx);
	void *ctx;
	struct api_share *bodies;  /* of requests, while they are under way; NULL: 64 MiB */
	double goaway_chance;      /* that an answer closes its connection: 0 never, 1 always */
	double (*draw)(void *ctx); /* a number from 0 to below 1 for each answer; NULL: at random */
};

/* For metrics and tests: what there is now, and what has been. */
struct gw_front_counters {
	uint64_t accepted;
	uint64_t refused_in_all; /* connections beyond the limits */
	uint64_t refused_of_one;
	uint64_t slow;		 /* requests that were not whole in time */
	uint64_t malformed;	 /* refused before a handler saw them */
	uint64_t requests;
	uint64_t gone;		 /* clients that went before their answer was through */
	unsigned connections;
	unsigned exchanges;	 /* requests under way */
	unsigned streams;	 /* of these: streams */
};

/* Called once for each request, when it is complete. It answers now or later; see exchange.h. */
typedef void gw_handler(struct gw_exchange *x, void *ctx);

/* Of a listener (listener.h). */
struct gw_listener_options {
	const char *name;	/* in messages and metrics */
	const char *address;	/* "127.0.0.1:6443", "unix:/run/informer/gateway.sock"; or NULL: */
	int fd;                 /* a listening socket of inherited.h; the listener takes it */
	mode_t mode;		/* of a Unix socket's file; 0: 0660 */
	bool loopback;		/* for this machine alone: another socket or Host is refused (loopback.h) */

	const char *tls_cert;	/* paths of PEM files; NULL: no TLS */
	const char *tls_key;
	const char *client_ca;	/* client certificates are verified against it; NULL: none is asked for */
	bool client_required;	/* no handshake without one; else one that is shown must be good */

	unsigned header_seconds;	/* for a request to be whole; 0: 10 */
	/* between requests, and for a client to take any byte of an answer; 0: 120 */
	unsigned idle_seconds;
	size_t body_bytes; /* longest request body; 0: 3 MiB */

	void *profile;		/* whose maker's it is */
};

struct gw_front *gw_front_new(uv_loop_t *loop, const struct gw_front_options *options);
/* After all listeners were closed. NULL is fine; memory goes with the loop's next run. */
void gw_front_free(struct gw_front *front);

uv_loop_t *gw_front_loop(const struct gw_front *front);
const struct gw_front_counters *gw_front_counters(const struct gw_front *front);

/* Whether all is coming to an end; see drain.h. */
bool gw_front_draining(const struct gw_front *front);

#endif
