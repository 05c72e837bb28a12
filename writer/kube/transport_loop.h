/*
 * Transport loop: libcurl's sockets and its timeout, watched by libuv. Used by transport.c alone.
 *
 * libcurl tells which sockets and which timeout it wants; libuv calls back when one is ready, and
 * curl_multi_socket_action() goes on between enter() and leave() of whoever owns the loop.
 */
#ifndef INFORMER_WRITER_KUBE_TRANSPORT_LOOP_H
#define INFORMER_WRITER_KUBE_TRANSPORT_LOOP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct watched;

struct transport_loop {
	CURLM *multi;
	uv_loop_t *loop;
	uv_timer_t timeout;
	struct watched *watched;
	size_t n_handles; /* of libuv, not closed yet */
	bool closing;
	void (*enter)(void *owner);
	void (*leave)(void *owner);
	void (*gone)(void *owner); /* after transport_loop_close(): nothing of it is left */
	void *owner;
};

/* enter, leave, gone and owner are set before. Returns 0 or -ENOMEM. */
int transport_loop_init(struct transport_loop *loop, uv_loop_t *uv);

/* Let libcurl do what is due. Between enter and leave. */
void transport_loop_turn(struct transport_loop *loop);

/* Close connections and handles; gone() is called from the loop's next run. All transfers are removed before. */
void transport_loop_close(struct transport_loop *loop);

#endif
