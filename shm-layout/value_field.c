/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a name by its fingerprint and then its text, or in the memo by the shape's tag. */
#include "shm-layout/value_field.h"

#include <string.h>

#include "shm-layout/value_bounds.h"

#define MEMO_ABSENT 0xffffu      /* in a memo: the name is not in that shape */
#define NOWHERE UINT32_MAX       /* the shape has no such name */
#define UNKNOWN (UINT32_MAX - 1) /* the name was not found, but some bytes that were read may be zeros */
#define SMALLEST_PAGE 4096u

/*
 * Whether none of the bytes that were read, from first to last, was a zero of a punched page. A page is
 * punched as a whole and stays zero, so a nonzero byte was nonzero before. False may be wrong.
 */
static bool
stands(const uint8_t *first, const uint8_t *last)
{
	bool one_page = (((uintptr_t)first ^ (uintptr_t)last) & ~(uintptr_t)(SMALLEST_PAGE - 1)) == 0;

	/* Without the fence, these loads could be done before the loads that they confirm. */
	atomic_thread_fence(memory_order_acquire);
	return LOAD_ONCE(first) != 0 &&
	       (one_page || ((size_t)(last - first) < SMALLEST_PAGE && LOAD_ONCE(last) != 0));
}

/* The position of a name in a shape, or NOWHERE, or UNKNOWN. */
static uint32_t
position_of(const struct arena_view *view, uint32_t ref, const char *name, size_t length, uint8_t name_fp)
{
	const uint8_t *fps, *hit;
	const uint32_t *names;
	uint32_t count;
	const struct block *shape = shape_load(view, ref, &names, &count);
	bool all_stand = true;

	if (!shape)
		return UNKNOWN;
	fps = shape->payload + SHAPE_FINGERPRINTS;
	for (hit = fps; (hit = memchr(hit, name_fp, count - (size_t)(hit - fps))) != NULL; hit++) {
		const char *found;
		size_t found_length;

		if (!shape_name(view, LOAD_ONCE(&names[hit - fps]), &found, &found_length))
			all_stand = false;
		else if (found_length == length && memcmp(found, name, length) == 0)
			return (uint32_t)(hit - fps);
		else
			all_stand &= stands((const uint8_t *)found - 1,
					    (const uint8_t *)found + found_length - 1);
	}
	return all_stand && count > 0 && stands(shape->payload, &fps[count - 1]) ? NOWHERE : UNKNOWN;
}

/* The fields of an object, and its shape. False: v is none. */
static inline __attribute__((always_inline)) bool
open_fields(const struct value *v, const uint8_t **ret_at, const uint8_t **ret_end, uint32_t *ret_shape)
{
	size_t bytes;
	unsigned tag;

	if (!v->at)
		return false;
	tag = LOAD_ONCE(v->at);
	if ((tag != TAG_OBJECT16 && tag != TAG_OBJECT32) || !value_extent(tag, v->at, v->end, ret_at, &bytes))
		return false;
	*ret_end = *ret_at + bytes;
	*ret_shape = value_load32(*ret_at - 4);
	return true;
}

/* As position_of(), by the memo if that knows the shape by its tag. */
static inline __attribute__((always_inline)) uint32_t
position_by_memo(const struct arena_view *view, uint32_t ref, uint64_t shape_tag, const char *name,
		 size_t length, uint8_t name_fp, struct value_memo *memo)
{
	_Atomic uint64_t *known = &memo->words[ref % VALUE_MEMOS];
	uint64_t word = atomic_load_explicit(known, memory_order_relaxed);
	uint32_t i = (uint32_t)(word & MEMO_ABSENT);

	if ((word ^ shape_tag) <= MEMO_ABSENT)
		return i == MEMO_ABSENT ? NOWHERE : i;
	/* another shape's */
	i = position_of(view, ref, name, length, name_fp);
	if (i < MEMO_ABSENT || i == NOWHERE)
		atomic_store_explicit(known, (shape_tag & ~(uint64_t)MEMO_ABSENT) | (i & MEMO_ABSENT),
				      memory_order_relaxed);
	return i;
}

bool
value_enter(struct value *v, const char *name, size_t length, uint8_t name_fp, struct value_memo *memo)
{
	const struct block *shape;
	const uint8_t *at, *end;
	uint32_t ref, i;

	if (!open_fields(v, &at, &end, &ref))
		return false;
	if (memo) {
		shape = block_at(v->view, ref, BLOCK_SHAPE, 0);
		if (!shape)
			return false;
		i = position_by_memo(v->view, ref, LOAD_ONCE(&shape->tag), name, length, name_fp, memo);
	} else {
		i = position_of(v->view, ref, name, length, name_fp);
	}
	if (i >= UNKNOWN)
		return false;
	for (; i > 0 && at; i--)
		at = value_end(at, end);
	return at && value_open_here(v, v->view, v->own, at, end);
}

#define PASS_MAX 64u /* positions that one pass finds; later fields are found one by one */

void
value_enter_each(struct value object, const struct value_name *names, unsigned count, struct value *ret)
{
	const struct block *shape = NULL;
	const uint8_t *at, *end;
	uint8_t who[PASS_MAX];
	uint64_t wanted = 0, shape_tag;
	uint32_t ref;

	for (unsigned i = 0; i < count; i++)
		ret[i] = (struct value){0};
	if (open_fields(&object, &at, &end, &ref))
		shape = block_at(object.view, ref, BLOCK_SHAPE, 0);
	if (!shape)
		return;
	shape_tag = LOAD_ONCE(&shape->tag);
	for (unsigned i = 0; i < count; i++) {
		const struct value_name *n = &names[i];
		uint32_t position = position_by_memo(object.view, ref, shape_tag, n->text, n->length,
						     n->fingerprint, n->memo);

		if (position < PASS_MAX) {
			wanted |= 1ull << position;
			who[position] = (uint8_t)i;
		} else if (position < UNKNOWN) {
			ret[i] = value_field(object, n->text, n->length, n->fingerprint);
		}
	}
	for (uint32_t position = 0; wanted && at; position++) {
		if (wanted & 1) {
			struct value *v = &ret[who[position]];

			if (!value_open_here(v, object.view, object.own, at, end))
				*v = (struct value){0};
		}
		wanted >>= 1;
		if (wanted)
			at = value_end(at, end);
	}
}

struct value
value_field(struct value object, const char *name, size_t length, uint8_t name_fp)
{
	return value_enter(&object, name, length, name_fp, NULL) ? object : (struct value){0};
}

struct value
value_at_name(struct value object, const char *name)
{
	size_t length = strlen(name);

	return value_field(object, name, length, shape_fingerprint(name, length));
}
