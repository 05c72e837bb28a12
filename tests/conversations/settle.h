/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets what was sent arrive, in both directions, and lets both sides do what needs no time. Afterwards
 * nothing happens until time passes.
 *
 * Threads: the test's.
 */
#ifndef TESTS_CONVERSATIONS_SETTLE_H
#define TESTS_CONVERSATIONS_SETTLE_H

#include "tests/conversations/client.h"
#include "tests/conversations/played_server.h"

struct settling {
	uv_loop_t *loop;
	struct talk_server *server;
	struct talk_client **clients;
	size_t count;
	/*
	 * Zero at first:
	 * requests that the server saw beyond those that clients began, at the last rest: libcurl retries by
	 * itself
	 */
	int64_t surplus;
	uint64_t unheard;	/* requests that never reached the server, which was down */
};

/* Returns 0, or -ETIMEDOUT: the test itself is at fault. */
int settle(struct settling *s);

#endif
