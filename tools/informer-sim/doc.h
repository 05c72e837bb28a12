/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON document that can be edited without losing a byte.
 *
 * The simulator hands out the documents it was given, so that others can prove
 * their decoders against it: 64-bit integers, the spelling of a double, U+0000
 * and a nesting of ten thousand must come out as they went in. cJSON turns
 * numbers into doubles and strings into C strings; it serves the small fixed
 * documents (discovery, statistics). Kubernetes objects live in this tree, whose
 * leaves are slices of the text they were parsed from, still escaped. That is
 * also quick: parsing and printing a pod of 9 KB costs some 20 microseconds.
 *
 * Memory   nodes come from the document's arena and go with sim_doc_done(). The
 *          parsed text is borrowed and must outlive the document.
 * Threads  a document belongs to one thread.
 */
#ifndef TOOLS_INFORMER_SIM_DOC_H
#define TOOLS_INFORMER_SIM_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/informer-sim/buf.h"

enum sim_type { SIM_OBJECT, SIM_ARRAY, SIM_STRING, SIM_NUMBER, SIM_TRUE, SIM_FALSE, SIM_NULL };

struct sim_node {
	struct sim_node *next;	/* next member or element */
	struct sim_node *child; /* first member or element */
	struct sim_node *last;	/* last one, so that appending is cheap */
	const char *key;	/* a member's name, escaped, without quotes; NULL for an element */
	/* a string's contents, escaped, without quotes; a number's or literal's token */
	const char *text;
	uint32_t key_len;
	uint32_t text_len;
	enum sim_type type;
};

struct sim_arena_block;

struct sim_doc {
	struct sim_node *root; /* NULL until parsed or set */
	struct sim_arena_block *blocks;
};

/* As deep as Go's decoder goes. */
#define SIM_DOC_DEPTH 10000

/* Why a text is not JSON, in the words of Go's decoder, and where. */
struct sim_doc_error {
	size_t offset;
	char text[96];
};

/*
 * Parse one document. Of equal names in an object the last one wins, as in the API server.
 *
 * ret_end  if not NULL, may be followed by more: set to the first byte behind the document;
 *          if NULL, only white space may follow
 * Returns  0, or -EINVAL with *ret_error filled
 */
int sim_doc_parse(struct sim_doc *doc, const char *text, size_t len, size_t *ret_end,
		  struct sim_doc_error *ret_error);

/*
 * Find the end of the value that begins at `offset` (white space before it is skipped)
 * without building nodes; the value is checked as by sim_doc_parse.
 *
 * Returns  0 with *ret_begin, *ret_end; -EINVAL
 */
int
sim_doc_skip(const char *text, size_t len, size_t offset, size_t *ret_begin, size_t *ret_end,
	     struct sim_doc_error *ret_error);

/* Free the document's nodes. NULL and a zeroed document are fine. */
void
sim_doc_done(struct sim_doc *doc);

/* Member of an object, or NULL; also when `object` is NULL or no object. */
struct sim_node *
sim_get(const struct sim_node *object, const char *key);
/* The same through several objects: "metadata.labels". */
struct sim_node *
sim_path(const struct sim_node *object, const char *path);

/* Is it this string? Escapes are resolved. */
bool
sim_is(const struct sim_node *node, const char *text);
/*
 * A string's contents with escapes resolved, appended to buf; U+0000 becomes a NUL byte. Other types add
 * nothing.
 */
void
sim_text(const struct sim_node *node, struct sim_buf *buf);
/* The same as a new C string; "" for anything but a string. */
char *
sim_text_dup(const struct sim_node *node);
/* The same for a member's name. */
void
sim_key(const struct sim_node *node, struct sim_buf *buf);

/* New nodes in doc's arena. Texts are copied. */
struct sim_node *
sim_new(struct sim_doc *doc, enum sim_type type);
struct sim_node *
sim_new_string(struct sim_doc *doc, const char *text);
/* Number or literal, given as its token. */
struct sim_node *
sim_new_token(struct sim_doc *doc, enum sim_type type, const char *token);
/* Bytes of doc's arena. */
char *
sim_doc_alloc(struct sim_doc *doc, size_t bytes);

/* Set a member, in place where it is there, else at the end. */
void
sim_set(struct sim_doc *doc, struct sim_node *object, const char *key, struct sim_node *value);
void
sim_set_string(struct sim_doc *doc, struct sim_node *object, const char *key, const char *text);
/* Set a member right behind another one (at the end if there is none); where it is there, in place. */
void
sim_set_after(struct sim_doc *doc, struct sim_node *object, const char *after, const char *key,
	      struct sim_node *value);
/* The value takes over a member's name and place; its members and elements are shared. */
void
sim_become(struct sim_node *member, const struct sim_node *value);
/* Make the node a string with these contents. */
void
sim_put_text(struct sim_doc *doc, struct sim_node *node, const char *text);
void
sim_append(struct sim_node *array, struct sim_node *value);
/* Returns whether it was there. */
bool
sim_remove(struct sim_node *object, const char *key);
/* A deep copy in doc's arena; texts stay borrowed. */
struct sim_node *
sim_clone(struct sim_doc *doc, const struct sim_node *node);
/* Number of members or elements. */
size_t
sim_count(const struct sim_node *node);

/* Equal as documents: order of members does not matter, spelling of escapes does. */
bool
sim_equal(const struct sim_node *a, const struct sim_node *b);

/*
 * Append compact JSON. *ret_mark, if mark is met, becomes the offset in buf of mark's text (behind the
 * quote).
 */
void
sim_print(const struct sim_node *node, struct sim_buf *buf, const struct sim_node *mark, size_t *ret_mark);
/* One member, with its name. */
void sim_print_member(const struct sim_node *node, struct sim_buf *buf, const struct sim_node *mark,
		      size_t *ret_mark);

#endif
