/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request result says how a LIST or a WATCH ended, in the terms by which a Reflector decides.
 */
#ifndef WRITER_REFLECT_REQUEST_RESULT_H
#define WRITER_REFLECT_REQUEST_RESULT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/kube/status.h"
#include "writer/kube/transport.h"

enum request_result_kind {
	RESULT_OK,        /* the list is complete; the server ended the watch regularly */
	RESULT_EXPIRED,   /* 410: the RV or continue token is too old */
	RESULT_TOO_LARGE, /* the RV is ahead of the server */
	RESULT_REFUSED,   /* 401, 403, 404: an operator must act */
	RESULT_THROTTLED, /* 429 */
	RESULT_FAILED,    /* no connection, broken off, or any other answer */
	RESULT_BROKEN,    /* bytes came that are no JSON: the stream cannot be followed */
	/* an event came that cannot be stored; only a list brings its content */
	RESULT_LOST,
	RESULT_UNSUPPORTED,   /* the server cannot answer this request (a WatchList); use LIST */
	RESULT_OTHER_SYNTAX,  /* repeat the request in JSON */
	RESULT_NO_SPACE,      /* the arena, or private memory, is exhausted */
	RESULT_OTHER_CLUSTER, /* reported by cluster_guard.h: no stored RV is valid any more */
	RESULT_DIFFERS,       /* reported by consistency_check.h: the server has other objects */
};
#define RESULT_KINDS (RESULT_DIFFERS + 1)

/* In one word: "expired", "too-large"; RESULT_OK: "start". */
const char *request_result_name(enum request_result_kind kind);

#define RESULT_REASON_MAX 63

struct request_result {
	enum request_result_kind kind;
	int code;			/* HTTP status or Status code; 0 when there was none */
	int error;			/* of the transport (kube/transport.h); 0: the server answered */
	bool in_stream;			/* an ERROR event within an answer of success */
	bool internal;                  /* an internal error of the server: kube_status_is_internal() */
	unsigned retry_after_s;
	char reason[RESULT_REASON_MAX + 1]; /* "Forbidden", "Expired"; or "" */
	char *message;			/* one sentence; owned, NULL for none */
};

void request_result_done(struct request_result *o);

/* Set kind and a formatted message. */
void request_result_set(struct request_result *o, enum request_result_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void request_result_vset(struct request_result *o, enum request_result_kind kind, const char *format,
			 va_list arguments) __attribute__((format(printf, 3, 0)));

/* Set the result from a Status: of an answer without success, or of a watch's ERROR event. */
void request_result_from_status(struct request_result *o, const struct kube_status *status);

#endif
