/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are put together from pieces where they stand: an object's text is not copied; see watch_line.h. */
#include "tools/informer-sim/watch_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void
put(struct sim_stream *s, const char *bytes, size_t len)
{
	s->pieces[s->piece_count++] = (struct sim_piece){bytes, len};
}

static void
begin_line(struct sim_stream *s)
{
	s->piece_count = s->piece_at = 0;
	s->piece_offset = 0;
}

/* A Table with one row, or for a bookmark none; the first one of a stream names the columns. */
static void
table(struct sim_stream *s, const struct sim_object *object, uint64_t rv)
{
	char meta[128];

	snprintf(meta, sizeof(meta), "\"resourceVersion\":\"%" PRIu64 "\"", rv || !object ? rv : object->rv);
	sim_key_chunks_head(&s->shape, s->resource, meta, !s->headed, &s->own);
	s->headed = true;
	if (object)
		sim_key_chunks_row(&s->shape, s->resource, object, rv, &s->own);
	sim_buf_puts(&s->own, "]}");
}

void
sim_watch_line(struct sim_stream *s, enum sim_change change, const struct sim_object *object, uint64_t rv)
{
	static const char *const begin[] = {
		[SIM_ADDED] = "{\"type\":\"ADDED\",\"object\":",
		[SIM_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
		[SIM_DELETED] = "{\"type\":\"DELETED\",\"object\":",
	};

	bool partial = s->shape.kind != SIM_PLAIN;
	const char *text = object->text + (partial ? object->meta_at : 0);
	size_t len = partial ? object->meta_len : object->text_len,
	       at = object->rv_at - (partial ? object->meta_at : 0);

	if (s->shape.kind == SIM_TABLE) {
		sim_buf_reset(&s->own);
		sim_buf_puts(&s->own, begin[change]);
		table(s, object, rv);
		sim_buf_puts(&s->own, "}\n");
		sim_watch_own_line(s);
		return;
	}
	begin_line(s);
	put(s, begin[change], strlen(begin[change]));
	put(s, s->head.data, s->head.len);
	if (rv == 0) {
		put(s, text, len);
	} else {
		size_t behind = at + object->rv_len;
		int digits = snprintf(s->rv, sizeof(s->rv), "%" PRIu64, rv);

		put(s, text, at);
		put(s, s->rv, (size_t)digits);
		put(s, text + behind, len - behind);
	}
	put(s, partial ? "}}\n" : "}\n", partial ? 3 : 2);
}

void
sim_watch_own_line(struct sim_stream *s)
{
	begin_line(s);
	put(s, s->own.data, s->own.len);
}

void
sim_watch_bookmark(struct sim_stream *s, uint64_t rv, bool end_mark)
{
	sim_buf_reset(&s->own);
	sim_buf_puts(&s->own, "{\"type\":\"BOOKMARK\",\"object\":");
	if (s->shape.kind == SIM_TABLE) {
		table(s, NULL, rv);
	} else {
		sim_buf_put(&s->own, s->head.data, s->head.len);
		sim_buf_printf(&s->own, "%s{\"resourceVersion\":\"%" PRIu64 "\"%s}",
			       s->shape.kind == SIM_PLAIN ? "\"metadata\":" : "", rv,
			       end_mark ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
		if (s->shape.kind == SIM_PLAIN && !strcmp(s->resource->plural, "pods") &&
		    !s->resource->group[0])
			sim_buf_puts(&s->own, ",\"spec\":{\"containers\":null},\"status\":{}");
		sim_buf_puts(&s->own, "}");
	}
	sim_buf_puts(&s->own, "}\n");
	sim_watch_own_line(s);
}

void
sim_watch_error(struct sim_stream *s, const struct sim_status *status)
{
	sim_buf_reset(&s->own);
	sim_buf_puts(&s->own, "{\"type\":\"ERROR\",\"object\":");
	sim_status_print(status, &s->own);
	sim_buf_puts(&s->own, "}\n");
	s->error = true;
}
