/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever asks first encodes. Two who do so at once encode both, and one of them throws his away: what an
 * object's pointer shows does not change any more.
 */
#include "tools/serving/proto_object.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"

#define META_VERSION "meta.k8s.io/v1" /* what the schema has; v1beta1 is the same */
#define PARTIAL "PartialObjectMetadata"

/* The length of the field that metadata is, which is the first of all kinds. */
static size_t
metadata_length(const char *bytes, size_t len)
{
	size_t value = 0, at = 1;

	for (unsigned shift = 0; at < len; shift += 7) {
		unsigned char byte = (unsigned char)bytes[at++];

		value |= (size_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return at + value;
}

/* Append the whole message, or, where there is none, the partial one; a copy with this RV, 0: its own. */
static void
put_object(const struct api_resource *resource, const struct api_object *object, uint64_t rv,
	   struct api_buf *buf)
{
	const struct proto_message *message = resource->message ? resource->message
								: api_proto_type(META_VERSION, PARTIAL);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_buf_done) struct api_buf text = {0};
	struct api_doc_error error;

	api_object_print(resource, object, rv, &text);
	if (api_doc_parse(&doc, text.data, text.len, NULL, &error) < 0)
		return; /* memory is damaged */
	api_proto_message(proto_schema_builtin(), message, doc.root, buf);
}

const char *
api_proto_object(const struct api_shape *shape, const struct api_resource *resource,
		 struct api_object *object, size_t *ret_length)
{
	struct api_encoded *made = atomic_load_explicit(&object->encoded, memory_order_acquire);

	if (!made) {
		_cleanup_(api_buf_done) struct api_buf bytes = {0};
		struct api_encoded *other = NULL;

		put_object(resource, object, 0, &bytes);
		made = api_alloc(sizeof(*made) + bytes.len);
		made->len = bytes.len;
		made->meta_len = bytes.len ? metadata_length(bytes.data, bytes.len) : 0;
		if (bytes.len)
			memcpy(made->bytes, bytes.data, bytes.len);
		if (!atomic_compare_exchange_strong(&object->encoded, &other, made)) {
			free(made);
			made = other;
		}
	}
	*ret_length = shape->kind == API_PLAIN ? made->len : made->meta_len;
	return made->bytes;
}

void
api_proto_object_at(const struct api_shape *shape, const struct api_resource *resource,
		    const struct api_object *object, uint64_t rv, struct api_buf *buf)
{
	size_t at = buf->len;

	put_object(resource, object, rv, buf);
	if (shape->kind != API_PLAIN && buf->len > at)
		buf->len = at + metadata_length(buf->data + at, buf->len - at);
}

const char *
api_proto_version(const struct api_shape *shape, const struct api_resource *resource)
{
	if (shape->kind == API_PLAIN)
		return resource->api_version;
	return strcmp(shape->version, "v1") == 0 ? META_VERSION : "meta.k8s.io/v1beta1";
}

const char *
api_proto_kind(const struct api_shape *shape, const struct api_resource *resource)
{
	return shape->kind == API_PLAIN ? resource->kind : PARTIAL;
}
