/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a LIST or a WATCH in protobuf, by the schema that is built in: whole and in pieces, which
 * must agree; what is accepted must print, and be the same as its JSON; an error has a reason and a place;
 * and when all drafts are gone the intern table is as empty as before.
 *
 * The input: 'L' for a list, anything else for a watch; then the stream.
 */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/value.h"
#include "tools/schema/proto_schema.h"
#include "writer/arena/arena.h"
#include "writer/arena/intern.h"
#include "writer/base/growing.h"
#include "writer/decode/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ITEM_MAX 16384u

struct world {
	struct arena arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct bytes said; /* everything that one run reported */
	struct bytes json; /* of the last object */
};

static void
must(bool truth)
{
	if (!truth)
		abort();
}

static int
collect(const char *data, size_t length, void *context)
{
	return bytes_append(context, data, length);
}

static void
say(struct world *w, const void *text, size_t length)
{
	must(bytes_append(&w->said, text, length) == 0 && bytes_append(&w->said, "\n", 1) == 0);
}

/* ---- an object, and its JSON ---- */

static int
keep(void *context, const char *type, size_t type_length, struct draft d)
{
	(void)type;
	(void)type_length;
	*(struct draft *)context = d;
	return 0;
}

/* What it prints decodes to what prints the same; of a name that stands twice JSON has the last one. */
static void
is_the_same_in_json(struct world *w)
{
	static const struct decoder_events events = {.on_object = keep};
	struct draft again = {0};
	struct decoder *json =
		decoder_new(DECODE_DOCUMENT, &w->arena, w->intern, w->schema, &events, &again, 0);
	struct bytes printed = {0};
	struct value v;

	must(json != NULL);
	must(decoder_feed(json, (const char *)w->json.data, w->json.length) == 0 &&
	     decoder_finish(json) == 0);
	decoder_free(json);
	v = value_of_object(&w->arena.view, again.ref);
	must(value_to_json(v, collect, &printed) == 0);
	must(printed.length <= w->json.length);
	if (printed.length == w->json.length)
		must(memcmp(printed.data, w->json.data, printed.length) == 0);
	bytes_done(&printed);
	draft_discard(&w->arena, w->intern, again);
}

/* ---- the stream ---- */

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;

	w->json.length = 0;
	must(value_to_json(value_of_object(&w->arena.view, d.ref), collect, &w->json) == 0);
	say(w, type, type_length);
	say(w, w->json.data, w->json.length);
	is_the_same_in_json(w);
	draft_discard(&w->arena, w->intern, d);
	return 0;
}

static int
on_other(void *context, const char *type, size_t type_length, const char *json, size_t length)
{
	say(context, type, type_length);
	say(context, json, length);
	return 0;
}

static int
on_bad_object(void *context, const char *why)
{
	say(context, why, strlen(why));
	return 0;
}

static int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	say(context, resource_version, strlen(resource_version));
	say(context, continue_token, strlen(continue_token));
	say(context, &remaining, sizeof(remaining));
	return 0;
}

static const struct decoder_events events = {on_object, on_other, on_bad_object, on_list_end};

/* What was reported, and the verdict, stands in w->said. */
static void
decode(struct world *w, enum decoder_mode mode, const uint8_t *data, size_t size, size_t chunk)
{
	struct decoder *d = decoder_new(mode, &w->arena, w->intern, w->schema, &events, w, ITEM_MAX);
	uint64_t offset = 0;
	const char *why;
	int r = 0;

	must(d != NULL);
	decoder_use_protobuf(d, proto_schema_builtin());
	w->said.length = 0;
	for (size_t at = 0; at < size && r == 0; at += chunk) {
		size_t n = size - at < chunk ? size - at : chunk;
		char *piece = malloc(n); /* so that a sanitizer sees each byte read behind it */

		must(piece != NULL);
		memcpy(piece, data + at, n);
		r = decoder_feed(d, piece, n);
		free(piece);
	}
	if (r == 0)
		r = decoder_finish(d);
	must(r == 0 || r == -EBADMSG || r == -EPROTO);
	say(w, &r, sizeof(r));
	if (r < 0) {
		why = decoder_error(d, &offset);
		must(why[0] != '\0' && offset <= size);
		say(w, why, strlen(why));
		say(w, &offset, sizeof(offset));
	}
	decoder_free(d);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const drops[] = {"metadata.managedFields", "spec.containers[*].env"};
	enum decoder_mode mode = size && *data == 'L' ? DECODE_LIST : DECODE_WATCH;
	size_t chunk = 1 + (size ? data[size / 2] % 37 : 0), begin = size ? 1 : 0;
	static struct world w;
	struct bytes whole;

	if (!w.intern) {
		must(sodium_init() >= 0 && arena_create_private(&w.arena, 1u << 30) == 0);
		w.intern = intern_new(&w.arena);
		must(w.intern && proto_schema_builtin());
	}
	w.schema = decoder_schema_new(drops, 2, NULL);
	must(w.schema != NULL);
	decode(&w, mode, data + begin, size - begin, size + 1);
	whole = w.said;
	w.said = (struct bytes){0};
	decode(&w, mode, data + begin, size - begin, chunk);
	must(whole.length == w.said.length && memcmp(whole.data, w.said.data, whole.length) == 0);
	bytes_done(&whole);
	bytes_done(&w.said);
	decoder_schema_free(w.schema);
	must(intern_count(w.intern) == 0);
	arena_reclaim(&w.arena, UINT64_MAX);
	return 0;
}
