/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a client's side of one connection to the gateway, through the real listener, exchanges and
 * routes, over a source in memory. Each answer is HTTP, and nothing is left when the client has gone.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/fuzz/fuzz.h"
#include "tests/tools/informer-gateway/memory_source.h"
#include "tools/informer-gateway/http/front.h"
#include "tools/informer-gateway/answer/router.h"
#include "tools/informer-gateway/http/listener.h"

#define QUIET 12 /* turns without a byte */

static uv_loop_t loop;
static struct memory memory;
static struct gw_front *front;
static struct gw_router *router;
static struct gw_listener *listener;
static struct sockaddr_un place = {.sun_family = AF_UNIX}; /* where it listens */
static socklen_t place_len = sizeof(place);

static void
allow(void *ctx, struct gw_exchange *x, gw_next *next)
{
	(void)ctx;
	next(x);
}

static void
set_up(void)
{
	static struct api_share lists = {.most = (size_t)256 << 20};
	struct gw_router_options options = {
		.hooks = {.check = allow}, .node = "n1", .await_ms = 1, .bookmark_ms = 1, .lists = &lists};
	struct gw_listener_options here = {.name = "fuzz", .body_bytes = 4096, .header_seconds = 1};
	char *error = NULL;

	memory_init(&memory);
	memory_put(&memory, "a", "n1", 0);
	memory_put(&memory, "b", "n2", 200);
	must(uv_loop_init(&loop) == 0);
	front = gw_front_new(&loop, &(struct gw_front_options){0});
	options.source = memory.source;
	router = gw_router_new(front, &options);
	/* the kernel gives it a name */
	here.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	must(here.fd >= 0 && bind(here.fd, (struct sockaddr *)&place, sizeof(place.sun_family)) == 0);
	must(listen(here.fd, 1) == 0 && getsockname(here.fd, (struct sockaddr *)&place, &place_len) == 0);
	must(gw_listener_open(front, &here, gw_router_handle, router, &listener, &error) == 0);
}

/* Take what has come. Returns 1 if any came. The first bytes of all are kept. */
static int
take(int fd, char head[8], size_t *head_len)
{
	char block[65536];
	ssize_t n = recv(fd, block, sizeof(block), MSG_DONTWAIT);

	for (ssize_t i = 0; i < n && *head_len < 8; i++)
		head[(*head_len)++] = block[i];
	return n > 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gw_front_counters *n;
	char head[8] = "";
	size_t head_len = 0;
	int fd, turns;

	if (!listener)
		set_up();
	n = gw_front_counters(front);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fd >= 0 && connect(fd, (struct sockaddr *)&place, place_len) == 0);
	if (size > 0)
		must(send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0);
	for (turns = 0; turns < QUIET; turns++) {
		uv_run(&loop, UV_RUN_NOWAIT);
		if (take(fd, head, &head_len))
			turns = 0;
		/* a watch hears of this, within bounds */
		if (turns == QUIET / 2 && memory.world->count < 64)
			memory_put(&memory, "a", "n1", 0);
	}
	must(head_len < 7 || !memcmp(head, "HTTP/1.", 7));
	close(fd);
	for (turns = 0; turns < 1000 && n->connections > 0; turns++)
		uv_run(&loop, UV_RUN_NOWAIT);
	must(n->connections == 0 && n->exchanges == 0 && n->streams == 0);
	must(gw_router_counters(router)->watching == 0);
	return 0;
}
