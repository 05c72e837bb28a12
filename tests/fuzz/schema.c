/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a schema of protobuf: a sentence with the line, or a schema whose kind leads to its message,
 * and whose messages' fields to what they name; and a decoder that reads by it does not stumble over what it
 * says.
 *
 * The input: a text; after a zero byte a LIST that is read by it.
 */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tools/schema/proto_schema.h"
#include "writer/arena/arena.h"
#include "writer/arena/intern.h"
#include "writer/decode/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct arena arena;
	struct intern *intern;
};

static void
must(bool truth)
{
	if (!truth)
		abort();
}

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;

	(void)type;
	(void)type_length;
	draft_discard(&w->arena, w->intern, d);
	return 0;
}

static int
on_bad_object(void *context, const char *why)
{
	(void)context;
	must(why[0] != '\0');
	return 0;
}

static int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	(void)context;
	(void)resource_version;
	(void)continue_token;
	(void)remaining;
	return 0;
}

static void
check_message(const struct proto_schema *s, const struct proto_message *m)
{
	must(m->count <= PROTO_FIELDS_MAX && m->highest <= PROTO_NUMBER_MAX);
	for (unsigned i = 0; i < m->count; i++) {
		const struct proto_field *f = &m->fields[i];

		must(f->name_length >= 3 && f->name[0] == '"' && f->name[f->name_length - 1] == ':');
		must(f->type != PROTO_CONSTANT || f->constant[0] == '"');
		must(f->type == PROTO_CONSTANT || proto_field_find(m, f->number) == f);
		must(f->type != PROTO_MESSAGE || proto_schema_message(s, f->message)->name);
	}
	must(!proto_field_find(m, m->highest + 1u) && !proto_field_find(m, UINT64_MAX));
}

static void
decode(struct world *w, const struct proto_schema *s, const uint8_t *data, size_t size)
{
	static const struct decoder_events events = {
		.on_object = on_object, .on_bad_object = on_bad_object, .on_list_end = on_list_end};
	struct decoder *d = decoder_new(DECODE_LIST, &w->arena, w->intern, NULL, &events, w, 0);
	int r;

	must(d != NULL);
	decoder_use_protobuf(d, s);
	r = decoder_feed(d, (const char *)data, size);
	must(r == 0 || r == -EBADMSG || r == -EPROTO);
	decoder_free(d);
	must(intern_count(w->intern) == 0);
	arena_reclaim(&w->arena, UINT64_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t length = end ? (size_t)(end - data) : size;
	char why[160] = "";
	char *text = malloc(length ? length : 1); /* so that a sanitizer sees each byte read behind it */
	struct proto_schema *s;
	const struct proto_message *m;
	static struct world w;

	if (!w.intern) {
		must(sodium_init() >= 0 && arena_create_private(&w.arena, 1u << 30) == 0);
		w.intern = intern_new(&w.arena);
		must(w.intern != NULL);
	}
	must(text != NULL);
	if (length)
		memcpy(text, data, length);
	s = proto_schema_parse(text, length, why, sizeof(why));
	free(text);
	if (!s) {
		must(strncmp(why, "line ", 5) == 0);
		return 0;
	}
	m = proto_schema_kind(s, "v1", 2, "A", 1);
	if (m)
		check_message(s, m);
	must(proto_schema_releases(s) != NULL);
	if (end)
		decode(&w, s, end + 1, size - length - 1);
	proto_schema_free(s);
	return 0;
}
