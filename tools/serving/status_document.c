/* SPDX-License-Identifier: Apache-2.0 */
/* Status documents, with upstream's texts and order of fields. */
#include "tools/serving/status_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/utf8.h"
#include "tools/serving/proto_document.h"

static char *__attribute__((format(printf, 1, 0))) vformat(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		return api_strndup("", 0);
	return text;
}

void
api_status_done(struct api_status *status)
{
	free(status->message);
	free(status->name);
	free(status->next_token);
	for (unsigned i = 0; i < status->cause_count; i++)
		free(status->causes[i].message);
	*status = (struct api_status){0};
}

int
api_status_set(struct api_status *status, int code, const char *reason, const char *format, ...)
{
	va_list args;

	api_status_done(status);
	va_start(args, format);
	status->message = vformat(format, args);
	va_end(args);
	status->code = code;
	status->reason = reason;
	return -EINVAL;
}

void
api_status_about(struct api_status *status, const struct api_resource *resource, const char *kind,
		 const char *name)
{
	status->has_details = true;
	status->group = resource->group;
	status->kind = kind ? kind : resource->plural;
	free(status->name);
	status->name = name ? api_strndup(name, strlen(name)) : NULL;
}

void
api_status_cause(struct api_status *status, const char *reason, const char *field, const char *format, ...)
{
	struct api_cause *cause;
	va_list args;

	if (status->cause_count == API_CAUSES_MAX)
		return;
	cause = &status->causes[status->cause_count++];
	va_start(args, format);
	cause->message = vformat(format, args);
	va_end(args);
	cause->reason = reason;
	cause->field = field;
	status->has_details = true;
}

/* Text that may come from a client. Invalid UTF-8 becomes U+FFFD, as upstream does. */
static void
put_text(struct api_buf *buf, const char *text)
{
	_cleanup_(api_buf_done) struct api_buf clean = {0};
	size_t left = strlen(text), n;

	api_buf_put(&clean, "", 0);
	for (; left; text += n, left -= n) {
		int length = utf8_length(text, left);

		n = length > 0 ? (size_t)length : 1;
		api_buf_put(&clean, length > 0 ? text : "\xef\xbf\xbd", length > 0 ? n : 3);
	}
	api_buf_json(buf, clean.data, clean.len);
}

static void
member(struct api_buf *buf, const char *name, const char *value, bool *first)
{
	if (!value || !value[0])
		return;
	api_buf_printf(buf, "%s\"%s\":", *first ? "" : ",", name);
	put_text(buf, value);
	*first = false;
}

static void
details(const struct api_status *status, struct api_buf *buf)
{
	bool first = true;

	api_buf_puts(buf, ",\"details\":{");
	member(buf, "name", status->name, &first);
	member(buf, "group", status->group, &first);
	member(buf, "kind", status->kind, &first);
	if (status->cause_count) {
		api_buf_printf(buf, "%s\"causes\":[", first ? "" : ",");
		first = false;
		for (unsigned i = 0; i < status->cause_count; i++) {
			bool first_here = true;

			api_buf_puts(buf, i ? ",{" : "{");
			member(buf, "reason", status->causes[i].reason, &first_here);
			member(buf, "message", status->causes[i].message, &first_here);
			member(buf, "field", status->causes[i].field, &first_here);
			api_buf_puts(buf, "}");
		}
		api_buf_puts(buf, "]");
	}
	if (status->retry_after)
		api_buf_printf(buf, "%s\"retryAfterSeconds\":%u", first ? "" : ",", status->retry_after);
	api_buf_puts(buf, "}");
}

void
api_status_print(const struct api_status *status, struct api_buf *buf)
{
	bool first = true;

	api_buf_puts(buf, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
	member(buf, "continue", status->next_token, &first);
	api_buf_puts(buf, "},\"status\":\"Failure\",\"message\":");
	put_text(buf, status->message);
	first = false;
	member(buf, "reason", status->reason, &first);
	if (status->has_details)
		details(status, buf);
	api_buf_printf(buf, ",\"code\":%d}", status->code);
}

void
api_status_encode(const struct api_status *status, struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf json = {0};

	api_status_print(status, &json);
	(void)api_proto_document("v1", "Status", json.data, json.len, buf); /* cannot fail for our own text */
}

int
api_status_not_found(struct api_status *status, const struct api_resource *resource, const char *name)
{
	api_status_set(status, 404, "NotFound", "%s \"%s\" not found", resource->group_resource, name);
	api_status_about(status, resource, NULL, name);
	return -EINVAL;
}

int
api_status_too_large_rv(struct api_status *status, uint64_t asked, uint64_t current)
{
	api_status_set(status, 504, "Timeout",
		       "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, asked, current);
	api_status_cause(status, "ResourceVersionTooLarge", NULL, "Too large resource version");
	status->retry_after = 1;
	return -EINVAL;
}

int
api_status_not_ready(struct api_status *status)
{
	api_status_set(status, 429, "TooManyRequests", "storage is (re)initializing");
	status->retry_after = 1;
	status->has_details = true;
	return -EINVAL;
}

int
api_status_no_room(struct api_status *status)
{
	api_status_set(status, 429, "TooManyRequests",
		       "too many lists are being answered, please try again later");
	status->retry_after = 1;
	return -ENOBUFS;
}
