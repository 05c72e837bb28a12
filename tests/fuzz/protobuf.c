/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a LIST or a WATCH in protobuf, by the built-in schema, whole and in pieces, with equal
 * results. An accepted object must print and equal its JSON. An error has a reason and a place. When all
 * drafts are gone, the intern table is as empty as before.
 *
 * The input: 'L' for a list, anything else for a watch; then the stream.
 */
#include "tests/fuzz/decoding.h"

#define ITEM_MAX 16384u

static struct bytes json; /* of the last object */

/* ---- an object, and its JSON ---- */

static int
keep(void *context, const char *type, size_t type_length, struct draft d)
{
	(void)type;
	(void)type_length;
	*(struct draft *)context = d;
	return 0;
}

/* The print must decode to the same print. Of members with equal names JSON has the last one. */
static void
is_the_same_in_json(struct world *w)
{
	static const struct decoder_events events = {.on_object = keep};
	struct draft again = {0};
	struct decoder *d = decoder_new(DECODE_DOCUMENT, &w->arena, w->intern, w->schema, &events, &again, 0);
	struct bytes printed = {0};
	struct value v;

	must(d != NULL);
	must(decoder_feed(d, (const char *)json.data, json.length) == 0 && decoder_finish(d) == 0);
	decoder_free(d);
	v = value_of_object(&w->arena.view, again.ref);
	must(value_to_json(v, collect, &printed) == 0);
	must(printed.length <= json.length);
	if (printed.length == json.length)
		must(memcmp(printed.data, json.data, printed.length) == 0);
	bytes_done(&printed);
	draft_discard(&w->arena, w->intern, again);
}

/* ---- the stream ---- */

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;

	json.length = 0;
	must(value_to_json(value_of_object(&w->arena.view, d.ref), collect, &json) == 0);
	say(w, type, type_length);
	say(w, json.data, json.length);
	is_the_same_in_json(w);
	draft_discard(&w->arena, w->intern, d);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const drops[] = {"metadata.managedFields", "spec.containers[*].env"};
	enum decoder_mode mode = size && *data == 'L' ? DECODE_LIST : DECODE_WATCH;
	size_t chunk = 1 + (size ? data[size / 2] % 37 : 0), begin = size ? 1 : 0;
	static struct world w;

	world_begin(&w);
	w.protobuf = proto_schema_builtin();
	w.schema = decoder_schema_new(drops, 2, NULL);
	must(w.protobuf && w.schema);
	decode_twice(&w, mode, on_object, ITEM_MAX, data + begin, size - begin, chunk);
	world_end(&w);
	return 0;
}
