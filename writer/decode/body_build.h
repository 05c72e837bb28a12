/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a body: values are appended in their final form to one buffer, in the order in which they
 * arrive.
 *
 * A container's head is reserved when it opens and filled in when it closes; then it may turn out to be
 * shared, and a reference takes its place. Every ref that stands in the buffer stands in `refs` too, in the
 * same order, with one reference that the builder holds: that is what goes to a shared block, or to the
 * draft, or back.
 */
#ifndef WRITER_DECODE_BODY_BUILD_H
#define WRITER_DECODE_BODY_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/path.h"
#include "writer/decode/decoder_schema.h"
#include "writer/base/growing.h"

/*
 * Room for a container's head, as long as its contents are not beyond 16 bits: tag, u16 length; of an object
 * also u32 shape.
 */
#define BODY_OBJECT_HEAD 7u
#define BODY_ARRAY_HEAD 3u

/* An open container. */
struct body_frame {
	struct path_node *node;
	struct path_node *child;	/* of the value that comes next */
	/* what came next last time, and is set to what comes now; NULL: nothing is known */
	struct path_node **predict;
	uint64_t text_start;		/* for the decoder: where its text begins in the stream */
	size_t start;			/* of its head in out */
	struct stocked_ref *shape;	/* of an object: known before its fields; NULL: by their names */
	uint32_t refs_start;
	uint32_t names_start;
	uint32_t loose_start;
	bool object;
};

struct body {
	struct arena *arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct bytes out;
	struct refs refs;
	/* of the fields of all open objects; those that the schema remembers are its own */
	struct refs names;
	struct refs loose;	/* names that nobody remembers: a reference each, until their shape has one */
	unsigned depth;
	/* what the last close, or body_string(), made of it: the block that was there already; else 0 */
	uint32_t known_ref;
	struct path near[OBJECT_NEARS];	/* to what object.h keeps near */
	struct body_frame frames[VALUE_DEPTH_MAX];
};

void body_init(struct body *b, struct arena *arena, struct intern *in, struct decoder_schema *schema);
/* Give back what was built so far. */
void body_clear(struct body *b);
void body_done(struct body *b);

/*
 * All of these: 0, -ENOSPC, -ENOMEM; -E2BIG the value cannot be represented. After a failure only clear and
 * done.
 */
int body_open(struct body *b, struct path_node *node, bool object);	/* depth < VALUE_DEPTH_MAX */
int body_close(struct body *b);
int body_shared(struct body *b, struct sharing *sharing,
		struct text_memo_place *place); /* a value whose text is known */

/*
 * The field of this name (its ref), if the object's body has it at its top, once more.
 * Returns 1; 0 it has none; -ENOMEM
 */
int body_repeat(struct body *b, uint32_t object, uint32_t name);

/*
 * The finished value as a BLOCK_OBJECT with these strings in its header, each short enough; the builder is
 * empty afterwards. source: schema_source_hash(), or 0
 * Returns 0, -ENOSPC, -ENOMEM, -E2BIG.
 */
struct body_text {
	const char *data;
	size_t length;
};
int body_emit(struct body *b, const struct body_text strings[OBJECT_STRINGS], uint64_t source,
	      uint32_t *ret_ref);
/* The source of an object that was emitted, or 0. */
uint64_t body_source(const struct object *o);

/* ---- for body_build_shape.c and body_scalar.c ---- */

/* Take over one reference that the caller holds. 0 or -ENOMEM: then it is given back. */
static inline int
body_hold(struct body *b, struct refs *list, uint32_t ref)
{
	int r = refs_push(list, ref);

	if (r < 0)
		intern_unref(b->intern, ref);
	return r;
}

/* Give back what a list holds beyond its first `start`. */
static inline void
body_release(struct body *b, struct refs *r, uint32_t start)
{
	while (r->count > start)
		intern_unref(b->intern, r->at[--r->count]);
}

#endif
