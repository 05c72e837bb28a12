/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields in the arena, read through the library. When a read fails, field.h's accessors return "nothing". The
 * first failure is stored here, so that a printer can tell an absent field from an unreadable one.
 */
#include "tools/informerctl/field_informer.h"

#include <errno.h>
#include <string.h>

static int first_error;

static bool
done(int r)
{
	if (r < 0 && r != INFORMER_E_NOT_FOUND && r != INFORMER_E_TYPE && first_error == 0)
		first_error = r;
	return r >= 0;
}

int
field_take_error(void)
{
	int r = first_error;

	first_error = 0;
	return r;
}

static enum field_kind
value_kind(const struct field *field)
{
	switch (informer_value_kind(&field->at)) {
	case INFORMER_NULL:
		return FIELD_NULL;
	case INFORMER_BOOL:
		return FIELD_BOOL;
	case INFORMER_INT:
	case INFORMER_UINT:
	case INFORMER_DOUBLE:
	case INFORMER_NUMBER:
		return FIELD_NUMBER;
	case INFORMER_STRING:
		return FIELD_STRING;
	case INFORMER_ARRAY:
		return FIELD_ARRAY;
	case INFORMER_OBJECT:
		return FIELD_OBJECT;
	default:
		/* a value without a kind is damaged, or its snapshot has expired */
		done(INFORMER_E_CORRUPT);
		return FIELD_NONE;
	}
}

static bool
value_string(const struct field *field, struct field_text *ret)
{
	return done(informer_value_string(&field->at, &ret->data, &ret->length));
}

static bool
value_boolean(const struct field *field)
{
	bool b = false;

	return done(informer_value_bool(&field->at, &b)) && b;
}

static bool
value_integer(const struct field *field, int64_t *ret)
{
	return done(informer_value_int(&field->at, ret));
}

struct number {
	char *buffer;
	size_t size;
	size_t length;
};

static int
take_number(void *context, const char *data, size_t length)
{
	struct number *n = context;

	if (length >= n->size - n->length)
		return -ERANGE;
	memcpy(n->buffer + n->length, data, length);
	n->length += length;
	return 0;
}

static size_t
value_number(const struct field *field, char *buffer, size_t size)
{
	struct number n = {.buffer = buffer, .size = size};

	return done(informer_value_to_json(&field->at, take_number, &n)) ? n.length : 0;
}

static size_t
value_count(const struct field *field)
{
	return informer_value_count(&field->at);
}

static bool
value_get(const struct field *object, const char *name, size_t length, struct field *ret)
{
	ret->source = object->source;
	return done(informer_value_field(&object->at, name, length, &ret->at));
}

static bool
value_element(const struct field *array, size_t i, struct field *ret)
{
	ret->source = array->source;
	return done(informer_value_element(&array->at, i, &ret->at));
}

static void
value_begin(const struct field *field, struct field_iter *it)
{
	if (!done(informer_value_iterate(&field->at, &it->private_.value)))
		it->source = NULL;
}

static bool
value_next(struct field_iter *it)
{
	int r = informer_value_next(&it->private_.value);

	if (!done(r) || r == 0)
		return false;
	it->key = it->private_.value.key;
	it->key_length = it->private_.value.key_length;
	it->item.source = it->source;
	it->item.at = it->private_.value.item;
	return true;
}

static const struct field_source source = {
	.kind = value_kind,
	.string = value_string,
	.boolean = value_boolean,
	.integer = value_integer,
	.number = value_number,
	.count = value_count,
	.get = value_get,
	.element = value_element,
	.begin = value_begin,
	.next = value_next,
};

struct field
field_of_value(const struct informer_value *value)
{
	return (struct field){.source = &source, .at = *value};
}
