/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends scalars to the body being built: strings, numbers, and values that are a tag alone.
 *
 * A number is kept exactly as an integer if 64 bits hold it. A number with fraction or exponent becomes the
 * nearest double. Integers beyond 64 bits, and numbers that no double holds, are kept as text.
 */
#ifndef WRITER_DECODE_BODY_SCALAR_H
#define WRITER_DECODE_BODY_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/value.h"
#include "writer/decode/body_build.h"
#include "writer/decode/value_encode.h"

/* These return 0, -ENOSPC, -ENOMEM. After a failure only body_clear() and body_done() may follow. */

int body_tag(struct body *b, enum value_tag tag);

/* A string of at least SHARING_STRING_MIN bytes. */
int body_long_string(struct body *b, struct path_node *node, const char *data, size_t length);

/*
 * A string that is too short to be shared. Inline, because a call would cost more than copying so few bytes.
 */
static inline int
body_short_string(struct body *b, const char *data, size_t length)
{
	int r = bytes_room(&b->out, length + ENCODED_HEAD_MAX);
	uint8_t *to;

	if (r < 0)
		return r;
	to = b->out.data + b->out.length;
	to += encode_string_head(to, length);
	b->out.length += 1 + length;
	if (length >= 8) { /* two halves, of which some bytes may be the same */
		memcpy(to, data, 8);
		memcpy(to + length - 8, data + length - 8, 8);
	} else if (length >= 4) {
		memcpy(to, data, 4);
		memcpy(to + length - 4, data + length - 4, 4);
	} else {
		for (size_t i = 0; i < length; i++)
			to[i] = (uint8_t)data[i];
	}
	return 0;
}
_Static_assert(SHARING_STRING_MIN <= 16, "body_short_string: two halves of 8 bytes");

/* node: the string's path, which knows whether strings there are shared. */
static inline int
body_string(struct body *b, struct path_node *node, const char *data, size_t length)
{
	return length < SHARING_STRING_MIN ? body_short_string(b, data, length)
					   : body_long_string(b, node, data, length);
}

int body_int(struct body *b, int64_t n);

/* text: a JSON number. integer: it has neither fraction nor exponent. */
int body_number(struct body *b, const char *text, size_t length, bool integer);

#endif
