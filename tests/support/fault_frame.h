/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch's events in protobuf, for who passes them on and looks at what they are, no further than that: a
 * frame is its length in four bytes, and the event.
 */
#ifndef TESTS_SUPPORT_FAULT_FRAME_H
#define TESTS_SUPPORT_FAULT_FRAME_H

#include <stdbool.h>
#include <stddef.h>

/* How long the whole frame is that begins with these bytes; 0: there are not enough of them to tell. */
size_t fault_frame_length(const char *frame, size_t length);

/* Whether it is an event of this type ("ERROR"), by its first bytes. */
bool fault_frame_is(const char *frame, size_t length, const char *type);

/* The code of the Status in a whole ERROR, as an API server writes it; 0: it is written otherwise. */
unsigned fault_frame_code(const char *frame, size_t length);

#define FAULT_FRAME_ERROR_MAX 384u
/* An ERROR with a Status of this code, below 16,384. Returns its length. */
size_t fault_frame_error(char to[FAULT_FRAME_ERROR_MAX], unsigned code, const char *reason);

#endif
