/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport loop: libuv watches libcurl's sockets and timeout. Only transport.c and transport_request.c
 * use it.
 *
 * libcurl names the sockets and the timeout; libuv calls back when one is ready. Then the loop calls
 * curl_multi_socket_action() between its owner's enter() and leave().
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
	size_t n_handles; /* libuv handles that are not closed yet */
	bool closing;
	bool broke;
	unsigned long cuts; /* connections cut since the start */
	uint64_t cut_ms;    /* when the last one was cut */
	void (*enter)(void *owner);
	void (*leave)(void *owner);
	void (*gone)(void *owner); /* after transport_loop_close(): everything is closed */
	void *owner;
};

/* The caller has set enter, leave, gone and owner. Returns 0 or -ENOMEM. */
int transport_loop_init(struct transport_loop *loop, uv_loop_t *uv);

/* Let libcurl do what is due. Called between enter and leave. */
void transport_loop_turn(struct transport_loop *loop);

/*
 * Whether memory was missing for a transfer since the last call. Which transfer is unknown, so no transfer
 * under way can be relied on.
 */
bool transport_loop_broke(struct transport_loop *loop);

/*
 * When (uv_now()) the longest silent connection in use was last heard. TRANSPORT_LOOP_NONE: none is in use.
 */
uint64_t transport_loop_heard_ms(const struct transport_loop *loop);

/*
 * Shut down each connection in use that was last heard at `heard_ms` or before. libcurl finds it ended, and
 * its requests fail.
 */
void transport_loop_cut(struct transport_loop *loop, uint64_t heard_ms);

/* Whether a connection was cut within the last second: a failed transfer is then attributed to that. */
bool transport_loop_was_cut(const struct transport_loop *loop);

/* Close connections and handles; the loop's next run calls gone(). The caller has removed all transfers. */
void transport_loop_close(struct transport_loop *loop);

#endif
