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

bool
value_enter(struct value *v, const char *name, size_t length, uint8_t name_fp, struct value_memo *memo)
{
	const uint8_t *at, *end;
	const struct block *shape;
	_Atomic uint64_t *known;
	uint64_t word, shape_tag;
	unsigned tag;
	uint32_t ref, i;
	size_t bytes;

	if (!v->at)
		return false;
	tag = LOAD_ONCE(v->at);
	if ((tag != TAG_OBJECT16 && tag != TAG_OBJECT32) || !value_extent(tag, v->at, v->end, &at, &bytes))
		return false;
	end = at + bytes;
	ref = value_load32(at - 4);
	if (memo) {
		shape = block_at(v->view, ref, BLOCK_SHAPE, 0);
		if (!shape)
			return false;
		shape_tag = LOAD_ONCE(&shape->tag);
		known = &memo->words[ref % VALUE_MEMOS];
		word = atomic_load_explicit(known, memory_order_relaxed);
		i = (uint32_t)(word & MEMO_ABSENT);
		if ((word ^ shape_tag) > MEMO_ABSENT) { /* another shape's */
			i = position_of(v->view, ref, name, length, name_fp);
			if (i < MEMO_ABSENT || i == NOWHERE)
				atomic_store_explicit(
					known, (shape_tag & ~(uint64_t)MEMO_ABSENT) | (i & MEMO_ABSENT),
					memory_order_relaxed);
		} else if (i == MEMO_ABSENT) {
			i = NOWHERE;
		}
	} else {
		i = position_of(v->view, ref, name, length, name_fp);
	}
	if (i >= UNKNOWN)
		return false;
	for (; i > 0 && at; i--)
		at = value_end(at, end);
	return at && value_open_here(v, v->view, v->own, at, end);
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
