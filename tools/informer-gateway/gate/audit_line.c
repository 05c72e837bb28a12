/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting an audit line; see audit_line.h. */
#include "tools/informer-gateway/gate/audit_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm-layout/utf8.h"


#define TEXT_MAX 1024 /* bytes; longer texts are cut */

static void
add_text(struct api_buf *out, const char *name, const char *text)
{
	char clean[TEXT_MAX];
	size_t n = 0, step, left = text ? strlen(text) : 0;

	if (left == 0)
		return;
	for (; left > 0 && n + 4 < sizeof(clean); text += step, left -= step, n += step) {
		int length = utf8_length(text, left);

		step = length > 0 ? (size_t)length : 1;
		memcpy(clean + n, length > 0 ? text : "?", step);
	}
	api_buf_printf(out, ",\"%s\":", name);
	api_buf_json(out, clean, n);
}

static void
add_time(struct api_buf *out, uint64_t wall_ms)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	char text[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	api_buf_printf(out, "{\"time\":\"%s.%03uZ\"", text, (unsigned)(wall_ms % 1000));
}

static void
add_attributes(struct api_buf *out, const struct gw_attributes *a)
{
	add_text(out, "verb", a->verb);
	add_text(out, "path", a->path);
	add_text(out, "group", a->group);
	add_text(out, "resource", a->resource);
	add_text(out, "subresource", a->subresource);
	add_text(out, "namespace", a->namespace_);
	add_text(out, "name", a->name);
	add_text(out, "fieldSelector", a->field_selector);
	add_text(out, "labelSelector", a->label_selector);
}

void
gw_audit_line(const struct gw_audit_entry *entry, struct api_buf *out)
{
	add_time(out, entry->wall_ms);
	add_text(out, "listener", entry->listener);
	add_text(out, "source", entry->source);
	add_text(out, "user", entry->user);
	add_text(out, "uid", entry->uid);
	if (entry->attributes)
		add_attributes(out, entry->attributes);
	add_text(out, "rvAsked", entry->rv_asked);
	if (entry->rv > 0)
		api_buf_printf(out, ",\"rv\":\"%" PRIu64 "\"", entry->rv);
	add_text(out, "decision", entry->decision);
	add_text(out, "why", entry->why);
	api_buf_printf(out, ",\"code\":%u,\"bytes\":%" PRIu64 ",\"durationMs\":%" PRIu64 ".%03u}\n",
		       entry->code, entry->bytes, entry->duration_ns / 1000000,
		       (unsigned)(entry->duration_ns / 1000 % 1000));
}
