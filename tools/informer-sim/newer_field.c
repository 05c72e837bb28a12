/* SPDX-License-Identifier: Apache-2.0 */
/* Copies messages field by field along the path to the objects, because lengths grow; see newer_field.h. */
#include "tools/informer-sim/newer_field.h"

#include <string.h>

#include "tools/serving/proto_encode.h"

#define FIELD "\xd0\x7d\x01" /* number 2010, a varint */
#define FIELD_LENGTH 3u
#define MAGIC_LENGTH 4u /* of "k8s\0" before a document, and of the length before a frame */
#define TYPE_AT (MAGIC_LENGTH + 2)

/* A path of nested field numbers. OBJECT: the path ends at an object. DOCUMENT: a magic comes next. */
enum { OBJECT, EVENT_OBJECT = 2, RAW_EXTENSION = 1, UNKNOWN_RAW = 2, ITEMS = 2, DOCUMENT = 99 };

static uint64_t
take_varint(const char **at)
{
	uint64_t value = 0;
	unsigned char byte;

	for (unsigned shift = 0;; shift += 7) {
		byte = (unsigned char)*(*at)++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

static void
grow(const char *at, size_t length, const unsigned char *path, struct api_buf *out)
{
	const char *end = at + length;

	if (*path == DOCUMENT) {
		api_buf_put(out, at, MAGIC_LENGTH);
		at += MAGIC_LENGTH;
		path++;
	}
	while (*path != OBJECT && at < end) {
		const char *field = at;
		uint64_t tag = take_varint(&at), value = take_varint(&at);
		_cleanup_(api_buf_done) struct api_buf grown = {0};

		at += (tag & 7) == 2 ? value
				     : 0; /* these messages have only varints and lengths */
		if (tag >> 3 != *path) {
			api_buf_put(out, field, (size_t)(at - field));
			continue;
		}
		grow(at - value, (size_t)value, path + 1, &grown);
		api_proto_begin(out, *path, grown.len);
		api_buf_put(out, grown.data, grown.len);
	}
	if (*path != OBJECT)
		return;
	api_buf_put(out, at, (size_t)(end - at));
	api_buf_put(out, FIELD, FIELD_LENGTH);
}

static void
replace(struct api_buf *body, struct api_buf *grown)
{
	api_buf_done(body);
	*body = *grown;
}

void
sim_newer_object(struct api_buf *body)
{
	struct api_buf grown = {0};

	grow(body->data, body->len, (const unsigned char[]){DOCUMENT, UNKNOWN_RAW, OBJECT}, &grown);
	replace(body, &grown);
}

void
sim_newer_list(struct api_buf *body)
{
	struct api_buf grown = {0};

	grow(body->data, body->len, (const unsigned char[]){DOCUMENT, UNKNOWN_RAW, ITEMS, OBJECT}, &grown);
	replace(body, &grown);
}

void
sim_newer_frame(struct api_buf *body)
{
	static const unsigned char path[] = {EVENT_OBJECT, RAW_EXTENSION, DOCUMENT, UNKNOWN_RAW, OBJECT};
	struct api_buf grown = {0};
	uint64_t length;

	if (sim_frame_is(body->data, body->len, "BOOKMARK") || sim_frame_is(body->data, body->len, "ERROR"))
		return;
	api_buf_put(&grown, body->data, MAGIC_LENGTH);
	grow(body->data + MAGIC_LENGTH, body->len - MAGIC_LENGTH, path, &grown);
	length = grown.len - MAGIC_LENGTH;
	for (unsigned i = 0; i < MAGIC_LENGTH; i++)
		grown.data[i] = (char)(length >> 8 * (MAGIC_LENGTH - 1 - i));
	replace(body, &grown);
}

bool
sim_frame_is(const char *frame, size_t length, const char *type)
{
	size_t n = strlen(type);

	return length >= TYPE_AT + n && (size_t)frame[TYPE_AT - 1] == n && !memcmp(frame + TYPE_AT, type, n);
}
