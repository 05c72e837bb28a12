/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status document: a failure in the API server's words, as meta/v1 Status.
 *
 * A handler fills a struct api_status and returns -EINVAL. The HTTP layer prints the status; a watch sends it
 * in an ERROR event.
 */
#ifndef TOOLS_SERVING_STATUS_DOCUMENT_H
#define TOOLS_SERVING_STATUS_DOCUMENT_H

#include "tools/serving/buf.h"
#include "tools/serving/served_resource.h"

#define API_CAUSES_MAX 3

struct api_cause {
	const char *reason;
	char *message;
	const char *field; /* or NULL */
};

struct api_status {
	int code;
	const char *reason; /* "" for none */
	char *message;
	bool has_details;
	char *name; /* of the object, in details; or NULL */
	const char *group;
	const char *kind;
	struct api_cause causes[API_CAUSES_MAX];
	unsigned cause_count;
	unsigned retry_after; /* seconds, 0 for none */
	char *next_token;     /* metadata.continue, or NULL */
};

/* Fill code, reason and message; frees the previous ones. Returns -EINVAL, for the handler to return. */
int api_status_set(struct api_status *status, int code, const char *reason, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Add details about an object of a resource. kind NULL: use the resource's name. */
void api_status_about(struct api_status *status, const struct api_resource *resource, const char *kind,
		      const char *name);
void api_status_cause(struct api_status *status, const char *reason, const char *field, const char *format,
		      ...) __attribute__((format(printf, 4, 5)));
void api_status_print(const struct api_status *status, struct api_buf *buf);
/* The same as a protobuf document. */
void api_status_encode(const struct api_status *status, struct api_buf *buf);
/* Cleanup function. */
void api_status_done(struct api_status *status);

/* Common failures. All return -EINVAL. */
int api_status_not_found(struct api_status *status, const struct api_resource *resource, const char *name);
int api_status_too_large_rv(struct api_status *status, uint64_t asked, uint64_t current);
/* 429, retry after 1 s: the first list has not arrived, as a watch cache that is not ready. */
int api_status_not_ready(struct api_status *status);
/* 429, retry after 1 s: no memory for another list. */
int api_status_no_room(struct api_status *status);
#endif
