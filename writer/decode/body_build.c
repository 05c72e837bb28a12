/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a body: its containers, then the draft. body_close() finds a container's shape, writes its head, and
 * decides whether to share it.
 */
#include "writer/decode/body_build.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/object.h"
#include "writer/decode/body_build_shape.h"
#include "writer/decode/value_encode.h"

/* In the order in which they stand in an object. */
static const char *const nears[OBJECT_NEARS] = {"spec.nodeName", "status.phase"};

void
body_init(struct body *b, struct arena *arena, struct intern *in, struct decoder_schema *schema)
{
	memset(b, 0, sizeof(*b));
	for (unsigned i = 0; i < OBJECT_NEARS; i++)
		path_compile(&b->near[i], nears[i], strlen(nears[i]), NULL, NULL);
	b->arena = arena;
	b->intern = in;
	b->schema = schema;
}

void
body_clear(struct body *b)
{
	body_release(b, &b->refs, 0);
	body_release(b, &b->loose, 0);
	refs_clear(&b->refs);
	refs_clear(&b->loose);
	refs_clear(&b->names);
	bytes_clear(&b->out);
	b->depth = 0;
}

void
body_done(struct body *b)
{
	body_clear(b);
	refs_done(&b->refs);
	refs_done(&b->loose);
	refs_done(&b->names);
	bytes_done(&b->out);
}

/* ---- containers ---- */

int
body_open(struct body *b, struct path_node *node, bool object)
{
	struct body_frame *f = &b->frames[b->depth];
	size_t head = object ? BODY_OBJECT_HEAD : BODY_ARRAY_HEAD;
	int r = bytes_room(&b->out, head);

	if (r < 0)
		return r;
	f->node = node;
	f->object = object;
	f->start = b->out.length;
	f->refs_start = b->refs.count;
	f->names_start = b->names.count;
	f->loose_start = b->loose.count;
	f->shape = NULL;
	f->predict = &node->first;
	f->child = NULL;
	if (!object) {
		f->child = schema_element(b->schema, node);
		if (!f->child)
			return -ENOMEM;
	}
	b->out.length += head;
	b->depth++;
	return 0;
}

/* Fill in the reserved head. If the length needs a longer head, the contents move. */
static int
write_head(struct body *b, const struct body_frame *f, uint32_t shape)
{
	size_t head = f->object ? BODY_OBJECT_HEAD : BODY_ARRAY_HEAD,
	       length = b->out.length - f->start - head;
	uint32_t n32 = (uint32_t)length;
	uint16_t n16 = (uint16_t)length;
	uint8_t *at;
	int r;

	if (length > BLOCK_LENGTH_MAX)
		return -E2BIG;
	if (length <= UINT16_MAX) {
		at = b->out.data + f->start;
		*at = f->object ? TAG_OBJECT16 : TAG_ARRAY16;
		memcpy(at + 1, &n16, 2);
		if (f->object)
			memcpy(at + 3, &shape, 4);
		return 0;
	}
	r = bytes_room(&b->out, 2);
	if (r < 0)
		return r;
	at = b->out.data + f->start;
	memmove(at + head + 2, at + head, length);
	b->out.length += 2;
	*at = f->object ? TAG_OBJECT32 : TAG_ARRAY32;
	memcpy(at + 1, &n32, 4);
	if (f->object)
		memcpy(at + 5, &shape, 4);
	return 0;
}

/* Replace the container that has just been closed by a reference to a shared block. */
static int
share(struct body *b, const struct body_frame *f, struct stocked_ref *shape_from)
{
	size_t length = b->out.length - f->start;
	uint32_t ref;
	bool known;
	int r = intern_get(b->intern, BLOCK_VALUE, b->out.data + f->start, (uint32_t)length, &ref, &known);

	if (r == -E2BIG)
		return 0;	/* the container stays in place */
	if (r < 0)
		return r;
	sharing_note(&f->node->containers, known, (uint32_t)length);
	if (known && shape_from) {
		shape_from->stock++;
		b->refs.count--;
	}
	if (known) {
		body_release(b, &b->refs, f->refs_start);
		b->known_ref = ref;
	}
	b->refs.count = f->refs_start;
	b->out.length = f->start + encode_ref(b->out.data + f->start, ref);
	return body_hold(b, &b->refs, ref);
}

int
body_close(struct body *b)
{
	struct body_frame *f = &b->frames[b->depth - 1];
	struct stocked_ref *shape_from = NULL;
	bool empty = b->out.length == f->start + (f->object ? BODY_OBJECT_HEAD : BODY_ARRAY_HEAD);
	uint32_t shape = 0;
	int r = 0;

	b->known_ref = 0;
	if (empty) {
		b->out.data[f->start] = f->object ? TAG_EMPTY_OBJECT : TAG_EMPTY_ARRAY;
		b->out.length = f->start + 1;
		b->depth--;
		return 0;
	}
	if (f->object) {
		shape_from = f->shape;
		if (shape_from)
			shape = stocked_ref_take(shape_from, b->intern);
		else
			r = body_shape(b, f, &shape, &shape_from);
		if (r == 0)
			r = body_hold(b, &b->refs, shape);
		if (r < 0)
			return r;
		b->names.count = f->names_start;
		if (b->loose.count > f->loose_start)
			body_release(b, &b->loose, f->loose_start);
	}
	r = write_head(b, f, shape);
	if (r < 0)
		return r;
	b->depth--;
	if (b->out.length - f->start >= SHARING_CONTAINER_MIN && b->depth > 0 && !f->node->unshared &&
	    sharing_wanted(&f->node->containers))
		return share(b, f, shape_from);
	return 0;
}

