/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource request: one LIST or WATCH under way, from the question to its end. It feeds the decoder, keeps an
 * error's body, measures, and says once how the request ended.
 *
 * A stream may bring one share in each turn of the loop. libcurl reads a socket for as long as there is
 * something to read, so a large LIST, or a WATCH that catches up, would hold up all others for seconds. A
 * stream that has had its share is paused until the next turn.
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
	uint64_t byte_ms; /* when the last byte came, or the answer began */
	uint64_t bytes;
	uint64_t waited_ms;  /* for answers to begin */
	uint64_t decoded_ns; /* with decoding; the rest is the transfer, and other work of the loop */
	/* of the owner, which sets byte_ms at the start, too: */
	uint64_t started_ms; /* the first request */
	uint64_t items;
	uint64_t bad;      /* items that are left out, or events */
	int64_t remaining; /* items, as the server estimates; -1: it does not say */
	unsigned pages;    /* read to their end; 0: they do not count */
};

/*
 * what     the answer is, for messages: "list"
 * cut      the message when a stream ends within a document; NULL: it is unreadable like any other
 * on_open  the server accepted it; may be NULL
 * on_end   called once, from the loop; the next request may be begun inside it, or the request be done with.
 *          `ended` is lent for the call. RESULT_OTHER_SYNTAX: the same is to be asked for in JSON
 */
struct resource_request_owner {
	const char *what, *cut;
	void (*on_open)(void *owner);
	void (*on_end)(void *owner, struct request_result *ended);
};

struct resource_request {
	const struct source *source; /* borrowed, as what follows */
	const struct resource_request_owner *calls;
	void *owner;
	uint64_t share;          /* of a turn; 0: RESOURCE_REQUEST_TURN_BYTES */
	const uint64_t *counted; /* what the share is of, counted by the owner; NULL: bytes */

	struct resource_request_progress progress;
	struct decoder *decoder; /* NULL: the content of a success is not read */
	bool in_reserve;	 /* drafts are small, discarded at once, and may use the arena's reserve */
	/* the rest is resource_request.c's */
	void *handle;                  /* of the lister_watcher; NULL: nothing is under way */
	struct request_result stopped; /* why the owner stopped it; RESULT_OK: it did not */
	uint64_t asked_ms, turn_ms, used;
	struct clock_timer rest;
	bool resting, held; /* why it is paused: until the next turn; until resource_request_release() */
	int status;         /* 0: no header yet */
	long retry_after_s;
	char content_type[64]; /* cut, without what follows a ; */
	char *body;            /* of an error */
	size_t length;
};

/* Read what comes by a decoder, which reports to the owner. 0 or -ENOMEM */
int resource_request_read(struct resource_request *q, enum decoder_mode mode,
			  const struct decoder_events *events);
/* Returns 0, -EINVAL, -ENOMEM (then on_end is not called). The parameters' `protobuf` is set here. */
int resource_request_ask(struct resource_request *q, const struct request_params *params);
/* Cancel it if it is under way, and free what it holds. Of a zeroed one, too. */
void resource_request_done(struct resource_request *q);

/* Within a report of the decoder: it returns this, and the request ends with that kind and message. */
int resource_request_end(struct resource_request *q, enum request_result_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for what an ERROR event within the stream says. */
int resource_request_end_by(struct resource_request *q, const struct kube_status *status);

/* Pause until it is released. */
void resource_request_hold(struct resource_request *q);
void resource_request_release(struct resource_request *q);

#endif
