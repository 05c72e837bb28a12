/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newer field: a field of no release, as a server sends that is newer than its client, behind each object's
 * own fields in protobuf.
 *
 * The bytes are answers of ours, whole; each function takes *body and puts the longer one in its place.
 */
#ifndef TOOLS_INFORMER_SIM_NEWER_FIELD_H
#define TOOLS_INFORMER_SIM_NEWER_FIELD_H

#include <stdbool.h>

#include "tools/serving/buf.h"

/* Into the object of a document, */
void sim_newer_object(struct api_buf *body);
/* into each item of a list, */
void sim_newer_list(struct api_buf *body);
/* into the object of a watch's frame. Bookmarks and errors stay as they are. */
void sim_newer_frame(struct api_buf *body);

/* Is the frame of this type, as "ERROR"? */
bool sim_frame_is(const char *frame, size_t length, const char *type);

#endif
