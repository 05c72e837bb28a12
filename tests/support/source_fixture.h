/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One resource, pods, between a scripted API server and a real store. A Reflector works with it without
 * network and without waiting.
 *
 * The server keeps a diary of the requests: "LIST rv=0 limit=500; WATCH rv=10; " or "WATCHLIST rv=\"\"; ".
 * The test answers the pending one. "LIST protobuf …" is a request for protobuf.
 */
#ifndef TESTS_SUPPORT_SOURCE_FIXTURE_H
#define TESTS_SUPPORT_SOURCE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/support/store_fixture.h"
#include "tests/support/virtual_clock.h"
#include "writer/reflect/source.h"
#include "writer/fifo/apply.h"

#define SCRIPTED_REQUESTS 64

struct scripted_request {
	struct source_fixture *fixture;
	bool watch, open, cancelled, paused, fresh;
	unsigned timeout_s;
	const struct transport_callbacks *callbacks;
	void *ctx;
};

struct source_fixture {
	struct store_fixture *store;
	struct virtual_clock clock;
	struct delta_fifo *fifo;
	struct applier *applier;
	struct lister_watcher lister_watcher;
	struct source source;

	struct scripted_request requests[SCRIPTED_REQUESTS];
	size_t request_count;
	char diary[4096];
	int refuse;			/* the result of the next list() or watch(), in place of a request */
	unsigned contacts;		/* calls of on_contact */
};

/* max_bytes: of the arena; 0: 1 GiB. Aborts on failure. */
struct source_fixture *source_fixture_new(uint64_t max_bytes);
void source_fixture_free(struct source_fixture *fx);

/* The diary since the last call. */
const char *diary(struct source_fixture *fx);

/*
 * Answer the request that was made last and is still open (server_* fail the test when there is none).
 *
 * server_answer  status and a whole body
 * server_open    the header: 200
 * server_send    bytes of the body, as they come; a stream that refuses them is ended with what it answered
 * server_open_with   the same, with a status and a Content-Type
 * server_send_bytes  bytes of any kind; false: the stream is over
 * server_end     the end of the stream, in good order (0) or not
 */
void server_answer(struct source_fixture *fx, int status, const char *body);
void server_open(struct source_fixture *fx);
void server_open_with(struct source_fixture *fx, int status, const char *content_type);
bool server_send_bytes(struct source_fixture *fx, const void *data, size_t length);
void server_send(struct source_fixture *fx, const char *format, ...) __attribute__((format(printf, 2, 3)));
void server_end(struct source_fixture *fx, int result);
bool server_has_request(struct source_fixture *fx);
struct scripted_request *server_request(struct source_fixture *fx);

/* A pod "ns/name" at an RV, as JSON, in one of 8 static buffers; the name gives the uid. */
const char *pod(const char *key, unsigned version);

/* The body of a list of pods, NULL-terminated: pod_list("10", "next-page" or NULL, pod(…), pod(…), NULL). */
const char *pod_list(const char *version, const char *continue_token, ...);

/* The published pods by name, after the RV: "[10] a/x@5 a/y@7 "; "[-] " before the list is complete. */
const char *published(struct source_fixture *fx);

#endif
