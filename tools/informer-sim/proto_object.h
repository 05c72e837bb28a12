/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored objects in protobuf. Each is encoded when it is first asked for, and lies ready from then on, as its
 * JSON does; what nobody asks for costs nothing.
 */
#ifndef TOOLS_INFORMER_SIM_PROTO_OBJECT_H
#define TOOLS_INFORMER_SIM_PROTO_OBJECT_H

#include "tools/informer-sim/shape.h"

/*
 * A field of no release, as a server has that is newer than its client: what stands behind an object's own
 * fields.
 */
#define SIM_PROTO_NEWER "\xd0\x7d\x01" /* number 2010, a varint */
#define SIM_PROTO_NEWER_LENGTH 3u

/*
 * The message of an object in the shape that is asked for, plain or partial: without kind and apiVersion. Of
 * a custom resource there is the partial one alone.
 *
 * Returns  its bytes, valid as long as the object
 */
const char *
sim_proto_object(const struct sim_shape *shape, const struct sim_resource *resource,
		 struct sim_object *object, size_t *ret_length);
/* The same with another RV, appended: not kept. */
void sim_proto_object_at(const struct sim_shape *shape, const struct sim_resource *resource,
			 const struct sim_object *object, uint64_t rv, struct sim_buf *buf);

/* What an object in this shape is called in its envelope. */
const char *
sim_proto_version(const struct sim_shape *shape, const struct sim_resource *resource);
const char *
sim_proto_kind(const struct sim_shape *shape, const struct sim_resource *resource);

#endif
