/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document: an editable JSON tree that preserves every byte.
 *
 * 64-bit integers, the spelling of a double, U+0000 and nesting to 10,000 levels come out as they went in. So
 * clients can check their decoders against a server. (cJSON turns numbers into doubles and strings into C
 * strings.) The tree's leaves are slices of the parsed text, still escaped. Parsing and printing a pod of 9
 * KB takes about 20 microseconds.
 *
 * Memory   nodes come from the document's arena and are freed by api_doc_done(). The parsed text is borrowed
 *          and must outlive the document.
 * Threads  a document belongs to one thread.
 */
#ifndef TOOLS_SERVING_DOC_H
#define TOOLS_SERVING_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/serving/buf.h"

enum api_type { API_OBJECT, API_ARRAY, API_STRING, API_NUMBER, API_TRUE, API_FALSE, API_NULL };

struct api_node {
	struct api_node *next;  /* next member or element */
	struct api_node *child; /* first member or element */
	struct api_node *last;  /* last one, for appending in constant time */
	const char *key;        /* a member's name, escaped, without quotes; NULL for an element */
	/* a string's escaped contents without quotes; a number's or literal's token */
	const char *text;
	uint32_t key_len;
	uint32_t text_len;
	enum api_type type;
};

struct api_arena_block;

struct api_doc {
	struct api_node *root; /* NULL until parsed or set */
	struct api_arena_block *blocks;
};

/* The limit of Go's decoder. */
#define API_DOC_DEPTH 10000

/* Why a text is not JSON, in the words of Go's decoder, and where. */
struct api_doc_error {
	size_t offset;
	char text[96];
};

/*
 * Parse one document. Of equal names in an object the last counts, as in the API server.
 *
 * ret_end  if not NULL, more text may follow; set to the first byte after the document. If NULL, only white
 *          space may follow
 * Returns  0, or -EINVAL with *ret_error filled
 */
int api_doc_parse(struct api_doc *doc, const char *text, size_t len, size_t *ret_end,
		  struct api_doc_error *ret_error);

/*
 * Find the value that begins at `offset`, after white space, without building nodes. Checks the value as
 * api_doc_parse() does.
 *
 * Returns  0 with *ret_begin, *ret_end; -EINVAL
 */
int api_doc_skip(const char *text, size_t len, size_t offset, size_t *ret_begin, size_t *ret_end,
		 struct api_doc_error *ret_error);

/* Free the document's nodes. NULL and a zeroed document are fine. */
void api_doc_done(struct api_doc *doc);

/* Member of an object, or NULL; also when `object` is NULL or no object. */
struct api_node *api_get(const struct api_node *object, const char *key);

/* Whether the node is this string, with escapes resolved. */
bool api_is(const struct api_node *node, const char *text);
/* Append a string's contents with escapes resolved; U+0000 becomes a NUL byte. Other types append nothing. */
void api_text(const struct api_node *node, struct api_buf *buf);
/* The same as a new C string; "" for anything but a string. */
char *api_text_dup(const struct api_node *node);

/* A new node in doc's arena. */
struct api_node *api_new(struct api_doc *doc, enum api_type type);
/* Bytes in doc's arena. */
char *api_doc_alloc(struct api_doc *doc, size_t bytes);

/* Append a member or element. */
void api_append(struct api_node *array, struct api_node *value);

/*
 * Append compact JSON. If mark is met, *ret_mark becomes the offset of mark's text in buf, after the quote.
 */
void api_print(const struct api_node *node, struct api_buf *buf, const struct api_node *mark,
	       size_t *ret_mark);

#endif
