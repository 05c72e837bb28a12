/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a type's fields by their numbers; see proto_encode.h. */
#include "tools/serving/proto_encode.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "tools/printer/age.h"

#define NUMBER 0 /* wire types */
#define BYTES 2

/* ---- parts ---- */

static size_t
varint(char out[10], uint64_t value)
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		out[n++] = (char)(value | 0x80);
	out[n++] = (char)value;
	return n;
}

static void
put_varint(struct api_buf *buf, uint64_t value)
{
	char bytes[10];

	api_buf_put(buf, bytes, varint(bytes, value));
}

static void
tag(struct api_buf *buf, unsigned number, unsigned wire)
{
	put_varint(buf, (uint64_t)number << 3 | wire);
}

void
api_proto_begin(struct api_buf *buf, unsigned number, uint64_t length)
{
	tag(buf, number, BYTES);
	put_varint(buf, length);
}

void
api_proto_bytes(struct api_buf *buf, unsigned number, const char *data, size_t len)
{
	api_proto_begin(buf, number, len);
	api_buf_put(buf, data, len);
}

void
api_proto_text(struct api_buf *buf, unsigned number, const char *text)
{
	api_proto_bytes(buf, number, text, strlen(text));
}

static void
put_number(struct api_buf *buf, unsigned number, int64_t value)
{
	tag(buf, number, NUMBER);
	put_varint(buf, (uint64_t)value);
}

/* Begin a bytes field. end() inserts its length. */
static size_t
begin(struct api_buf *buf, unsigned number)
{
	tag(buf, number, BYTES);
	return buf->len;
}

static void
end(struct api_buf *buf, size_t at)
{
	char length[10];
	size_t inside = buf->len - at, n = varint(length, inside);

	api_buf_put(buf, length, n); /* grow by the length */
	memmove(buf->data + at + n, buf->data + at, inside);
	memcpy(buf->data + at, length, n);
}

/* ---- values ---- */

static int64_t
integer(const struct api_node *node)
{
	char digits[24] = "";

	if (node && node->type == API_NUMBER && node->text_len < sizeof(digits))
		memcpy(digits, node->text, node->text_len);
	return strtoll(digits, NULL, 10);
}

static void
put_text(struct api_buf *buf, unsigned number, const struct api_node *node)
{
	size_t at = begin(buf, number);

	if (node)
		api_text(node, buf);
	end(buf, at);
}

static void
put_base64(struct api_buf *buf, unsigned number, const struct api_node *node)
{
	_cleanup_(api_freep) char *text = api_text_dup(node);
	size_t length = strlen(text), n = 0;
	_cleanup_(api_freep) char *bytes = api_alloc(length + 1);

	sodium_base642bin((unsigned char *)bytes, length + 1, text, length, "\r\n", &n, NULL,
			  sodium_base64_VARIANT_ORIGINAL);
	api_proto_bytes(buf, number, bytes, n);
}

static void
put_time(struct api_buf *buf, const struct api_node *node)
{
	int64_t seconds;
	unsigned ns;

	if (!node || node->type != API_STRING ||
	    !age_read((struct field_text){node->text, node->text_len}, &seconds, &ns))
		return; /* null or not a time: no bytes */
	put_number(buf, 1, seconds);
	put_number(buf, 2, (int64_t)(ns - ns % 1000)); /* cut to microseconds, as upstream */
}

static void
put_int_or_string(struct api_buf *buf, const struct api_node *node)
{
	bool text = node && node->type == API_STRING;

	put_number(buf, 1, text);
	put_number(buf, 2, integer(node));
	put_text(buf, 3, text ? node : NULL);
}

/* Append one value as field `number`. node NULL: the value is absent. */
static void
put_value(struct api_buf *buf, const struct proto_field *field, unsigned number, const struct api_node *node)
{
	bool known = node && node->type != API_NULL;
	size_t at;

	switch ((enum proto_type)field->type) {
	case PROTO_STRING:
		put_text(buf, number, node);
		return;
	case PROTO_BYTES:
		if (known)
			put_base64(buf, number, node);
		return;
	case PROTO_BOOL:
		put_number(buf, number, node && node->type == API_TRUE);
		return;
	case PROTO_INT:
		put_number(buf, number, integer(node));
		return;
	default:
		break;
	}
	at = begin(buf, number);
	if (field->type == PROTO_MESSAGE)
		api_proto_message(proto_schema_message(proto_schema_builtin(), field->message), node, buf);
	else if (field->type == PROTO_QUANTITY)
		put_text(buf, 1, node);
	else if (field->type == PROTO_INT_OR_STRING)
		put_int_or_string(buf, node);
	else if (field->type != PROTO_RAW)
		put_time(buf, node);
	else if (known) {
		size_t raw = begin(buf, 1);

		api_print(node, buf, NULL, NULL);
		end(buf, raw);
	}
	end(buf, at);
}

/* Append one value, or the message that wraps a list. */
static void
put_value_or_list(struct api_buf *buf, const struct proto_field *field, unsigned number,
		  const struct api_node *node)
{
	size_t at;

	if (!(field->flags & PROTO_LIST)) {
		put_value(buf, field, number, node);
		return;
	}
	at = begin(buf, number);
	for (const struct api_node *child = node->child; child; child = child->next)
		put_value(buf, field, 1, child);
	end(buf, at);
}

/* Find a field's member. The object fits its type, so names match exactly. */
static const struct api_node *
member(const struct api_node *object, const struct proto_field *field)
{
	const struct api_node *node = object ? object->child : NULL;
	size_t len = field->name_length - 3u;

	while (node && (node->key_len != len || memcmp(node->key, field->name + 1, len) != 0))
		node = node->next;
	return node;
}

static void
put_field(struct api_buf *buf, const struct proto_field *field, const struct api_node *object)
{
	const struct api_node *node;
	size_t at;

	if (field->flags & PROTO_INLINE) {
		put_value(buf, field, field->number, object);
		return;
	}
	node = member(object, field);
	if (!node || node->type == API_NULL) {
		if (!(field->flags & (PROTO_POINTER | PROTO_REPEATED | PROTO_LIST | PROTO_GONE)))
			put_value(buf, field, field->number, NULL);
		return;
	}
	if (!(field->flags & PROTO_REPEATED)) {
		put_value_or_list(buf, field, field->number, node);
		return;
	}
	for (const struct api_node *child = node->child; child; child = child->next) {
		if (!(field->flags & PROTO_MAP)) {
			put_value_or_list(buf, field, field->number, child);
			continue;
		}
		at = begin(buf, field->number);
		put_value(buf, &(struct proto_field){.type = PROTO_STRING}, 1,
			  &(struct api_node){
				  .type = API_STRING, .text = child->key, .text_len = child->key_len});
		put_value_or_list(buf, field, 2, child);
		end(buf, at);
	}
}

void
api_proto_message(const struct proto_message *m, const struct api_node *object, struct api_buf *buf)
{
	for (unsigned number = 1; number <= m->highest; number++) {
		const struct proto_field *field = proto_field_find(m, number);

		if (field)
			put_field(buf, field, object);
	}
}
