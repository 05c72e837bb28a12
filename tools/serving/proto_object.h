/* SPDX-License-Identifier: Apache-2.0 */
/* Stored objects in protobuf, made from their text. */
#ifndef TOOLS_SERVING_PROTO_OBJECT_H
#define TOOLS_SERVING_PROTO_OBJECT_H

#include "tools/serving/shape.h"

/*
 * Append the message of an object in the shape that is asked for, plain or partial: without kind and
 * apiVersion. Of a custom resource there is the partial one alone. rv 0: the object's own.
 */
void api_proto_object(const struct api_shape *shape, const struct api_resource *resource,
		      const struct api_object *object, uint64_t rv, struct api_buf *buf);

/* What an object in this shape is called in its envelope. */
const char *api_proto_version(const struct api_shape *shape, const struct api_resource *resource);
const char *api_proto_kind(const struct api_shape *shape, const struct api_resource *resource);

#endif
