/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal bytes are equal values, because references in them lead to the same blocks. Values with different
 * bytes are compared by content.
 */
#include "writer/decode/value_same.h"

#include <string.h>

static bool
same_within(struct value a, struct value b, unsigned depth);

/* True if the strings in both objects' headers are equal. A shared value has no object (NULL). */
static bool
same_owner(const struct object *a, const struct object *b)
{
	return a == b ||
	       (a && b && object_has_uid_of(a, b) && object_has_version_of(a, b) &&
		object_has_key(a, object_namespace(b), b->namespace_length, object_name(b), b->name_length));
}

static bool
stored_alike(struct value a, struct value b)
{
	const uint8_t *a_end = value_after(a.at, a.end), *b_end = value_after(b.at, b.end);

	return a_end && b_end && a_end - a.at == b_end - b.at &&
	       memcmp(a.at, b.at, (size_t)(a_end - a.at)) == 0;
}

static bool
same_string(struct value a, struct value b)
{
	const char *x, *y;
	size_t x_length, y_length;

	return value_string(a, &x, &x_length) && value_string(b, &y, &y_length) && x_length == y_length &&
	       memcmp(x, y, x_length) == 0;
}

static bool
same_items(struct value a, struct value b, unsigned depth)
{
	struct value_iter x = value_iterate(a), y = value_iterate(b);

	for (;;) {
		bool more = value_next(&x);

		if (value_next(&y) != more)
			return false;
		if (!more)
			return !x.damaged && !y.damaged;
		if (x.key && (x.key_length != y.key_length || memcmp(x.key, y.key, x.key_length) != 0))
			return false;
		if (!same_within(x.item, y.item, depth + 1))
			return false;
	}
}

static bool
same_within(struct value a, struct value b, unsigned depth)
{
	enum value_kind kind;

	if (!a.at || !b.at || depth > VALUE_DEPTH_MAX)
		return false;
	if (same_owner(a.own, b.own) && stored_alike(a, b))
		return true;
	kind = value_kind(a);
	if (kind != value_kind(b))
		return false;
	switch (kind) {
	case VALUE_STRING:
	case VALUE_NUMBER:
		return same_string(a, b);
	case VALUE_ARRAY:
	case VALUE_OBJECT:
		return same_items(a, b, depth);
	default: /* each value has one encoding */
		return stored_alike(a, b);
	}
}

bool
value_same(struct value a, struct value b)
{
	return same_within(a, b, 0);
}
