/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status documents, in the order of fields and the words that the real server
 * uses.
 */
#include "tools/informer-sim/status_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/proto_document.h"

static char *__attribute__((format(printf, 1, 0)))
vformat(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		return sim_strndup("", 0);
	return text;
}

void
sim_status_done(struct sim_status *status)
{
	free(status->message);
	free(status->name);
	free(status->next_token);
	for (unsigned i = 0; i < status->cause_count; i++)
		free(status->causes[i].message);
	*status = (struct sim_status){0};
}

int
sim_status_set(struct sim_status *status, int code, const char *reason, const char *format, ...)
{
	va_list args;

	sim_status_done(status);
	va_start(args, format);
	status->message = vformat(format, args);
	va_end(args);
	status->code = code;
	status->reason = reason;
	return -EINVAL;
}

void
sim_status_about(struct sim_status *status, const struct sim_resource *resource, const char *kind,
		 const char *name)
{
	status->has_details = true;
	status->group = resource->group;
	status->kind = kind ? kind : resource->plural;
	free(status->name);
	status->name = name ? sim_strndup(name, strlen(name)) : NULL;
}

void
sim_status_cause(struct sim_status *status, const char *reason, const char *field, const char *format, ...)
{
	struct sim_cause *cause;
	va_list args;

	if (status->cause_count == SIM_CAUSES_MAX)
		return;
	cause = &status->causes[status->cause_count++];
	va_start(args, format);
	cause->message = vformat(format, args);
	va_end(args);
	cause->reason = reason;
	cause->field = field;
	status->has_details = true;
}

static void
member(struct sim_buf *buf, const char *name, const char *value, bool *first)
{
	if (!value || !value[0])
		return;
	sim_buf_printf(buf, "%s\"%s\":", *first ? "" : ",", name);
	sim_buf_json_str(buf, value);
	*first = false;
}

static void
details(const struct sim_status *status, struct sim_buf *buf)
{
	bool first = true;

	sim_buf_puts(buf, ",\"details\":{");
	member(buf, "name", status->name, &first);
	member(buf, "group", status->group, &first);
	member(buf, "kind", status->kind, &first);
	if (status->cause_count) {
		sim_buf_printf(buf, "%s\"causes\":[", first ? "" : ",");
		first = false;
		for (unsigned i = 0; i < status->cause_count; i++) {
			bool first_here = true;

			sim_buf_puts(buf, i ? ",{" : "{");
			member(buf, "reason", status->causes[i].reason, &first_here);
			member(buf, "message", status->causes[i].message, &first_here);
			member(buf, "field", status->causes[i].field, &first_here);
			sim_buf_puts(buf, "}");
		}
		sim_buf_puts(buf, "]");
	}
	if (status->retry_after)
		sim_buf_printf(buf, "%s\"retryAfterSeconds\":%u", first ? "" : ",", status->retry_after);
	sim_buf_puts(buf, "}");
}

void
sim_status_print(const struct sim_status *status, struct sim_buf *buf)
{
	bool first = true;

	sim_buf_puts(buf, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
	member(buf, "continue", status->next_token, &first);
	sim_buf_puts(buf, "},\"status\":\"Failure\",\"message\":");
	sim_buf_json_str(buf, status->message);
	first = false;
	member(buf, "reason", status->reason, &first);
	if (status->has_details)
		details(status, buf);
	sim_buf_printf(buf, ",\"code\":%d}", status->code);
}

void
sim_status_encode(const struct sim_status *status, struct sim_buf *buf)
{
	_cleanup_(sim_buf_done) struct sim_buf json = {0};

	sim_status_print(status, &json);
	if (sim_proto_document("v1", "Status", json.data, json.len, buf) < 0)
		abort(); /* our own text */
}

int
sim_status_not_found(struct sim_status *status, const struct sim_resource *resource, const char *name)
{
	sim_status_set(status, 404, "NotFound", "%s \"%s\" not found", resource->group_resource, name);
	sim_status_about(status, resource, NULL, name);
	return -EINVAL;
}

int
sim_status_conflict(struct sim_status *status, const struct sim_resource *resource, const char *name,
		    const char *why)
{
	sim_status_set(status, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s",
		       resource->group_resource, name, why);
	sim_status_about(status, resource, NULL, name);
	return -EINVAL;
}

int
sim_status_too_large_rv(struct sim_status *status, uint64_t asked, uint64_t current)
{
	sim_status_set(status, 504, "Timeout",
		       "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, asked, current);
	sim_status_cause(status, "ResourceVersionTooLarge", NULL, "Too large resource version");
	status->retry_after = 1;
	return -EINVAL;
}

int
sim_status_invalid(struct sim_status *status, const struct sim_resource *resource, const char *name,
		   const char *cause, const char *field, const char *text)
{
	_cleanup_(sim_buf_done) struct sim_buf kind = {0};

	sim_buf_printf(&kind, resource->group[0] ? "%s.%s" : "%s", resource->kind, resource->group);
	sim_status_set(status, 422, "Invalid", "%s \"%s\" is invalid: %s: %s", kind.data, name, field, text);
	sim_status_about(status, resource, resource->kind, name);
	sim_status_cause(status, cause, field, "%s", text);
	return -EINVAL;
}
