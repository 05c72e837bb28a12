/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lacking fields: which parts of a resource's objects informerd leaves out of what is read here (its
 * drop:), so that nobody who read them here may write them back. metadata.managedFields does not count: an
 * update without them is whole (KEP-5958).
 *
 * Threads   the arena's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ARENA_LACKING_FIELDS_H
#define TOOLS_INFORMER_GATEWAY_ARENA_LACKING_FIELDS_H

#include <stdbool.h>

#include "tools/serving/buf.h"
#include "tools/serving/served_resource.h"

/*
 * Append the paths, of all entries that have the resource, as "a, b". False: there are none. As
 * gw_pass_through_options.lacks; arena is a struct gw_arena.
 */
bool gw_arena_lacks(void *arena, const struct api_resource *resource, struct api_buf *ret);

#endif
