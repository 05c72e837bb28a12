/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport loop: libcurl's sockets and its timeout, watched by libuv. Used by transport.c and
 * transport_request.c alone.
 *
 * libcurl tells which sockets and which timeout it wants; libuv calls back when one is ready, and
 * curl_multi_socket_action() goes on between enter() and leave() of whoever owns the loop.
 */
#ifndef WRITER_KUBE_TRANSPORT_LOOP_H
#define WRITER_KUBE_TRANSPORT_LOOP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define TRANSPORT_LOOP_NONE UINT64_MAX

struct polled;

struct transport_loop {
	CURLM *multi;
	uv_loop_t *loop;
	uv_timer_t timeout;
	struct polled *polled;
	size_t n_handles; /* of libuv, not closed yet */
	bool closing;
	bool broke;
	unsigned long cuts; /* connections, since the beginning */
	uint64_t cut_ms;    /* when the last of them was cut */
	void (*enter)(void *owner);
	void (*leave)(void *owner);
	void (*gone)(void *owner); /* after transport_loop_close(): nothing of it is left */
	void *owner;
};

/* enter, leave, gone and owner are set before. Returns 0 or -ENOMEM. */
int transport_loop_init(struct transport_loop *loop, uv_loop_t *uv);

/* Let libcurl do what is due. Between enter and leave. */
void transport_loop_turn(struct transport_loop *loop);

/*
 * Whether memory was missing for a transfer since this was asked last. For which one is not known, so none
 * that is under way can be relied on.
 */
bool transport_loop_broke(struct transport_loop *loop);

/*
 * When of all connections in use the one that is silent for longest was heard, by uv_now();
 * TRANSPORT_LOOP_NONE: none is in use.
 */
uint64_t transport_loop_heard_ms(const struct transport_loop *loop);

/*
 * Shut down each connection in use that was last heard at `heard_ms` or before: libcurl finds it ended, and
 * what is under way on it fails.
 */
void transport_loop_cut(struct transport_loop *loop, uint64_t heard_ms);

/* Whether a connection was cut within the last second: then a transfer that fails is taken for one of it. */
bool transport_loop_was_cut(const struct transport_loop *loop);

/*
 * Close connections and handles; gone() is called from the loop's next run. All transfers are removed
 * before.
 */
void transport_loop_close(struct transport_loop *loop);

#endif
