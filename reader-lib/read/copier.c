/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copiers. What they read is input: depth is limited by how far values may nest, and output by what a block
 * may hold.
 */
#include "reader-lib/read/copier.h"

#include <string.h>

#include "reader-lib/attach/handle.h"
#include "shm-layout/block.h"
#include "shm-layout/path.h"
#include "shm-layout/value.h"

#define FILTERED_SHAPE (1ull << 63)

void
copier_init(struct copier *c, struct informer *inf, const struct arena_view *view, const struct path_set *set,
	    size_t offset)
{
	c->view = view;
	c->set = set;
	c->offset = offset;
	c->items = 0;
	small_buffer_init(&c->body, &inf->memory, c->first_body, sizeof(c->first_body));
	small_buffer_init(&c->blocks, &inf->memory, c->first_blocks, sizeof(c->first_blocks));
	small_buffer_init(&c->table, &inf->memory, c->first_table, sizeof(c->first_table));
	small_buffer_init(&c->names, &inf->memory, c->first_names, sizeof(c->first_names));
	memset(c->first_table, 0, sizeof(c->first_table));
}

void
copier_done(struct copier *c)
{
	small_buffer_done(&c->body);
	small_buffer_done(&c->blocks);
	small_buffer_done(&c->table);
	small_buffer_done(&c->names);
}

/* ---- copies already made ---- */

static struct known *
place_of(struct known *entries, size_t count, uint64_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (count - 1);

	while (entries[i].key != 0 && entries[i].key != key)
		i = (i + 1) & (count - 1);
	return &entries[i];
}

static bool
recall(const struct copier *c, uint64_t key, uint32_t *ret_to)
{
	struct known *k = place_of((struct known *)(void *)c->table.data, c->table.size / sizeof(*k), key);

	*ret_to = k->to;
	return k->key != 0;
}

