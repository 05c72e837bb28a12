/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored objects in protobuf. Each is encoded when it is first asked for, and lies ready from then on, as its
 * JSON does; what nobody asks for costs nothing.
 */
#ifndef TOOLS_SERVING_PROTO_OBJECT_H
#define TOOLS_SERVING_PROTO_OBJECT_H

#include "tools/serving/shape.h"

/*
 * The message of an object in the shape that is asked for, plain or partial: without kind and apiVersion. Of
 * a custom resource there is the partial one alone.
 *
 * Returns  its bytes, valid as long as the object
 */
const char *api_proto_object(const struct api_shape *shape, const struct api_resource *resource,
			     struct api_object *object, size_t *ret_length);
/* The same with another RV, appended: not kept. */
void api_proto_object_at(const struct api_shape *shape, const struct api_resource *resource,
			 const struct api_object *object, uint64_t rv, struct api_buf *buf);

/* What an object in this shape is called in its envelope. */
const char *api_proto_version(const struct api_shape *shape, const struct api_resource *resource);
const char *api_proto_kind(const struct api_shape *shape, const struct api_resource *resource);

#endif
