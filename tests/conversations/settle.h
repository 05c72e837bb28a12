/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settling: let what is on its way arrive, in both directions, and everybody do what can be done without time
 * passing. Afterwards nothing happens by itself.
 *
 * Threads: the test's one.
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
	/* zeroed at first */
	/*
	 * requests that the server saw more than clients have begun, when all was at rest: libcurl asks
	 * again, itself …
	 */
	int64_t surplus;
	uint64_t unheard;	/* … and those that a server that was down never saw */
};

/* Returns 0, or -ETIMEDOUT: a fault of the test's own. */
int settle(struct settling *s);

#endif
