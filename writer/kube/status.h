/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: the body of a Kubernetes error, in a response or as the object of a watch's ERROR event, and three
 * questions that a Reflector asks about it.
 *
 * Source: meta/v1 Status; client-go's isExpiredError and isTooLargeResourceVersionError, apimachinery's
 * IsInternalError
 */
#ifndef WRITER_KUBE_STATUS_H
#define WRITER_KUBE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

struct kube_status_cause {
	char *reason, *message, *field; /* never NULL, may be "" */
};

struct kube_status {
	int code;		/* 0 when the body had none */
	char *reason;		/* "Expired"; never NULL, may be "" */
	char *message;		/* never NULL, may be "" */
	char *continue_token;	/* metadata.continue of a 410 on a later page; never NULL, may be "" */
	int retry_after_s;	/* details.retryAfterSeconds; 0 when absent */
	struct kube_status_cause *causes;
	size_t n_causes;	/* at most KUBE_STATUS_MAX_CAUSES are kept */
};

#define KUBE_STATUS_MAX_CAUSES 64

/*
 * Parse a body. If it is no Status (a proxy's HTML, plain text, cut short), that is no error: its first line
 * becomes the message (at most 200 bytes, control characters as '?').
 *
 * http_code  the response's, used if the body has none
 * Returns    0 (free with kube_status_done()) or -ENOMEM
 */
int kube_status_parse(const void *body, size_t len, int http_code, struct kube_status *ret);

/* The same from a parsed object (a watch's ERROR event). */
int kube_status_from_json(const struct cJSON *object, int http_code, struct kube_status *ret);

void kube_status_done(struct kube_status *status);

/* 410, or reason Expired or Gone: the RV or continue token is too old; list again. */
bool kube_status_is_expired(const struct kube_status *status);

/* The RV is ahead of the server: cause ResourceVersionTooLarge, or Timeout that says so. */
bool kube_status_is_too_large_rv(const struct kube_status *status);

/*
 * A transient server error: reason InternalError, or a 500 other than ServerTimeout and StorageReadError.
 * StorageReadError means an object that cannot be read; a retry does not help.
 */
bool kube_status_is_internal(const struct kube_status *status);

#endif
