/* SPDX-License-Identifier: Apache-2.0 */
/* A partial object is only the metadata, the whole object's first field; see proto_object.h. */
#include "tools/serving/proto_object.h"

#include <string.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"

#define META_VERSION "meta.k8s.io/v1" /* version in the schema; v1beta1 has the same fields */
#define PARTIAL "PartialObjectMetadata"

void
api_proto_object(const struct api_shape *shape, const struct api_resource *resource,
		 const struct api_object *object, uint64_t rv, struct api_buf *buf)
{
	const struct proto_message *message = shape->kind == API_PLAIN
						      ? resource->message
						      : api_proto_type(META_VERSION, PARTIAL);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_buf_done) struct api_buf text = {0};
	struct api_doc_error error;

	api_object_print(resource, object, rv, &text);
	if (api_doc_parse(&doc, text.data, text.len, NULL, &error) < 0)
		return; /* cannot happen for a stored text */
	api_proto_message(message, doc.root, buf);
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
