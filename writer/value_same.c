/*
 * Two values, compared.
 */
#include "writer/value_same.h"

#include <string.h>

static bool same_at(struct value a, struct value b, unsigned depth);

static bool
same_text(struct value a, struct value b)
{
	const char *x, *y;
	size_t x_length, y_length;

	return value_string(a, &x, &x_length) && value_string(b, &y, &y_length) && x_length == y_length && memcmp(x, y, x_length) == 0;
}

static bool
same_items(struct value a, struct value b, unsigned depth)
{
	struct value_iter x = value_iterate(a), y = value_iterate(b);

	for (;;) {
		bool more = value_next(&x);

		if (value_next(&y) != more || x.damaged || y.damaged)
			return false;
		if (!more)
			return true;
		if (x.key_length != y.key_length || (x.key_length > 0 && memcmp(x.key, y.key, x.key_length) != 0) ||
		    !same_at(x.item, y.item, depth + 1))
			return false;
	}
}

static bool
same_at(struct value a, struct value b, unsigned depth)
{
	enum value_kind kind = value_kind(a);
	const uint8_t *a_end, *b_end;

	if (depth > VALUE_DEPTH_MAX || kind == VALUE_NONE || value_kind(b) != kind)
		return false;
	if (kind == VALUE_OBJECT || kind == VALUE_ARRAY)
		return same_items(a, b, depth);
	if (kind == VALUE_STRING)
		return same_text(a, b);
	/* the rest has one form for each value */
	a_end = value_after(a.at, a.end);
	b_end = value_after(b.at, b.end);
	return a_end && b_end && a_end - a.at == b_end - b.at && memcmp(a.at, b.at, (size_t)(a_end - a.at)) == 0;
}

bool
value_same(struct value a, struct value b)
{
	return same_at(a, b, 0);
}
