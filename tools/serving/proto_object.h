/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes stored objects in protobuf, from their text. */
#ifndef TOOLS_SERVING_PROTO_OBJECT_H
#define TOOLS_SERVING_PROTO_OBJECT_H

#include "tools/serving/shape.h"

/*
 * Append an object as a message in the requested shape, plain or partial, without kind and apiVersion. A
 * custom resource can only be partial. rv 0: the object's own.
 */
void api_proto_object(const struct api_shape *shape, const struct api_resource *resource,
		      const struct api_object *object, uint64_t rv, struct api_buf *buf);

/* apiVersion and kind of the envelope for this shape. */
const char *api_proto_version(const struct api_shape *shape, const struct api_resource *resource);
const char *api_proto_kind(const struct api_shape *shape, const struct api_resource *resource);

#endif
