/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's schema: what was learnt about documents of one kind, path by path. All decoders of a resource
 * share it, so what the list taught serves the watch.
 *
 * A tree of nodes grows with the documents. The node of a field holds
 * - its name, as a shared block and as the bytes in which it arrives
 * - the field that came after it last time
 * - the shapes of its objects
 * - what was learnt about sharing
 *
 * All of it is a cache. It may be dropped between two items, and a document that matches nothing in it is
 * still decoded.
 *
 * Names are not remembered beyond SCHEMA_NODES_MAX nodes, or SCHEMA_CHILDREN_MAX names of one object (labels,
 * a ConfigMap's files). Such fields share the parent's `rest` node, or, if it has none, the schema's one
 * `anything` node.
 *
 * References: the schema holds one on each remembered name, and a stock of them on each remembered shape and
 * value. They are released when the cache is dropped. So blocks that no object uses may stay, up to the
 * limits below.
 */
#ifndef WRITER_DECODE_DECODER_SCHEMA_H
#define WRITER_DECODE_DECODER_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/object.h"
#include "writer/decode/field_plan.h"
#include "writer/arena/intern.h"
#include "writer/decode/sharing.h"
#include "writer/decode/text_memo.h"

#define SCHEMA_NODES_MAX 4096u
#define SCHEMA_CHILDREN_MAX 256u
#define SCHEMA_NAME_MAX 256u
#define SCHEMA_TEXT_ROOM 32
#define SCHEMA_SHAPES 32u            /* remembered per path, by a hash of their names */
#define SCHEMA_TEXT_BYTES (2u << 20) /* of remembered texts, and of strings; beyond it all are forgotten */

/*
 * drops    paths whose values are left out of bodies, e.g. "metadata.managedFields". drop_path.h says which
 *          are possible, and how many
 * Returns  NULL: out of memory (*ret_bad is -1), or a path is impossible (*ret_bad is its index)
 */
struct decoder_schema *decoder_schema_new(const char *const *drops, size_t drop_count, int *ret_bad);
/*
 * A schema for documents of which only the keys are wanted. Of each item only metadata.name, namespace, uid
 * and resourceVersion are kept, so a draft is small, and shares nothing but the names of these fields. NULL:
 * out of memory.
 */
struct decoder_schema *decoder_schema_new_for_keys(void);
/* Free it before the intern table that its decoders used last. */
void decoder_schema_free(struct decoder_schema *s);
/*
 * Forget what remembered bytes mean: from now on they may mean something else. Not within a callback of a
 * decoder.
 */
void decoder_schema_forget_texts(struct decoder_schema *s);
/*
 * Release the values that the schema remembers for speed: up to 2 MiB of texts, and up to 2 MiB of strings.
 * Until then they take room in the arena, even if no object has them. Not within a callback of a decoder.
 */
void decoder_schema_give_back(struct decoder_schema *s);

/* ---- for the decoder and the body that it builds ---- */

enum path_role {
	ROLE_NONE,
	ROLE_METADATA,
	ROLE_STRING, /* this and the next are the header's strings: enum object_string */
	ROLE_STRING_LAST = ROLE_STRING + OBJECT_STRINGS - 1,
	ROLE_SPEC,        /* a known one is copied, not decoded */
	ROLE_API_VERSION, /* only of dropped fields, as is the next */
	ROLE_KIND
};

struct path_node {
	/* the bytes to compare next: "name": as in a document without white space */
	const char *text;     /* at least SCHEMA_TEXT_ROOM bytes may be read */
	uint32_t text_length; /* 0: the name needs escapes, or there is no name */
	uint32_t name_ref;
	struct path_node *next;		/* the sibling that came after this one last time; may be NULL */
	struct path_node *first;	/* the child that came first last time */
	bool drop;
	bool unshared;			/* its containers are never shared */
	uint8_t role;                   /* enum path_role; used when the decoder emits objects with keys */

	struct path_node *element;      /* of all elements of an array */
	struct path_node *rest;		/* of fields whose names are not remembered */
	struct path_node **children;	/* by hash of the name, open addressing */
	uint32_t child_count;
	uint32_t child_mask;
	uint32_t hash;
	uint32_t name_length;

	struct stocked_ref shapes[SCHEMA_SHAPES];
	struct field_plans *plans;      /* of protobuf messages here; NULL: none */
	struct text_memo *texts;	/* of shared containers here; NULL: none */
	const void *texts_type;         /* type of those in protobuf, which the bytes do not tell */
	struct string_memo *known_strings;
	struct sharing strings;
	struct sharing containers;

	uint16_t *pending;		/* steps of drops that its children may match */
	uint16_t pending_count;
	struct path_node *chain; /* list of all nodes */
};

/* Whether this role is one of the header's strings. */
static inline bool
role_is_string(uint8_t role)
{
	return role - (unsigned)ROLE_STRING < OBJECT_STRINGS;
}

/*
 * Hash of the bytes of an item's spec; never 0. It is the same for the same bytes only while they decode to
 * the same value. The hash is keyed, so no outsider can make two specs with one hash.
 */
uint64_t schema_source_hash(const struct decoder_schema *s, const void *bytes, size_t length);

/*
 * Bind the schema to this intern table. If it was bound to another one, it drops what it remembers. Returns 0
 * or -ENOMEM.
 */
int schema_bind(struct decoder_schema *s, struct intern *in);

/*
 * An item begins; an item ends. While an item is open in any decoder, nodes and their refs stay. begin
 * returns the root node, or NULL: no memory.
 */
struct path_node *schema_item_begin(struct decoder_schema *s);
void schema_item_end(struct decoder_schema *s);

/*
 * The node of a field, remembered from now on if there is room; never NULL. Its name_ref is 0 when the name
 * is not remembered.
 */
struct path_node *schema_child(struct decoder_schema *s, struct path_node *parent, const char *name,
			       size_t length);
struct path_node *schema_element(struct decoder_schema *s, struct path_node *parent);

/* The place, at a path, of a shape with these names (at least one). */
static inline unsigned
schema_shape_place(const uint32_t *names, uint32_t count)
{
	uint32_t h = (names[0] ^ count << 20) * 0x9e3779b1u ^ names[count / 2] * 0x85ebca77u ^
		     names[count - 1] * 0xc2b2ae3du;

	return (h ^ h >> 15) * 0x27d4eb2fu >> 27;
}
_Static_assert(SCHEMA_SHAPES == 1u << 5, "decoder_schema: the place has five bits");

/* Put a shape in its place. The schema takes references of its own. */
void schema_remember_shape(struct decoder_schema *s, struct path_node *node, unsigned place, uint32_t ref);

/*
 * Remember that a container's text at this path is the value in ref; it has been met at least twice. The
 * schema takes references of its own.
 */
void schema_remember_text(struct decoder_schema *s, struct path_node *node, const char *text, size_t length,
			  uint32_t ref);
/*
 * Remember what a message with these fields becomes at this path. Takes over the caller's reference on the
 * shape. NULL: not remembered, and the caller keeps the reference.
 */
struct field_plan *schema_remember_plan(struct decoder_schema *s, struct path_node *node,
					const struct field_plan *plan, struct path_node *const *children,
					unsigned count);
void schema_remember_string(struct decoder_schema *s, struct path_node *node, uint32_t hash, uint32_t ref,
			    uint32_t length);

#endif
