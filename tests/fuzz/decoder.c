/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a LIST or WATCH stream. One input is decoded as a document, a list and a watch, whole and in
 * pieces, and these must agree; a document that is accepted must print, and what it prints must decode to
 * what prints the same; when all drafts are gone the intern table must be as empty as before. Anything else
 * aborts.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/value.h"
#include "writer/arena/arena.h"
#include "writer/decode/decoder.h"
#include "writer/base/growing.h"
#include "writer/arena/intern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ITEM_MAX 65536u

struct world {
	struct arena arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct bytes said; /* everything that one run reported */
};

static void
must(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "decoder: %s\n", what);
	abort();
}

static int
collect(const char *data, size_t length, void *context)
{
	return bytes_append(context, data, length);
}

static void
say(struct world *w, const char *text, size_t length)
{
	must(bytes_append(&w->said, text, length) == 0 && bytes_append(&w->said, "\n", 1) == 0, "no memory");
}

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;

	say(w, type, type_length);
	must(value_to_json(value_of_object(&w->arena.view, d.ref), collect, &w->said) == 0,
	     "a body that does not print");
	say(w, "", 0);
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
	say(context, (const char *)&remaining, sizeof(remaining));
	return 0;
}

static const struct decoder_events events = {on_object, on_other, on_bad_object, on_list_end};

/* Decode; what was reported, and the verdict, stands in w->said. */
static int
decode(struct world *w, enum decoder_mode mode, const uint8_t *data, size_t size, size_t chunk)
{
	struct decoder *d = decoder_new(mode, &w->arena, w->intern, w->schema, &events, w, ITEM_MAX);
	uint64_t offset = 0;
	const char *why;
	int r = 0;

	must(d != NULL, "no memory");
	w->said.length = 0;
	for (size_t at = 0; at < size && r == 0; at += chunk) {
		size_t n = size - at < chunk ? size - at : chunk;
		char *piece = malloc(n); /* so that a sanitizer sees each byte read behind it */

		must(piece != NULL, "no memory");
		memcpy(piece, data + at, n);
		r = decoder_feed(d, piece, n);
		free(piece);
	}
	if (r == 0)
		r = decoder_finish(d);
	must(r == 0 || r == -EBADMSG, "another error than malformed input");
	if (r < 0) {
		why = decoder_error(d, &offset);
		must(why[0] != '\0' && offset <= size, "an error without reason or place");
		say(w, why, strlen(why));
		say(w, (const char *)&offset, sizeof(offset));
	}
	decoder_free(d);
	return r;
}

/* The same, in pieces: the same must be said. */
static int
decode_twice(struct world *w, enum decoder_mode mode, const uint8_t *data, size_t size, size_t chunk)
{
	struct bytes whole;
	int r = decode(w, mode, data, size, size ? size : 1), again;

	whole = w->said;
	w->said = (struct bytes){0};
	again = decode(w, mode, data, size, chunk);
	must(r == again && whole.length == w->said.length &&
		     (whole.length == 0 || memcmp(whole.data, w->said.data, whole.length) == 0),
	     "the pieces made a difference");
	bytes_done(&whole);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const drops[] = {"metadata.managedFields", "spec.containers[*].env", "a[*].b"};
	size_t chunk = 1 + (size ? data[size / 2] % 37 : 0);
	static struct world w;
	struct bytes first;

	if (!w.intern) {
		must(sodium_init() >= 0 && arena_create_private(&w.arena, 1u << 30) == 0, "no arena");
		w.intern = intern_new(&w.arena);
		w.schema = decoder_schema_new(drops, 3, NULL);
		must(w.intern && w.schema, "no memory");
	}
	decode_twice(&w, DECODE_WATCH, data, size, chunk);
	decode_twice(&w, DECODE_LIST, data, size, chunk);
	if (decode_twice(&w, DECODE_DOCUMENT, data, size, chunk) == 0) {
		first = w.said;
		w.said = (struct bytes){0};
		/* (what it prints may be longer than what an item may be) */
		if (first.length < ITEM_MAX) {
			must(decode(&w, DECODE_DOCUMENT, first.data, first.length, first.length) == 0,
			     "what was printed does not decode");
			must(first.length == w.said.length &&
				     memcmp(first.data, w.said.data, first.length) == 0,
			     "it prints otherwise the second time");
		}
		bytes_done(&first);
	}
	decoder_schema_free(w.schema);
	must(intern_count(w.intern) == 0, "references were left behind");
	arena_reclaim(&w.arena, UINT64_MAX);
	w.schema = decoder_schema_new(drops, 3, NULL);
	must(w.schema != NULL, "no memory");
	return 0;
}
