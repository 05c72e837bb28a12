/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns Status objects into the results by which a Reflector decides (expired, refused, throttled, …), with
 * one sentence for people.
 */
#include "writer/reflect/request_result.h"

#include <stdio.h>
#include <stdlib.h>

void
request_result_done(struct request_result *o)
{
	free(o->message);
	*o = (struct request_result){ 0 };
}

void
request_result_vset(struct request_result *o, enum request_result_kind kind, const char *format,
		    va_list arguments)
{
	free(o->message);
	o->kind = kind;
	if (vasprintf(&o->message, format, arguments) < 0)
		o->message = NULL;
}

void
request_result_set(struct request_result *o, enum request_result_kind kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	request_result_vset(o, kind, format, arguments);
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
