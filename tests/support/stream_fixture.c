/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a decoder and records its reports. */
#include "tests/room.h"
#include "tests/support/proto_text.h"
#include "tests/support/stream_fixture.h"
#include "writer/decode/decoder_internal.h"

__attribute__((format(printf, 2, 3))) static void
note(struct stream *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	s->used += (size_t)vsnprintf(s->log + s->used, sizeof(s->log) - s->used, format, args);
	va_end(args);
	s->used = s->used < sizeof(s->log) ? s->used : sizeof(s->log) - 1;
}

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct stream *s = context;
	const struct object *o = object_at(&s->fx->arena->view, d.ref);

	assert_non_null(o);
	assert_int_equal(o->key_hash, object_key_hash(s->fx->arena->header->hash_key, object_namespace(o),
						      o->namespace_length, object_name(o), o->name_length));
	s->objects++;
	note(s, "%.*s[%.*s/%.*s]%s\n", (int)type_length, type, (int)o->namespace_length, object_namespace(o),
	     (int)o->name_length, object_name(o), body_fixture_print_ref(s->fx, d.ref));
	if (s->kept < s->keep)
		s->drafts[s->kept++] = d;
	else
		draft_discard(s->fx->arena, s->fx->intern, d);
	return s->answer;
}

static int
on_other(void *context, const char *type, size_t type_length, const char *json, size_t length)
{
	struct stream *s = context;

	s->others++;
	note(s, "%.*s:%.*s\n", (int)type_length, type, (int)length, json);
	return 0;
}

static int
on_bad_object(void *context, const char *why)
{
	struct stream *s = context;

	s->bad++;
	snprintf(s->why, sizeof(s->why), "%s", why);
	note(s, "%s:%s\n", decoder_is_foreign(s->decoder) ? "FOREIGN" : "BAD", why);
	return 0;
}

static int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	struct stream *s = context;

	s->ends++;
	note(s, "END:%s,%s,%lld\n", resource_version, continue_token, (long long)remaining);
	return 0;
}

static uint32_t
known(void *context, const char *ns, size_t ns_length, const char *name, size_t name_length)
{
	const struct stream *s = context;

	assert_true(name_length > 0 && !memchr(name, '/', name_length) && !memchr(ns, '/', ns_length));
	return s->known;
}

static const struct decoder_events events = {on_object, on_other, on_bad_object, on_list_end, known};

struct stream *
stream_new(const char *const *drops, size_t drop_count, const char *proto_schema)
{
	struct stream *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->fx = body_fixture_new(drops, drop_count);
	if (proto_schema)
		stream_use_schema(s, proto_schema);
	return s;
}

void
stream_free(struct stream *s)
{
	stream_give_back(s);
	body_fixture_free(s->fx);
	proto_schema_free(s->proto);
	bytes_done(&s->in);
	free(s);
}

FIXTURE_TEAR_DOWN(stream_tear_down, stream_free)

void
stream_use_schema(struct stream *s, const char *proto_schema)
{
	char why[200] = "";

	proto_schema_free(s->proto);
	s->proto = proto_schema_parse(proto_schema, strlen(proto_schema), why, sizeof(why));
	assert_string_equal(why, "");
	assert_non_null(s->proto);
}

void
stream_give_back(struct stream *s)
{
	while (s->kept > 0)
		draft_discard(s->fx->arena, s->fx->intern, s->drafts[--s->kept]);
	s->keep = 0;
	s->known = 0;
}

int
stream_run(struct stream *s, enum decoder_mode mode, const void *data, size_t length, size_t chunk)
{
	struct decoder_schema *own = s->forgets ? decoder_schema_new(NULL, 0, NULL) : NULL;
	uint64_t before = intern_count(s->fx->intern);
	int r = 0;

	s->decoder = decoder_new(mode, s->fx->arena, s->fx->intern, own ? own : s->fx->schema, &events, s,
				 s->max_bytes);
	assert_non_null(s->decoder);
	s->used = s->memory = s->offset = s->objects = s->others = s->bad = s->ends = 0;
	s->log[0] = s->why[0] = '\0';
	if (s->proto)
		decoder_use_protobuf(s->decoder, s->proto);
	if (s->kind)
		decoder_expect_type(s->decoder, "v1", s->kind);
	chunk = chunk ? chunk : length;
	for (size_t at = 0; r == 0 && at < length; at += chunk) {
		size_t n = length - at < chunk ? length - at : chunk, memory;
		char *piece = malloc(n); /* so that a sanitizer sees a read beyond the piece */

		assert_non_null(piece);
		memcpy(piece, (const char *)data + at, n);
		r = decoder_feed(s->decoder, piece, n);
		free(piece);
		memory = s->decoder->carry.capacity;
		s->memory = memory > s->memory ? memory : s->memory;
	}
	if (r == 0)
		r = decoder_finish(s->decoder);
	if (r < 0)
		snprintf(s->why, sizeof(s->why), "%s", decoder_error(s->decoder, &s->offset));
	decoder_free(s->decoder);
	decoder_schema_free(own);
	if (own)
		assert_int_equal(intern_count(s->fx->intern), before);
	return r;
}

void
stream_frame(struct bytes *to, const char *text)
{
	struct bytes event = {0};
	uint8_t head[4];

	proto_text(&event, text);
	for (unsigned i = 0; i < 4; i++)
		head[i] = (uint8_t)(event.length >> (24 - 8 * i));
	assert_int_equal(bytes_append(to, head, 4), 0);
	assert_int_equal(bytes_append(to, event.data, event.length), 0);
	bytes_done(&event);
}
