/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schema's text into fields, messages and kinds, line by line. A text may come from a file, so nothing of
 * it is taken for granted; whatever is wrong is said with its line.
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

/* From this release on a field has these flags; with until, up to it. */
struct proto_condition {
	uint32_t field;
	uint16_t flags;
	bool until;
	unsigned release;
};

struct proto_schema {
	char *text;  /* cut into words; names point into it */
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

/* A text that is being read. */
struct schema_text {
	struct proto_schema *s; /* with room for all of it; its text is cut into words */
	const char *text;       /* as it was given */
	size_t names_length;
	unsigned line;
	char *why; /* what is wrong, with the line */
	size_t why_size;
};

/*
 * Read it all. A name of a message that a field or a kind has is not looked for: it is left in messages[], of
 * as many as there are fields, and in the kind's `message`.
 * Returns false, with why.
 */
bool schema_text_read(struct schema_text *t, size_t length, const char **messages);

/* Say what is wrong with the line that is being read. Returns false. */
bool schema_text_bad(struct schema_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of another line, in which a word stands. */
struct schema_text *schema_text_at(struct schema_text *t, const char *word);

#endif
