/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a watch in protobuf: four bytes of length, the highest first, and a WatchEvent, in which a
 * document stands.
 *
 * Source    k8s.io/apimachinery/pkg/runtime/serializer/protobuf (LengthDelimitedFramer), pkg/apis/meta/v1
 */
#ifndef TOOLS_SERVING_WATCH_FRAME_H
#define TOOLS_SERVING_WATCH_FRAME_H

#include "tools/serving/buf.h"

/* Append what stands before a document of so many bytes, with which the frame ends. */
void
api_frame_head(struct api_buf *buf, const char *type, uint64_t document);

#endif
