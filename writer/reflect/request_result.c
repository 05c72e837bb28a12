/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns HTTP answers, Status objects and transport errors into the few words on which a Reflector decides
 * (expired, refused, throttled, …), with one sentence for people.
 */
#include "writer/reflect/request_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
request_result_done(struct request_result *o)
{
	free(o->message);
	*o = (struct request_result){ 0 };
}

void
request_result_set(struct request_result *o, enum request_result_kind kind, const char *format, ...)
{
	va_list arguments;

	free(o->message);
	o->kind = kind;
	va_start(arguments, format);
	if (vasprintf(&o->message, format, arguments) < 0)
		o->message = NULL;
	va_end(arguments);
}

static enum request_result_kind
kind_of_status(const struct kube_status *status)
{
	if (kube_status_is_expired(status))
		return RESULT_EXPIRED;
	if (kube_status_is_too_large_rv(status))
		return RESULT_TOO_LARGE;
	if (status->code == 401 || status->code == 403 || status->code == 404)
		return RESULT_REFUSED;
	return status->code == 429 ? RESULT_THROTTLED : RESULT_FAILED;
}

void
request_result_from_status(struct request_result *o, const struct kube_status *status)
{
	const char *message = status->message[0] ? status->message : "the server gave no reason";

	if (status->code)
		request_result_set(o, kind_of_status(status), "%s (%d%s%s)", message, status->code,
				   status->reason[0] ? " " : "", status->reason);
	else
		request_result_set(o, kind_of_status(status), "%s", message);
	o->code = status->code;
	o->internal = kube_status_is_internal(status);
	o->retry_after_s = status->retry_after_s > 0 ? (unsigned)status->retry_after_s : 0;
	snprintf(o->reason, sizeof(o->reason), "%s", status->reason);
}

void
answer_done(struct answer *a)
{
	free(a->body);
	*a = (struct answer){ 0 };
}

void
answer_begin(struct answer *a, const struct transport_response *response)
{
	answer_done(a);
	a->status = response->status;
	a->retry_after_s = response->retry_after_s;
	if (response->content_type)
		snprintf(a->content_type, sizeof(a->content_type), "%.*s",
			 (int)strcspn(response->content_type, "; \t"), response->content_type);
}

bool
answer_is_success(const struct answer *a)
{
	return a->status >= 200 && a->status < 300;
}

int
answer_append(struct answer *a, const void *data, size_t length)
{
	char *grown;

	if (length > ANSWER_BODY_MAX - a->length)
		length = ANSWER_BODY_MAX - a->length;
	if (length == 0)
		return 0;
	grown = realloc(a->body, a->length + length);
	if (!grown)
		return -ENOMEM;
	a->body = grown;
	memcpy(a->body + a->length, data, length);
	a->length += length;
	return 0;
}

void
answer_result(const struct answer *a, int result, const char *message, struct request_result *o)
{
	struct kube_status status;

	if (result == -ENOSPC || result == -ENOMEM) {
		request_result_set(o, RESULT_NO_SPACE, "%s",
				   result == -ENOSPC ? "the arena is full: raise arena.maxBytes, the size of "
						       "its tmpfs, or the memory "
						       "limit"
						     : "out of memory");
	} else if (result < 0) {
		o->error = result;
		request_result_set(o, RESULT_FAILED, "%s", message && *message ? message : strerror(-result));
	} else if (kube_status_parse(a->body ? a->body : "", a->length, a->status, &status) < 0) {
		request_result_set(o, RESULT_NO_SPACE, "out of memory");
	} else if (a->status >= 300 && a->status < 400) {
		request_result_set(o, RESULT_FAILED,
				   "the server redirects to another address (%d), which is not followed: "
				   "name the API server itself",
				   a->status);
		o->code = a->status;
		kube_status_done(&status);
	} else {
		request_result_from_status(o, &status);
		kube_status_done(&status);
	}
	if (a->retry_after_s > 0 && (unsigned long)a->retry_after_s > o->retry_after_s)
		o->retry_after_s = (unsigned)a->retry_after_s;
}

void
answer_unreadable(const struct answer *a, const char *what, uint64_t offset, const char *error,
		  struct request_result *o)
{
	bool foreign = a->content_type[0] != '\0' && strncmp(a->content_type, "application/json", 16) != 0 &&
		       strcmp(a->content_type, TRANSPORT_PROTOBUF_TYPE) != 0;

	if (foreign)
		request_result_set(o, RESULT_BROKEN,
				   "the answer is %s and no %s in JSON: does a proxy or a login page stand "
				   "before the API server? (byte %" PRIu64 ": %s)",
				   a->content_type, what, offset, error ? error : "?");
	else
		request_result_set(o, RESULT_BROKEN, "the %s cannot be read at byte %" PRIu64 ": %s", what,
				   offset, error ? error : "?");
}

const char *
request_result_name(enum request_result_kind kind)
{
	static const char *const names[RESULT_KINDS] = {
		[RESULT_OK] = "start",
		[RESULT_EXPIRED] = "expired",
		[RESULT_TOO_LARGE] = "too-large",
		[RESULT_REFUSED] = "refused",
		[RESULT_THROTTLED] = "throttled",
		[RESULT_FAILED] = "failed",
		[RESULT_BROKEN] = "broken",
		[RESULT_LOST] = "lost",
		[RESULT_NO_SPACE] = "no-space",
		[RESULT_UNSUPPORTED] = "unsupported",
		[RESULT_OTHER_SYNTAX] = "other-syntax",
		[RESULT_OTHER_CLUSTER] = "other-cluster",
		[RESULT_DIFFERS] = "differs",
	};

	return (size_t)kind < RESULT_KINDS && names[kind] ? names[kind] : "other";
}