int
body_shared(struct body *b, struct sharing *sharing, struct text_memo_place *place)
{
	int r = bytes_room(&b->out, ENCODED_HEAD_MAX);

	if (r < 0)
		return r;
	b->out.length += encode_ref(b->out.data + b->out.length, place->value.ref);
	sharing_note(sharing, true, place->length);
	return body_hold(b, &b->refs, stocked_ref_take(&place->value, b->intern));
}

static int
hold_once_more(uint32_t ref, void *context)
{
	struct body *b = context;

	intern_ref(b->intern, ref);
	return body_hold(b, &b->refs, ref);
}

int
body_repeat(struct body *b, uint32_t object, uint32_t name)
{
	struct value body = value_of_object(&b->arena->view, object);
	struct value_fields fields;
	const uint32_t *names;
	const uint8_t *at, *end;
	uint32_t count, i = 0;
	int r;

	if (!value_open_fields(&body, &fields))
		return 0;
	names = value_shape_names(fields.shape, &count);
	while (names && i < count && names[i] != name)
		i++;
	at = names && i < count ? value_skip(fields.at, fields.end, i) : NULL;
	end = at ? value_after(at, fields.end) : NULL;
	if (!end)
		return 0;
	r = bytes_append(&b->out, at, (size_t)(end - at));
	if (r == 0)
		r = value_each_ref(at, end, hold_once_more, b);
	return r < 0 ? r : 1;
}

/* ---- writing the finished body ---- */

/* Write the length and the bytes of the string at the path; length 0: see object.h. Returns their number. */
static size_t
near_string(const struct body *b, const struct path *path, uint8_t *to)
{
	struct value v = {.view = &b->arena->view, .at = b->out.data, .end = b->out.data + b->out.length};
	const char *data = NULL;
	size_t length = 0;

	if (!path_follow(path, &v) || !value_text(&v, &data, &length) || length > UINT8_MAX)
		length = 0;
	*to = (uint8_t)length;
	if (length)
		memcpy(to + 1, data, length);
	return 1 + length;
}

/* Write the near strings (object.h). Returns their bytes, 0 if all are empty. */
static size_t
near_strings(const struct body *b, uint8_t *to)
{
	size_t length = 0;

	for (unsigned i = 0; i < OBJECT_NEARS; i++)
		length += near_string(b, &b->near[i], to + length);
	return length > OBJECT_NEARS ? length : 0;
}

static char *
append(char *to, const void *data, size_t length)
{
	memcpy(to, data, length);
	return to + length;
}

int
body_emit(struct body *b, const struct body_text strings[OBJECT_STRINGS], uint64_t source, uint32_t *ret_ref)
{
	const struct body_text name = strings[OBJECT_NAME], ns = strings[OBJECT_NAMESPACE],
			       uid = strings[OBJECT_UID], version = strings[OBJECT_VERSION];
	uint8_t near[OBJECT_NEARS * (1 + UINT8_MAX)];
	size_t near_length = name.length ? near_strings(b, near) : 0;
	size_t source_length = source ? sizeof(source) : 0;
	size_t body_offset = offsetof(struct object, key) + ns.length + name.length + near_length +
			     source_length + uid.length + version.length;
	struct object *o;
	char *at;
	uint32_t ref;
	int r;

	if (b->out.length > BLOCK_LENGTH_MAX - body_offset)
		return -E2BIG;
	r = arena_new_block(b->arena, BLOCK_OBJECT, (uint32_t)(body_offset + b->out.length), 0, &ref);
	if (r < 0)
		return r;
	o = arena_payload(b->arena, ref);
	memset(o, 0, offsetof(struct object, key));
	o->key_hash = object_key_hash(b->arena->header->hash_key, ns.data, ns.length, name.data, name.length);
	o->namespace_length = (uint8_t)ns.length;
	o->flags = (near_length ? OBJECT_NEAR : 0) | (source ? OBJECT_SOURCE : 0);
	o->name_length = (uint16_t)name.length;
	o->body_offset = (uint16_t)body_offset;
	o->uid_length = (uint8_t)uid.length;
	o->version_length = (uint8_t)version.length;
	at = append(o->key, ns.data, ns.length);
	at = append(at, name.data, name.length);
	at = append(at, near, near_length);
	at = append(at, &source, source_length);
	at = append(at, uid.data, uid.length);
	at = append(at, version.data, version.length);
	append(at, b->out.data, b->out.length);
	refs_clear(&b->refs);	/* the references are the draft's now */
	body_clear(b);
	*ret_ref = ref;
	return 0;
}

uint64_t
body_source(const struct object *o)
{
	uint64_t source = 0;

	if (o->flags & OBJECT_SOURCE)
		memcpy(&source, object_uid(o) - sizeof(source), sizeof(source));
	return source;
}
