/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schema text: parses a schema line by line into fields, messages and kinds. The text may come from a file,
 * so it is checked completely; each error names its line.
 *
 * Threads: one text, one thread.
 */
#ifndef TOOLS_SCHEMA_PROTO_SCHEMA_TEXT_H
#define TOOLS_SCHEMA_PROTO_SCHEMA_TEXT_H

#include "tools/schema/proto_schema.h"

struct proto_kind {
	const char *api_version, *name;
	const struct proto_message *message;
};

/* A field has these flags from this release on; with `until`, before it. */
struct proto_condition {
	uint32_t field;
	uint16_t flags;
	bool until;
	unsigned release;
};

struct proto_schema {
	char *text;  /* split into words; names point into it */
	char *names; /* "name":"name":… */
	const char *releases;
	struct proto_field *fields;
	struct proto_message *messages;
	const struct proto_message **by_name;
	struct proto_kind *kinds;
	uint8_t *numbers;
	struct proto_condition *conditions;
	size_t field_count, message_count, kind_count, condition_count;
	unsigned release; /* of the server; 0: not known */
	unsigned oldest;  /* of releases; 0: not told */
};

/* The parser's state. */
struct schema_text {
	struct proto_schema *s; /* with room for everything; its text is split into words */
	const char *text;       /* the original text */
	size_t names_length;
	unsigned line;
	char *why; /* what is wrong, with the line */
	size_t why_size;
};

/*
 * Parse the whole text. Names of messages are not resolved: a field's is stored in messages[] (as many as
 * fields), a kind's in its `message`.
 * Returns false, with why.
 */
bool schema_text_read(struct schema_text *t, size_t length, const char **messages);

/* Report an error in the current line. Returns false. */
bool schema_text_bad(struct schema_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for the line that contains a word. */
struct schema_text *schema_text_at(struct schema_text *t, const char *word);

#endif
