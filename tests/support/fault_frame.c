/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fault_frame.h"

#include <stdio.h>
#include <string.h>

#define HEAD 4u

size_t
fault_frame_length(const char *frame, size_t length)
{
	const unsigned char *h = (const unsigned char *)frame;

	return length < HEAD ? 0
			     : HEAD + ((size_t)h[0] << 24 | (size_t)h[1] << 16 | (size_t)h[2] << 8 | h[3]);
}

bool
fault_frame_is(const char *frame, size_t length, const char *type)
{
	size_t n = strlen(type);

	return length >= HEAD + 2 + n && frame[HEAD] == (1 << 3 | 2) && (size_t)frame[HEAD + 1] == n &&
	       memcmp(frame + HEAD + 2, type, n) == 0;
}

/* The code is the Status' last field (6), before the two empty texts that end the surrounding message. */
unsigned
fault_frame_code(const char *frame, size_t length)
{
	const unsigned char *e = (const unsigned char *)frame + length - 7;

	if (length < 16 || memcmp(e + 3, "\x1a\0\x22", 4) != 0 || e[0] != 6 << 3)
		return 0;
	return (unsigned)(e[1] & 0x7f) | (unsigned)e[2] << 7;
}

/* A field of fewer than 16,384 bytes. */
static size_t
put_field(char *to, unsigned number, const void *data, size_t length)
{
	to[0] = (char)(number << 3 | 2);
	to[1] = (char)(length | 0x80);
	to[2] = (char)(length >> 7);
	memcpy(to + 3, data, length);
	return length + 3;
}

size_t
fault_frame_error(char to[FAULT_FRAME_ERROR_MAX], unsigned code, const char *reason)
{
	char status[128], type[32], unknown[256] = "k8s", raw[300], message[32];
	int m = snprintf(message, sizeof(message), "injected %u", code);
	size_t s, t, u = 4, r, f = HEAD;

	s = put_field(status, 1, "", 0);
	s += put_field(status + s, 2, "Failure", 7);
	s += put_field(status + s, 3, message, (size_t)m);
	s += put_field(status + s, 4, reason, strlen(reason));
	status[s++] = 6 << 3;
	status[s++] = (char)(code | 0x80);
	status[s++] = (char)(code >> 7);
	t = put_field(type, 1, "v1", 2);
	t += put_field(type + t, 2, "Status", 6);
	u += put_field(unknown + u, 1, type, t);
	u += put_field(unknown + u, 2, status, s);
	r = put_field(raw, 1, unknown, u);
	f += put_field(to + f, 1, "ERROR", 5);
	f += put_field(to + f, 2, raw, r);
	to[0] = to[1] = 0;
	to[2] = (char)((f - HEAD) >> 8);
	to[3] = (char)(f - HEAD);
	return f;
}
