/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars, appended to the body that is being built: strings, numbers, and those that are a tag alone.
 *
 * A number is kept exactly: as an integer where 64 bits hold it, else as the double that is nearest to a
 * number with fraction or exponent, else (integers beyond 64 bits, what no double holds) as its text.
 */
#ifndef WRITER_DECODE_BODY_SCALAR_H
#define WRITER_DECODE_BODY_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/value.h"
#include "writer/decode/body_build.h"
#include "writer/decode/value_encode.h"

/* All of these: 0, -ENOSPC, -ENOMEM. After a failure only body_clear() and body_done(). */

int body_tag(struct body *b, enum value_tag tag);

/* Of at least SHARING_STRING_MIN bytes. */
int body_long_string(struct body *b, struct path_node *node, const char *data, size_t length);

/* One that is too short to be shared, where a call for so few bytes would cost more than they do. */
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

/* node is the string's path, which knows whether strings there are shared. */
static inline int
body_string(struct body *b, struct path_node *node, const char *data, size_t length)
{
	return length < SHARING_STRING_MIN ? body_short_string(b, data, length)
					   : body_long_string(b, node, data, length);
}

int body_int(struct body *b, int64_t n);

/* text is a JSON number; integer: without fraction and exponent */
int body_number(struct body *b, const char *text, size_t length, bool integer);

#endif
