/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a body: values are appended in their final form to one buffer, in order of arrival.
 *
 * A container's head is reserved when the container opens and filled in when it closes. Then the container
 * may turn out to be shared, and a reference replaces it. `refs` lists every ref in the buffer, in the same
 * order, with one reference each that the builder holds. On closing they go to a shared block or to the
 * draft, or are released.
 */
#ifndef WRITER_DECODE_BODY_BUILD_H
#define WRITER_DECODE_BODY_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/path.h"
#include "writer/decode/decoder_schema.h"
#include "writer/base/growing.h"

/*
 * Room for a container's head, for contents of up to 16 bits of length: tag, u16 length; of an object also
 * u32 shape.
 */
#define BODY_OBJECT_HEAD 7u
#define BODY_ARRAY_HEAD 3u

/* An open container. */
struct body_frame {
	struct path_node *node;
	struct path_node *child; /* of the next value */
	/* what came next last time; set to what comes next now; NULL: unknown */
	struct path_node **predict;
	uint64_t text_start;       /* for the decoder: offset of its text in the stream */
	size_t start;              /* offset of its head in out */
	struct stocked_ref *shape; /* of an object, if known before its fields; or NULL */
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
	/* names of the fields of all open objects; the schema owns those that it remembers */
	struct refs names;
	struct refs loose; /* other names, with a reference each until a shape has the name */
	unsigned depth;
	/* the existing block that the last close or body_string() found; 0: none */
	uint32_t known_ref;
	struct path near[OBJECT_NEARS]; /* paths of what object.h keeps near */
	struct body_frame frames[VALUE_DEPTH_MAX];
};

void body_init(struct body *b, struct arena *arena, struct intern *in, struct decoder_schema *schema);
/* Release what was built so far. */
void body_clear(struct body *b);
void body_done(struct body *b);

/*
 * These return 0, -ENOSPC, -ENOMEM; -E2BIG: the value cannot be represented. After a failure only clear and
 * done may follow.
 */
int body_open(struct body *b, struct path_node *node, bool object);	/* depth < VALUE_DEPTH_MAX */
int body_close(struct body *b);
int body_shared(struct body *b, struct sharing *sharing,
		struct text_memo_place *place); /* a value whose text is known */

/*
 * Append the field of this name (a ref) from the top of an existing object's body.
 * Returns 1; 0: the object has no such field; -ENOMEM
 */
int body_repeat(struct body *b, uint32_t object, uint32_t name);

/*
 * Make the finished value a BLOCK_OBJECT with these strings in its header, each short enough. The builder is
 * empty afterwards. source: schema_source_hash(), or 0.
 * Returns 0, -ENOSPC, -ENOMEM, -E2BIG
 */
struct body_text {
	const char *data;
	size_t length;
};
int body_emit(struct body *b, const struct body_text strings[OBJECT_STRINGS], uint64_t source,
	      uint32_t *ret_ref);
/* The source of an emitted object, or 0. */
uint64_t body_source(const struct object *o);

/* ---- for body_build_shape.c and body_scalar.c ---- */

/* Take over one reference of the caller. Returns 0 or -ENOMEM; then it is released. */
static inline int
body_hold(struct body *b, struct refs *list, uint32_t ref)
{
	int r = refs_push(list, ref);

	if (r < 0)
		intern_unref(b->intern, ref);
	return r;
}

/* Release what a list holds beyond its first `start`. */
static inline void
body_release(struct body *b, struct refs *r, uint32_t start)
{
	while (r->count > start)
		intern_unref(b->intern, r->at[--r->count]);
}

#endif
