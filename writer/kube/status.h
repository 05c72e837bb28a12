/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: the body of a Kubernetes error, as a response's body or as the object of a
 * watch's ERROR event, and the three questions a Reflector asks about it.
 *
 * Source    meta/v1 Status; client-go's isExpiredError and
 *           isTooLargeResourceVersionError, apimachinery's IsInternalError
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
 * Parse a body. One that is no Status (HTML of a proxy, plain text, cut short) is no error:
 * its first line (200 bytes at most, control characters as '?') becomes the message.
 *
 * http_code  the response's, taken where the body names none
 * Returns    0 (give it to kube_status_done()), or -ENOMEM
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
 * The server stumbled: reason InternalError, or a 500 that is none of ServerTimeout and StorageReadError.
 * That one means an object that cannot be read, and trying again does not make it readable.
 */
bool kube_status_is_internal(const struct kube_status *status);

#endif
