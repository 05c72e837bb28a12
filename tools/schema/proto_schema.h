/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema of protobuf: what the messages of Kubernetes' kinds are on the wire, and what becomes of each
 * field in JSON. A text, made of the Go types (tests/schema), of which one is built in; another may be read
 * from a file, for servers newer than this program.
 *
 *	kind v1 Pod core/v1.Pod
 *	message core/v1.Pod
 *	1 metadata meta/v1.ObjectMeta omitempty
 *	⋮
 *
 * What a field on the wire, or its absence, becomes (the Go types' rules, as encoding/json has them):
 *
 *	string, bytes, bool, int   there, always:      a zero is left out with omitempty
 *	*T                         there if not nil:   a zero stands there; absent: null without omitempty
 *	[]T, map[]T, bytes         an entry each:      absent: null without omitempty
 *	a message, time, quantity  there, always:      stands there; omitzero: not when it is zero
 *
 * A string, bool, int or message that is absent is one that the server does not know: its JSON has none
 * either.
 *
 * Some of it is otherwise in older releases: null for what is absent prints only who has the field at all.
 * proto_schema_fit() makes the schema that of one server; until then it is that of the newest release.
 *
 * Threads: a schema changes by proto_schema_fit() alone.
 */
#ifndef TOOLS_SCHEMA_PROTO_SCHEMA_H
#define TOOLS_SCHEMA_PROTO_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTO_SCHEMA_MAX (16u << 20) /* bytes of its text */
#define PROTO_FIELDS_MAX 64u	/* of a message */
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
	PROTO_REPEATED = 1,	/* an entry on the wire for each element */
	PROTO_MAP = 2,		/* with REPEATED: the entry is {1: key, 2: T} */
	PROTO_LIST = 4,		/* what stands there is a message {1: T …}, in JSON the bare list */
	PROTO_POINTER = 8,
	PROTO_OMIT_EMPTY = 16,
	PROTO_OMIT_ZERO = 32,
	PROTO_INLINE = 64,	/* its members stand in the outer object */
	PROTO_GONE = 128,	/* this server does not have it: absent is absent, not null */
	PROTO_DROP_ZERO = 256,	/* follows: a zero, or length 0, is as if it were absent */
};

/* Any of these: it is more than a name and a value. */
#define PROTO_SPECIAL (PROTO_REPEATED | PROTO_MAP | PROTO_LIST | PROTO_OMIT_ZERO | PROTO_INLINE)

#define PROTO_NAME_ROOM 32u /* bytes of a name that may be read, however short it is */

struct proto_field {
	const char *name;	/* "name": as it stands in JSON, in quotes and with the colon */
	const char *constant;	/* of a PROTO_CONSTANT: its text */
	uint16_t number;
	uint16_t tag;		/* on the wire: the number and, in three bits, the wire type */
	uint16_t message;	/* of a PROTO_MESSAGE */
	uint16_t flags;		/* enum proto_flag */
	uint8_t type;		/* enum proto_type */
	uint8_t name_length;
};

struct proto_message {
	const char *name;
	uint64_t id;		/* no other message of this process has it, nor had */
	const struct proto_field *fields; /* in the order of JSON */
	const uint8_t *by_number;	  /* 1 + index of the field; 0: unknown */
	/* bit i: field i stands in JSON though it is absent: null, or a constant */
	uint64_t absent;
	uint16_t count;
	uint16_t highest;		  /* number */
	bool varies;			  /* the same bytes are other JSON in another release */
	bool inlines;			  /* a field is PROTO_INLINE: its object has others' members, too */
};

struct proto_schema;

/*
 * Read a schema. text is copied.
 * why      after a failure, a sentence with the line
 * Returns  NULL: it is none (why says what is wrong), or no memory
 */
struct proto_schema *proto_schema_parse(const char *text, size_t length, char *why, size_t why_size);
void proto_schema_free(struct proto_schema *s);

/*
 * The one that is built in; never to be freed. NULL: no memory. The first call reads it: where there are
 * threads, before they begin.
 */
struct proto_schema *proto_schema_builtin(void);

/* "v0.33.13 v0.34.13 …": what it was made of, of k8s.io/api; v0.34 is Kubernetes 1.34's */
const char *proto_schema_releases(const struct proto_schema *s);

/*
 * The server is of this release: what the schema says is what that one prints; one that is newer than all of
 * them prints as the newest. 0, or older than all of them: nobody knows what it prints of messages that vary.
 * Returns whether something is otherwise now.
 */
bool proto_schema_fit(struct proto_schema *s, unsigned release);
/* That one; 0: not known, or older than all. */
unsigned proto_schema_release(const struct proto_schema *s);
/* The newest that the schema was made of; 0: it does not tell. */
unsigned proto_schema_newest(const struct proto_schema *s);
/* Whether what this message becomes is what the server prints. */
bool proto_schema_is_sure(const struct proto_schema *s, const struct proto_message *m);

/* The message of a kind, or NULL. */
const struct proto_message *
proto_schema_kind(const struct proto_schema *s, const char *api_version, size_t api_version_length,
		  const char *kind, size_t kind_length);
const struct proto_message *proto_schema_message(const struct proto_schema *s, unsigned index);

/* Whether what stands there is a number (wire type 0), not bytes (2). */
static inline bool
proto_is_number(const struct proto_field *f)
{
	return (f->type == PROTO_BOOL || f->type == PROTO_INT) && !(f->flags & (PROTO_MAP | PROTO_LIST));
}

/* Which field has this number; m->count: none. */
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
