/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lacking fields: lists the fields that informerd drops (`drop:`) from a resource's objects, so that a client
 * cannot write such an object back. metadata.managedFields is ignored: an update without them is complete
 * (KEP-5958).
 *
 * Threads   the arena's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_LACKING_FIELDS_H
#define TOOLS_INFORMER_GATEWAY_ARENA_LACKING_FIELDS_H

#include <stdbool.h>

#include "tools/serving/buf.h"
#include "tools/serving/served_resource.h"

/*
 * Append the dropped paths of all entries of the resource, as "a, b". False: none. Used as
 * gw_pass_through_options.lacks; arena is a struct gw_arena.
 */
bool gw_arena_lacks(void *arena, const struct api_resource *resource, struct api_buf *ret);

#endif
