/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many watchers at a gateway, or at upstream's API server itself, while pods change there: what that cost
 * whom, and how late each line was. The gateway follows the server in both cases.
 */
#ifndef TESTS_BENCH_GATEWAY_WATCHING_H
#define TESTS_BENCH_GATEWAY_WATCHING_H

#include "tests/bench/gateway_side.h"

enum place { AT_GATEWAY, AT_UPSTREAM, PLACES };

/* nodes: 0: each watches all pods; else watcher i those of node-(i % nodes). */
struct watching {
	unsigned watchers, nodes, rate;
	size_t changes;
};

/*
 * cpu_us     user and system time of each while the changes were made and told, and until all rest
 * made_s     how long the making took
 * lines      that came at all watchers; missing: that did not
 * lag        from when the writer was told that a change is stored until its line was whole at a client's
 *            socket; not below 0, ms
 * watcher_bytes  anonymous memory that a watcher added, before the changes
 * ended      watches that the server ended, or refused
 */
struct watched {
	double cpu_us[PLACES], informerd_us, made_s;
	double lines, missing, line_bytes;
	double lag_p50, lag_p99, lag_worst;
	double watcher_bytes;
	unsigned ended;
};

/* 0 or negative errno. */
int watch_changes(struct gateway_side *g, struct upstream *u, enum place at, const struct watching *w,
		  struct watched *ret);

/* A client's URL there, and the process that serves it. */
const char *place_url(const struct gateway_side *g, const struct upstream *u, enum place at);
pid_t place_pid(const struct gateway_side *g, const struct upstream *u, enum place at);

#endif
