/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of a watch in protobuf, for a proxy that passes them on and needs their type. A frame is its length
 * in four bytes, and the event.
 */
#ifndef TESTS_SUPPORT_FAULT_FRAME_H
#define TESTS_SUPPORT_FAULT_FRAME_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the whole frame that begins with these bytes; 0: too few bytes to tell. */
size_t fault_frame_length(const char *frame, size_t length);

/* True if the frame is an event of this type ("ERROR"). */
bool fault_frame_is(const char *frame, size_t length, const char *type);

/* The code of the Status in a whole ERROR frame, as an API server writes it; 0: written otherwise. */
unsigned fault_frame_code(const char *frame, size_t length);

#define FAULT_FRAME_ERROR_MAX 384u
/* Write an ERROR frame with a Status of this code (below 16,384). Returns its length. */
size_t fault_frame_error(char to[FAULT_FRAME_ERROR_MAX], unsigned code, const char *reason);

#endif
