/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource request is one LIST or WATCH, from its start to its end. It feeds the decoder, keeps an error's
 * body, measures, and reports once how the request ended.
 *
 * A stream may read one share of bytes in each turn of the loop. It is then paused until the next turn.
 * libcurl reads a socket as long as it has data. Without shares a large LIST, or a WATCH with a backlog,
 * would block all other requests for seconds.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_REFLECT_RESOURCE_REQUEST_H
#define WRITER_REFLECT_RESOURCE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/reflect/request_result.h"
#include "writer/reflect/source.h"

#define RESOURCE_REQUEST_TURN_BYTES (512u << 10) /* about two milliseconds of decoding */

struct resource_request_progress {
	uint64_t byte_ms; /* time of the last byte, or of the answer's begin */
	uint64_t bytes;
	uint64_t waited_ms;  /* until answers began */
	uint64_t decoded_ns; /* spent in decoding; the rest is transfer and other work of the loop */
	/* set by the owner, which also sets byte_ms at the start: */
	uint64_t started_ms; /* the first request */
	uint64_t items;
	uint64_t bad;      /* items or events that are left out */
	int64_t remaining; /* items, as the server estimates; -1: it does not say */
	unsigned pages;    /* complete ones; 0: the request has no pages */
};

/*
 * what     names the request in messages: "list"
 * cut      the message when a stream ends within a document; NULL: the message for unreadable data
 * on_open  the server accepted the request; may be NULL
 * on_end   called once, from the loop; the owner may begin the next request or call resource_request_done()
 *          inside it. `ended` is lent for the call. RESULT_OTHER_SYNTAX: repeat the request in JSON
 */
struct resource_request_owner {
	const char *what, *cut;
	void (*on_open)(void *owner);
	void (*on_end)(void *owner, struct request_result *ended);
};

struct resource_request {
	const struct source *source; /* borrowed, as are calls and owner */
	const struct resource_request_owner *calls;
	void *owner;
	uint64_t share;          /* for one turn; 0: RESOURCE_REQUEST_TURN_BYTES */
	const uint64_t *counted; /* the owner's counter that the share limits; NULL: bytes */

	struct resource_request_progress progress;
	struct decoder *decoder; /* NULL: the body of a success is not read */
	bool in_reserve; /* drafts may use the arena's reserve: they are small and discarded at once */
	/* private to resource_request.c: */
	void *handle;                  /* of the lister_watcher; NULL: no request runs */
	struct request_result stopped; /* why the owner stopped the request; RESULT_OK: it did not */
	uint64_t asked_ms, turn_ms, used;
	struct clock_timer rest;
	bool resting, held; /* paused until the next turn; until resource_request_release() */
	int status;         /* 0: no header yet */
	long retry_after_s;
	char content_type[64]; /* without parameters, cut to size */
	char *body;            /* of an error */
	size_t length;
};

/* Decode the answer; the decoder reports to the owner. 0 or -ENOMEM */
int resource_request_read(struct resource_request *q, enum decoder_mode mode,
			  const struct decoder_events *events);
/* Start the request. Sets params' `protobuf`. Returns 0, -EINVAL, -ENOMEM (then on_end is not called). */
int resource_request_ask(struct resource_request *q, const struct request_params *params);
/* Cancel the request if it runs, and free what it holds. A zeroed one is fine. */
void resource_request_done(struct resource_request *q);

/*
 * Call within a report of the decoder, and return the result from it: the request ends with this kind and
 * message.
 */
int resource_request_end(struct resource_request *q, enum request_result_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, with the status of an ERROR event in the stream. */
int resource_request_end_by(struct resource_request *q, const struct kube_status *status);

/* Pause the stream; release it again. */
void resource_request_hold(struct resource_request *q);
void resource_request_release(struct resource_request *q);

#endif
