/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a LIST or WATCH stream. One input is decoded as a document, a list and a watch, whole and in
 * pieces, with equal results. An accepted document must print, and its print must decode to the same print.
 * When all drafts are gone, the intern table must be as empty as before.
 */
#include "tests/fuzz/decoding.h"

#define ITEM_MAX 65536u

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;

	say(w, type, type_length);
	must(value_to_json(value_of_object(&w->arena.view, d.ref), collect, &w->said) == 0);
	say(w, "", 0);
	draft_discard(&w->arena, w->intern, d);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const drops[] = {"metadata.managedFields", "spec.containers[*].env", "a[*].b"};
	size_t chunk = 1 + (size ? data[size / 2] % 37 : 0);
	static struct world w;
	struct bytes first;

	world_begin(&w);
	w.schema = decoder_schema_new(drops, 3, NULL);
	must(w.schema != NULL);
	decode_twice(&w, DECODE_WATCH, on_object, ITEM_MAX, data, size, chunk);
	decode_twice(&w, DECODE_LIST, on_object, ITEM_MAX, data, size, chunk);
	if (decode_twice(&w, DECODE_DOCUMENT, on_object, ITEM_MAX, data, size, chunk) == 0) {
		first = w.said;
		w.said = (struct bytes){0};
		/* (the print may be longer than an item may be) */
		if (first.length < ITEM_MAX) {
			must(decode(&w, DECODE_DOCUMENT, on_object, ITEM_MAX, first.data, first.length,
				    first.length) == 0);
			must(first.length == w.said.length &&
			     memcmp(first.data, w.said.data, first.length) == 0);
		}
		bytes_done(&first);
	}
	world_end(&w);
	return 0;
}
