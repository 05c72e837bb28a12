/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a schema of protobuf: a message with the line, or a schema whose kinds lead to their messages
 * and whose fields lead to their types. A decoder reads by that schema without harm.
 *
 * The input: a text; after a zero byte a LIST that is read by it.
 */
#include "tests/fuzz/decoding.h"

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;

	(void)type;
	(void)type_length;
	draft_discard(&w->arena, w->intern, d);
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

	world_begin(&w);
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
	w.protobuf = s;
	if (end)
		decode(&w, DECODE_LIST, on_object, 0, end + 1, size - length - 1, size);
	world_end(&w);
	proto_schema_free(s);
	return 0;
}