static int
remember(struct copier *c, uint64_t key, uint32_t to)
{
	struct known *entries = (struct known *)(void *)c->table.data, *bigger;
	size_t count = c->table.size / sizeof(*entries);

	if (2 * (c->table.used + sizeof(*entries)) > c->table.size) {
		bigger = allocator_get(c->table.memory, 2 * count * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		for (size_t i = 0; i < count; i++)
			if (entries[i].key != 0)
				*place_of(bigger, 2 * count, entries[i].key) = entries[i];
		allocator_put(c->table.memory, c->table.own);
		c->table.own = entries = bigger;
		c->table.data = (uint8_t *)bigger;
		c->table.size *= 2;
		count *= 2;
	}
	*place_of(entries, count, key) = (struct known){key, to};
	c->table.used += sizeof(*entries);
	return 0;
}

/* ---- names and shapes ---- */

struct unaligned32 {
	uint32_t n;
} __attribute__((packed));

static uint32_t
load32(const uint8_t *at)
{
	return ((const volatile struct unaligned32 *)(const void *)at)->n;
}

/* Add a block and write its head. ret_at: where its payload begins in c->blocks. */
static int
add_block(struct copier *c, enum block_type type, uint64_t tag, uint32_t length, uint32_t *ret_ref,
	  size_t *ret_at)
{
	struct block head = {.tag = tag, .type_length = (uint32_t)type << 28 | length};
	size_t footprint = (size_t)block_footprint(length);
	int r = small_buffer_room(&c->blocks, footprint);

	if (r < 0)
		return r;
	memset(c->blocks.data + c->blocks.used + footprint - REF_UNIT, 0, REF_UNIT);
	memcpy(c->blocks.data + c->blocks.used, &head, sizeof(head));
	*ret_ref = (uint32_t)((c->offset + c->blocks.used) / REF_UNIT);
	*ret_at = c->blocks.used + sizeof(head);
	c->blocks.used += footprint;
	return 0;
}

static int
copy_name(struct copier *c, uint32_t ref, uint32_t *ret_to)
{
	const struct block *b;
	const uint8_t *after;
	uint32_t length;
	uint8_t tag;
	size_t at;
	int r;

	if (recall(c, ref, ret_to))
		return 0;
	b = block_load(c->view, ref, BLOCK_VALUE, 1, &length);
	if (!b)
		return -EBADMSG;
	/* scalars have no references; what is no string reads as no name, in the copy as in the arena */
	tag = LOAD_ONCE(&b->payload[0]);
	if (tag >= TAG_REF && tag < TAG_STRING0)
		return -EBADMSG;
	after = value_after(b->payload, b->payload + length);
	if (!after)
		return -EBADMSG;
	r = add_block(c, BLOCK_VALUE, 0, (uint32_t)(after - b->payload), ret_to, &at);
	if (r < 0)
		return r;
	memcpy(c->blocks.data + at, b->payload, (size_t)(after - b->payload));
	return remember(c, ref, *ret_to);
}

/* b: the shape, with `count` names. */
static int
copy_shape(struct copier *c, uint32_t ref, const struct block *b, const uint32_t *names, uint32_t count,
	   uint32_t *ret_to)
{
	uint32_t to;
	size_t at, from;
	int r;

	if (recall(c, ref, ret_to))
		return 0;
	r = add_block(c, BLOCK_SHAPE, b->tag, shape_length(count), ret_to, &at);
	if (r < 0)
		return r;
	from = shape_names_offset(count);
	memcpy(c->blocks.data + at, b->payload, from);
	memcpy(c->blocks.data + at, &count, sizeof(count));
	for (uint32_t i = 0; i < count && r == 0; i++) {
		r = copy_name(c, LOAD_ONCE(&names[i]), &to);
		memcpy(c->blocks.data + at + from + 4 * (size_t)i, &to, sizeof(to));
	}
	return r < 0 ? r : remember(c, ref, *ret_to);
}

/*
 * The shape of the names on the stack from `from` on.
 *
 * which  hash of what the shape was made from; equal hashes count as equal shapes
 */
static int
make_shape(struct copier *c, size_t from, uint64_t which, uint32_t *ret_to)
{
	const struct kept_name *names = (const struct kept_name *)(const void *)(c->names.data + from);
	uint32_t count = (uint32_t)((c->names.used - from) / sizeof(*names));
	size_t at;
	int r;

	which |= FILTERED_SHAPE; /* also makes it nonzero: to a memo, 0 is an empty entry */
	if (recall(c, which, ret_to))
		return 0;
	r = add_block(c, BLOCK_SHAPE, which, shape_length(count), ret_to, &at);
	if (r < 0)
		return r;
	memset(c->blocks.data + at, 0, shape_names_offset(count));
	memcpy(c->blocks.data + at, &count, sizeof(count));
	for (uint32_t i = 0; i < count; i++) {
		c->blocks.data[at + SHAPE_FINGERPRINTS + i] = names[i].fingerprint;
		memcpy(c->blocks.data + at + shape_names_offset(count) + 4 * (size_t)i, &names[i].ref,
		       sizeof(names[i].ref));
	}
	return remember(c, which, *ret_to);
}

/* ---- values ---- */

/*
 * Begin an array or object. close_container() sets its size; two bytes are reserved. ret_start: where its tag
 * is.
 */
static int
open_container(struct copier *c, bool object, size_t *ret_start)
{
	uint8_t head[7] = {object ? TAG_OBJECT16 : TAG_ARRAY16};

	*ret_start = c->body.used;
	return small_buffer_add(&c->body, head, object ? 7 : 3);
}

static int
close_container(struct copier *c, bool object, size_t start, uint32_t shape)
{
	size_t head = object ? 7 : 3, length = c->body.used - start - head;
	uint32_t n32 = (uint32_t)length;
	uint16_t n16 = (uint16_t)length;
	uint8_t *tag;
	int r;

	if (length <= UINT16_MAX) {
		tag = c->body.data + start;
		memcpy(tag + 1, &n16, sizeof(n16));
	} else {
		r = small_buffer_room(&c->body, 2);
		if (r < 0)
			return r;
		tag = c->body.data + start;
		memmove(tag + head + 2, tag + head, length);
		c->body.used += 2;
		head += 2;
		tag[0] = object ? TAG_OBJECT32 : TAG_ARRAY32;
		memcpy(tag + 1, &n32, sizeof(n32));
	}
	if (object)
		memcpy(tag + head - 4, &shape, sizeof(shape));
	return 0;
}

static bool
is_container(struct value v)
{
	enum value_kind kind = value_kind(v);

	return kind == VALUE_ARRAY || kind == VALUE_OBJECT;
}

/*
 * Enter a field (name: where the ref of its name is) or element (NULL), if something of it is wanted. Returns
 * 1, and keeps the name; 0: nothing is wanted; or negative.
 */
static int
enter(struct copier *c, const struct path_place *place, const uint32_t *name, const struct value *v,
      struct path_place *ret_child)
{
	uint32_t ref = name ? LOAD_ONCE(name) : 0;
	struct value text = value_of_block(c->view, ref);
	struct kept_name kept = {0};
	const char *key = NULL;
	size_t length = 0;
	int r;

	if (name && !value_text(&text, &key, &length))
		return -EBADMSG;
	if (!path_set_enter(c->set, place, key, length, ret_child) || !(ret_child->whole || is_container(*v)))
		return 0;
	if (!name)
		return 1;
	kept.fingerprint = shape_fingerprint(key, length);
	r = copy_name(c, ref, &kept.ref);
	if (r == 0)
		r = small_buffer_add(&c->names, &kept, sizeof(kept));
	return r < 0 ? r : 1;
}

static int copy_value(struct copier *c, const struct value *v, const struct path_place *place,
		      unsigned depth);

/* tag: v's tag, loaded once. place: as in copy_value() */
static int
copy_container(struct copier *c, unsigned tag, const struct value *v, const struct path_place *place,
	       unsigned depth)
{
	bool object = tag == TAG_OBJECT16 || tag == TAG_OBJECT32, any = !place;
	const uint8_t *item = v->at + (tag == TAG_ARRAY16    ? 3
				       : tag == TAG_ARRAY32  ? 5
				       : tag == TAG_OBJECT16 ? 7
							     : 9),
		      *next;
	uint32_t shape = 0, fields = 0, i = 0;
	const uint32_t *names = NULL;
	const struct block *b = NULL;
	size_t kept = c->names.used, start = 0;
	uint64_t which = 0;
	int r;

	if (depth >= VALUE_DEPTH_MAX || item > v->end)
		return -EBADMSG;
	if (object) {
		b = value_shape(c->view, load32(item - 4), &names, &fields);
		if (!b || fields == 0)
			return -EBADMSG;
		which = b->tag;
	}
	r = object && !place ? copy_shape(c, load32(item - 4), b, names, fields, &shape) : 0;
	if (r == 0)
		r = open_container(c, object, &start);
	for (; r == 0 && item < v->end; item = next, i++) {
		struct path_place child;
		struct value below;

		next = value_after(item, v->end);
		if (!next || (object && i == fields) || !value_open_at(&below, v, item, v->end))
			return -EBADMSG;
		if (place) {
			r = enter(c, place, object ? &names[i] : NULL, &below, &child);
			if (r <= 0)
				continue;
			any = true;
			which = (which ^ (i + 1)) * 0x9e3779b97f4a7c15ull;
			which ^= which >> 32;
		}
		r = copy_value(c, &below, place && !path_place_all(&child) ? &child : NULL, depth + 1);
	}
	if (r == 0 && object && i != fields)
		r = -EBADMSG;
	if (r < 0)
		return r;
	if (!any) {
		c->body.used = start + 1;
		c->body.data[start] = object ? TAG_EMPTY_OBJECT : TAG_EMPTY_ARRAY;
		return 0;
	}
	r = object && place ? make_shape(c, kept, which, &shape) : 0;
	c->names.used = kept;
	return r < 0 ? r : close_container(c, object, start, shape);
}

/* Append what is wanted of a value. place NULL: all of it. */
static int
copy_value(struct copier *c, const struct value *v, const struct path_place *place, unsigned depth)
{
	unsigned tag = LOAD_ONCE(v->at);

	if (++c->items > VALUE_ITEMS_MAX)
		return -EBADMSG;
	switch (tag) {
	case TAG_ARRAY16:
	case TAG_ARRAY32:
	case TAG_OBJECT16:
	case TAG_OBJECT32:
		return copy_container(c, tag, v, place, depth);
	case TAG_OWN_NAME ... TAG_OWN_VERSION:
		return v->own ? small_buffer_add(&c->body, v->at, 1) : -EBADMSG;
	default:
		return small_buffer_add(&c->body, v->at, (size_t)(v->end - v->at));
	}
}

int
copier_copy(struct copier *c, uint32_t object_ref)
{
	struct path_place place;
	struct value v;

	if (!value_open_object(&v, c->view, object_ref))
		return -EBADMSG;
	if (c->set)
		place = path_set_start(c->set);
	return copy_value(c, &v, c->set && !path_place_all(&place) ? &place : NULL, 0);
}
