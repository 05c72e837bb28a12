/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf schema: the protobuf messages of Kubernetes' kinds, and how each field appears in JSON. It is a
 * text made from the Go types (tests/schema). One is built in; another may be read from a file, for servers
 * newer than this program.
 *
 *	kind v1 Pod core/v1.Pod
 *	message core/v1.Pod
 *	1 metadata meta/v1.ObjectMeta omitempty
 *	⋮
 *
 * How a field appears in JSON (encoding/json's rules for the Go types):
 *
 *	type                       on the wire         in JSON
 *	string, bool, int          always              zero: left out with omitempty
 *	bytes                      if not nil          empty: left out with omitempty; absent: else null
 *	*T                         if not nil          present also if zero; absent: null without omitempty
 *	[]T, map[]T                one for each entry  absent: null without omitempty
 *	a message, time, quantity  always              present; zero: left out with omitzero
 *
 * If a string, bool, int or message is absent on the wire, the server does not know the field, and JSON does
 * not have it either.
 *
 * Older releases differ: only a release that has a field prints null for it. proto_schema_fit() adapts the
 * schema to a server's release; before, it is that of the newest release.
 *
 * Threads: only proto_schema_fit() changes a schema.
 */
#ifndef TOOLS_SCHEMA_PROTO_SCHEMA_H
#define TOOLS_SCHEMA_PROTO_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTO_SCHEMA_MAX (16u << 20) /* bytes of its text */
#define PROTO_FIELDS_MAX 64u         /* in a message */
#define PROTO_NUMBER_MAX 1023u	/* of a field */

enum proto_type {
	PROTO_STRING,
	PROTO_BYTES,
	PROTO_BOOL,
	PROTO_INT,
	PROTO_MESSAGE,
	PROTO_QUANTITY,
	PROTO_INT_OR_STRING,
	PROTO_TIME,
	PROTO_MICRO_TIME,
	PROTO_RAW,	/* a message {1: JSON text} */
	PROTO_CONSTANT, /* not on the wire */
};

enum proto_flag {
	PROTO_REPEATED = 1, /* an entry on the wire for each element */
	PROTO_MAP = 2,      /* with REPEATED: the entry is {1: key, 2: T} */
	PROTO_LIST = 4,     /* a message {1: T …} on the wire; the bare list in JSON */
	PROTO_POINTER = 8,
	PROTO_OMIT_EMPTY = 16,
	PROTO_OMIT_ZERO = 32,
	PROTO_INLINE = 64,     /* its members appear in the outer object */
	PROTO_GONE = 128,      /* this server's release lacks it: absent, not null */
	PROTO_DROP_ZERO = 256, /* derived: a zero or empty value counts as absent */
};

/* Any of these: not a plain name and value. */
#define PROTO_SPECIAL (PROTO_REPEATED | PROTO_MAP | PROTO_LIST | PROTO_OMIT_ZERO | PROTO_INLINE)

#define PROTO_NAME_ROOM 32u /* readable bytes of every name, even a shorter one */

struct proto_field {
	const char *name;     /* "name": with quotes and colon, as in JSON */
	const char *constant; /* PROTO_CONSTANT: its text */
	uint16_t number;
	uint16_t tag;           /* on the wire: the number and the wire type (3 bits) */
	uint16_t message;       /* PROTO_MESSAGE: its index */
	uint16_t flags;		/* enum proto_flag */
	uint8_t type;		/* enum proto_type */
	uint8_t name_length;
};

struct proto_message {
	const char *name;
	uint64_t id;                      /* unique in this process, never reused */
	const struct proto_field *fields; /* in JSON's order */
	const uint8_t *by_number;	  /* 1 + index of the field; 0: unknown */
	/* bit i: field i appears in JSON if absent: as null, or a constant */
	uint64_t absent;
	uint16_t count;
	uint16_t highest;		  /* number */
	bool varies;                      /* the same bytes give other JSON in another release */
	bool inlines;                     /* has a PROTO_INLINE field, whose members are its own too */
};

struct proto_schema;

/*
 * Parse a schema. text is copied.
 * why      on failure, a sentence with the line
 * Returns  NULL: invalid text (see why), or no memory
 */
struct proto_schema *proto_schema_parse(const char *text, size_t length, char *why, size_t why_size);
void proto_schema_free(struct proto_schema *s);

/*
 * The built-in schema; never free it. NULL: no memory. The first call parses it: make it before other threads
 * begin.
 */
struct proto_schema *proto_schema_builtin(void);

/* The releases of k8s.io/api that it was made from: "v0.33.13 v0.34.13 …"; v0.34 is Kubernetes 1.34 */
const char *proto_schema_releases(const struct proto_schema *s);

/*
 * Adapt the schema to the server's release. A release newer than all known ones is treated as the newest.
 * With 0, or a release older than all, messages that vary are not sure (proto_schema_is_sure()). Returns
 * whether anything changed.
 */
bool proto_schema_fit(struct proto_schema *s, unsigned release);
/* The release it is adapted to; 0: not known, or older than all. */
unsigned proto_schema_release(const struct proto_schema *s);
/* The newest release it was made from; 0: the text does not say. */
unsigned proto_schema_newest(const struct proto_schema *s);
#define PROTO_SCHEMA_SPAN 64
/* Writes "Kubernetes 1.33 to 1.37", or the releases as the text has them if it does not say. Returns span. */
const char *proto_schema_span(const struct proto_schema *s, char span[PROTO_SCHEMA_SPAN]);
/* Whether this message's JSON is known to equal the server's. */
bool proto_schema_is_sure(const struct proto_schema *s, const struct proto_message *m);

/* The message of a kind, or NULL. */
const struct proto_message *
proto_schema_kind(const struct proto_schema *s, const char *api_version, size_t api_version_length,
		  const char *kind, size_t kind_length);
const struct proto_message *proto_schema_message(const struct proto_schema *s, unsigned index);

/* Whether the field is a number on the wire (wire type 0), not bytes (2). */
static inline bool
proto_is_number(const struct proto_field *f)
{
	return (f->type == PROTO_BOOL || f->type == PROTO_INT) && !(f->flags & (PROTO_MAP | PROTO_LIST));
}

/* Index of the field with this number; m->count: none. */
static inline unsigned
proto_field_index(const struct proto_message *m, uint64_t number)
{
	unsigned i = number <= m->highest ? m->by_number[number] : 0;

	return i ? i - 1 : m->count;
}

/* The field with this number, or NULL. */
static inline const struct proto_field *
proto_field_find(const struct proto_message *m, uint64_t number)
{
	unsigned i = proto_field_index(m, number);

	return i < m->count ? &m->fields[i] : NULL;
}

#endif
