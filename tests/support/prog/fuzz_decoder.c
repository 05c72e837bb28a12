/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder under arbitrary bytes. One input is decoded as a document, a list and a watch, whole and in
 * pieces, and these must agree; a document that is accepted must print, and what it prints must decode to
 * what prints the same; when all drafts are gone the intern table must be as empty as before. Anything else
 * aborts.
 *
 * With libFuzzer:  clang -std=gnu17 -D_GNU_SOURCE -I. -g -fsanitize=fuzzer,address,undefined
 *                  -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION tests/support/prog/fuzz_decoder.c
 *                  tests/support/json_random.c shm-layout/[a-z]*.c writer/{arena,decode}/[a-z]*.c -lsodium
 * Without:         fuzz_decoder [-n MUTATIONS] [-s SEED] [FILE|DIR...]
 *                  each file, and then as many mutations of files and of generated documents
 */
#include <dirent.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "shm-layout/value.h"
#include "tests/support/json_random.h"
#include "writer/arena/arena.h"
#include "writer/decode/decoder.h"
#include "writer/base/growing.h"
#include "writer/arena/intern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ITEM_MAX 65536u
/*
 * Inputs that one schema learns from: with libFuzzer one, so that each input shows the same again; else more
 * is met.
 */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define SCHEMA_INPUTS 1u
#else
#define SCHEMA_INPUTS 64u
#endif

struct world {
	struct arena arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct bytes said;	/* everything that one run reported */
};

static void
must(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "fuzz_decoder: %s\n", what);
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
		char *piece = malloc(n);	/* so that a sanitizer sees each byte read behind it */

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
	static unsigned inputs;
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
	if (++inputs % SCHEMA_INPUTS != 0)
		return 0;
	decoder_schema_free(w.schema);
	must(intern_count(w.intern) == 0, "references were left behind");
	arena_reclaim(&w.arena, UINT64_MAX);
	w.schema = decoder_schema_new(drops, 3, NULL);
	must(w.schema != NULL, "no memory");
	return 0;
}

#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION

#define FILES_MAX 4096

static struct bytes files[FILES_MAX];
static size_t file_count;

static void
load(const char *path)
{
	struct stat st;
	struct bytes b = {0};
	struct dirent *e;
	FILE *f;
	DIR *dir = opendir(path);

	while (dir && (e = readdir(dir)) != NULL) {
		char inner[4096];

		if (e->d_name[0] == '.' ||
		    snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name) >= (int)sizeof(inner))
			continue;
		load(inner);
	}
	if (dir) {
		closedir(dir);
		return;
	}
	f = fopen(path, "rb");
	if (!f || fstat(fileno(f), &st) < 0 || file_count == FILES_MAX ||
	    bytes_room(&b, (size_t)st.st_size + 1) < 0) {
		fprintf(stderr, "fuzz_decoder: %s: cannot be read\n", path);
		exit(2);
	}
	b.length = fread(b.data, 1, (size_t)st.st_size, f);
	fclose(f);
	files[file_count++] = b;
}

static void
replace(struct bytes *b, size_t at, size_t gone, const void *with, size_t length)
{
	must(bytes_room(b, length) == 0, "no memory");
	memmove(b->data + at + length, b->data + at + gone, b->length - at - gone);
	memcpy(b->data + at, with, length);
	b->length = b->length - gone + length;
}

static void
wrap(struct bytes *b, const char *before, const char *behind)
{
	replace(b, 0, 0, before, strlen(before));
	replace(b, b->length, 0, behind, strlen(behind));
}

/* One change: a bit, a byte, a token put in, something taken out, or a piece copied elsewhere. */
static void
mutate(struct json_random *r, struct bytes *b)
{
	static const char *const tokens[] = {
		"{",
		"}",
		"[",
		"]",
		",",
		":",
		"\"",
		"\\",
		"\\u0000",
		"\\ud800",
		"\\udc00",
		"null",
		"true",
		"-",
		"0",
		"1e999",
		".",
		"\xc3\xa9",
		"\xf0\x9f\x98\x80",
		"\xed\xa0\x80",
		"{\"metadata\":{\"name\":\"x\"}}",
		"\"object\":",
		"\"type\":\"ADDED\",",
		"\"type\":\"ERROR\",",
		"\"items\":[",
		"\"name\":\"n\",",
		"\"metadata\":{",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
		" ",
		"\n",
		"\"managedFields\":",
		"18446744073709551615",
		"\"a\":1,\"a\":",
	};
	uint32_t at = json_random_below(r, (uint32_t)b->length + 1), left = (uint32_t)b->length - at, n;
	const char *token = tokens[json_random_below(r, sizeof(tokens) / sizeof(tokens[0]))];
	uint8_t byte, copy[64];

	switch (json_random_below(r, 6)) {
	case 0:
		if (left)
			b->data[at] = (uint8_t)(b->data[at] ^ 1u << json_random_below(r, 8));
		break;
	case 1:
		byte = (uint8_t)json_random_below(r, 256);
		replace(b, at, left ? 1 : 0, &byte, 1);
		break;
	case 2:
	case 3:
		replace(b, at, json_random_below(r, 2) && left ? 1 : 0, token, strlen(token));
		break;
	case 4:
		replace(b, at, left ? json_random_below(r, left < 20 ? left : 20) : 0, "", 0);
		break;
	default:
		n = json_random_below(r, left < sizeof(copy) ? left + 1 : sizeof(copy));
		memcpy(copy, b->data + at, n);
		replace(b, json_random_below(r, (uint32_t)b->length + 1), 0, copy, n);
	}
}

int
main(int argc, char **argv)
{
	struct json_random r = {.seed = 1};
	unsigned long count = 0;
	struct bytes b = {0};
	int i;

	for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (strcmp(argv[i], "-n") == 0)
			count = strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "-s") == 0)
			r.seed = strtoull(argv[i + 1], NULL, 10);
		else
			break;
	}
	if (i < argc && argv[i][0] == '-') {
		fprintf(stderr, "usage: fuzz_decoder [-n MUTATIONS] [-s SEED] [FILE|DIR...]\n");
		return 2;
	}
	for (; i < argc; i++)
		load(argv[i]);
	for (size_t k = 0; k < file_count; k++)
		LLVMFuzzerTestOneInput(files[k].data, files[k].length);
	for (unsigned long k = 0; k < count; k++) {
		uint32_t changes = json_random_below(&r, 5);

		b.length = 0;
		if (file_count && k % 2) {
			const struct bytes *f = &files[json_random_below(&r, (uint32_t)file_count)];

			must(bytes_append(&b, f->data, f->length) == 0, "no memory");
		} else {
			do
				json_random_document(&r);
			while (r.sent.length > 5000);
			must(bytes_append(&b, r.sent.data, r.sent.length) == 0, "no memory");
			if (k % 4 == 0) {
				wrap(&b,
				     "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{"
				     "\"name\":\"a\"},\"spec\":",
				     "}]}");
			} else if (k % 8 == 2) {
				wrap(&b,
				     "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\","
				     "\"namespace\":\"b\"},\"spec\":",
				     "}}");
			}
		}
		while (changes-- > 0)
			mutate(&r, &b);
		LLVMFuzzerTestOneInput(b.data, b.length);
	}
	printf("%zu files, %lu mutations (seed given with -s)\n", file_count, count);
	bytes_done(&b);
	json_random_done(&r);
	while (file_count > 0)
		bytes_done(&files[--file_count]);
	return 0;
}

#endif
