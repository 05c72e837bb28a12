/* SPDX-License-Identifier: Apache-2.0 */
/* Reading fields of any storage; see field.h. */
#include "tools/printer/field.h"

#include <string.h>

static const struct field none;

enum field_kind
field_kind(struct field field)
{
	return field.source ? field.source->kind(&field) : FIELD_NONE;
}

struct field
field_get_n(struct field object, const char *name, size_t length)
{
	struct field found;

	if (field_kind(object) != FIELD_OBJECT || !object.source->get(&object, name, length, &found))
		return none;
	return found;
}

struct field
field_get(struct field object, const char *name)
{
	return field_get_n(object, name, strlen(name));
}

struct field
field_element(struct field array, size_t i)
{
	struct field found;

	if (field_kind(array) != FIELD_ARRAY || !array.source->element(&array, i, &found))
		return none;
	return found;
}

struct field
field_path(struct field object, const char *const *names)
{
	for (; *names; names++)
		object = field_get(object, *names);
	return object;
}

bool
field_is_set(struct field field)
{
	enum field_kind kind = field_kind(field);

	return kind != FIELD_NONE && kind != FIELD_NULL;
}

struct field_text
field_string(struct field field)
{
	struct field_text text = {"", 0};

	if (field_kind(field) == FIELD_STRING)
		field.source->string(&field, &text);
	return text;
}

bool
field_is(struct field field, const char *text)
{
	return field_kind(field) == FIELD_STRING && field_text_is(field_string(field), text);
}

bool
field_is_true(struct field field)
{
	return field_kind(field) == FIELD_BOOL && field.source->boolean(&field);
}

int64_t
field_int(struct field field)
{
	int64_t value;

	return field_kind(field) == FIELD_NUMBER && field.source->integer(&field, &value) ? value : 0;
}

size_t
field_count(struct field field)
{
	enum field_kind kind = field_kind(field);

	return kind == FIELD_ARRAY || kind == FIELD_OBJECT ? field.source->count(&field) : 0;
}

size_t
field_number(struct field field, char *buffer, size_t size)
{
	return field_kind(field) == FIELD_NUMBER ? field.source->number(&field, buffer, size) : 0;
}

void
field_iterate(struct field field, struct field_iter *ret_it)
{
	enum field_kind kind = field_kind(field);

	memset(ret_it, 0, offsetof(struct field_iter, private_));
	if (kind != FIELD_ARRAY && kind != FIELD_OBJECT)
		return;
	ret_it->source = field.source;
	field.source->begin(&field, ret_it);
}

bool
field_next(struct field_iter *it)
{
	return it->source && it->source->next(it);
}

bool
field_text_is(struct field_text text, const char *other)
{
	return text.length == strlen(other) && memcmp(text.data, other, text.length) == 0;
}

bool
field_text_equal(struct field_text a, struct field_text b)
{
	return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

int
field_text_compare(const void *a, const void *b)
{
	const struct field_text *x = a, *y = b;
	int r = memcmp(x->data, y->data, x->length < y->length ? x->length : y->length);

	return r ? r : (x->length > y->length) - (x->length < y->length);
}
