/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder under libFuzzer, fed whole or in pieces, and its results. */
#ifndef TESTS_FUZZ_DECODING_H
#define TESTS_FUZZ_DECODING_H

#include <sodium.h>

#include "shm-layout/value.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/arena_fixture.h"
#include "tools/schema/proto_schema.h"
#include "writer/arena/arena.h"
#include "writer/arena/intern.h"
#include "writer/base/growing.h"
#include "writer/decode/decoder.h"
#include "writer/decode/decoder_schema.h"

/*
 * protobuf  its schema; NULL: JSON
 * said      everything that one run reported, and its verdict
 */
struct world {
	struct arena arena;
	struct intern *intern;
	struct decoder_schema *schema;
	const struct proto_schema *protobuf;
	struct bytes said;
};

/* At the first input. */
static inline void
world_begin(struct world *w)
{
	if (w->intern)
		return;
	must(sodium_init() >= 0 && arena_fixture_make(&w->arena, 1u << 30) == 0);
	w->intern = intern_new(&w->arena);
	must(w->intern != NULL);
}

/* When all drafts are gone the intern table is as empty as before. */
static inline void
world_end(struct world *w)
{
	decoder_schema_free(w->schema);
	w->schema = NULL;
	must(intern_count(w->intern) == 0);
	arena_reclaim(&w->arena, UINT64_MAX);
}

static inline int
collect(const char *data, size_t length, void *context)
{
	return bytes_append(context, data, length);
}

static inline void
say(struct world *w, const void *text, size_t length)
{
	must(bytes_append(&w->said, text, length) == 0 && bytes_append(&w->said, "\n", 1) == 0);
}

static inline int
on_other(void *context, const char *type, size_t type_length, const char *json, size_t length)
{
	say(context, type, type_length);
	say(context, json, length);
	return 0;
}

static inline int
on_bad_object(void *context, const char *why)
{
	must(why[0] != '\0');
	say(context, why, strlen(why));
	return 0;
}

static inline int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	say(context, resource_version, strlen(resource_version));
	say(context, continue_token, strlen(continue_token));
	say(context, &remaining, sizeof(remaining));
	return 0;
}

/* An error has a reason and a place. */
static inline int
decode(struct world *w, enum decoder_mode mode,
       int (*on_object)(void *context, const char *type, size_t type_length, struct draft d), size_t item_max,
       const uint8_t *data, size_t size, size_t chunk)
{
	const struct decoder_events events = {on_object, on_other, on_bad_object, on_list_end, NULL};
	struct decoder *d = decoder_new(mode, &w->arena, w->intern, w->schema, &events, w, item_max);
	uint64_t offset = 0;
	const char *why;
	int r = 0;

	must(d != NULL);
	decoder_use_protobuf(d, w->protobuf);
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
	must(r == 0 || r == -EBADMSG || (w->protobuf && r == -EPROTO));
	if (r < 0) {
		why = decoder_error(d, &offset);
		must(why[0] != '\0' && offset <= size);
		say(w, why, strlen(why));
		say(w, &offset, sizeof(offset));
	}
	decoder_free(d);
	return r;
}

/* Feed the input whole, then in pieces: the results must be equal. */
static inline int
decode_twice(struct world *w, enum decoder_mode mode,
	     int (*on_object)(void *context, const char *type, size_t type_length, struct draft d),
	     size_t item_max, const uint8_t *data, size_t size, size_t chunk)
{
	int r = decode(w, mode, on_object, item_max, data, size, size ? size : 1);
	struct bytes whole = w->said;

	w->said = (struct bytes){0};
	must(decode(w, mode, on_object, item_max, data, size, chunk) == r);
	must(whole.length == w->said.length &&
	     (whole.length == 0 || memcmp(whole.data, w->said.data, whole.length) == 0));
	bytes_done(&whole);
	return r;
}

#endif
