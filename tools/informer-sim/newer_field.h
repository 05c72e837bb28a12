/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newer field: adds an unknown field to each object in protobuf, after its own fields, as a server newer than
 * its client sends.
 *
 * The bytes are complete answers of ours; each function replaces *body with the longer one.
 */
#ifndef TOOLS_INFORMER_SIM_NEWER_FIELD_H
#define TOOLS_INFORMER_SIM_NEWER_FIELD_H

#include <stdbool.h>

#include "tools/serving/buf.h"

/* To the object of a document. */
void sim_newer_object(struct api_buf *body);
/* To each item of a list. */
void sim_newer_list(struct api_buf *body);
/* To the object of a watch frame. Bookmarks and errors stay unchanged. */
void sim_newer_frame(struct api_buf *body);

/* Whether the frame has this type, such as "ERROR". */
bool sim_frame_is(const char *frame, size_t length, const char *type);

#endif
