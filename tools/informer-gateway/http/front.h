/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Front: the state that all listeners share: the loop, connection limits, counters, the hook for finished
 * requests, and the drain.
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
	/* called once for each finished request, answered or not (x->code 0); for audit lines; or NULL */
	void (*over)(struct gw_exchange *x, void *ctx);
	void *ctx;
	struct api_share *bodies;  /* memory of request bodies in progress; NULL: 64 MiB */
	double goaway_chance;      /* probability that an answer closes its connection, 0 to 1 */
	double (*draw)(void *ctx); /* returns a number in [0, 1) for each answer; NULL: at random */
};

/* For metrics and tests: totals, and current numbers. */
struct gw_front_counters {
	uint64_t accepted;
	uint64_t refused_in_all; /* connections beyond the limits */
	uint64_t refused_of_one;
	uint64_t slow;      /* requests that did not arrive in time */
	uint64_t malformed; /* refused before the handler was called */
	uint64_t requests;
	uint64_t gone; /* clients that left before their answer was sent */
	unsigned connections;
	unsigned exchanges;      /* requests in progress */
	unsigned streams;	 /* of these: streams */
};

/*
 * Called once for each well-formed request: at its headers if it has a body, else when it is complete. It
 * answers now or later; see exchange.h.
 */
typedef void gw_handler(struct gw_exchange *x, void *ctx);

/* Options of a listener (listener.h). */
struct gw_listener_options {
	const char *name;	/* in messages and metrics */
	const char *address;	/* "127.0.0.1:6443", "unix:/run/informer/gateway.sock"; or NULL: */
	int fd;                 /* a listening socket of inherited.h; the listener takes it */
	mode_t mode;		/* of a Unix socket's file; 0: 0660 */
	bool loopback;          /* this machine only: refuses other addresses and Hosts (loopback.h) */

	const char *tls_cert;	/* paths of PEM files; NULL: no TLS */
	const char *tls_key;
	const char *client_ca; /* verifies client certificates; NULL: none is asked for */
	bool client_required;  /* the handshake fails without one; else it is optional, but verified */

	unsigned header_seconds; /* for a request to arrive completely; 0: 10 */
	/* between requests, and for a client to read any byte of an answer; 0: 120 */
	unsigned idle_seconds;
	size_t body_bytes; /* longest request body; 0: 3 MiB */

	void *profile; /* the creator's own data */
};

struct gw_front *gw_front_new(uv_loop_t *loop, const struct gw_front_options *options);
/* Call after all listeners are closed. NULL is fine; the memory is freed in the loop's next run. */
void gw_front_free(struct gw_front *front);

uv_loop_t *gw_front_loop(const struct gw_front *front);
const struct gw_front_counters *gw_front_counters(const struct gw_front *front);

/* Whether a drain has begun; see drain.h. */
bool gw_front_draining(const struct gw_front *front);

#endif
