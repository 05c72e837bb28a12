/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes scalars in the form of shm-layout/value.h, into memory that has room for them.
 */
#ifndef WRITER_DECODE_VALUE_ENCODE_H
#define WRITER_DECODE_VALUE_ENCODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shm-layout/value.h"

#define ENCODED_HEAD_MAX 9u /* of any value: the tag, and what stands before the contents */

/* Write the head of a string of this length; its bytes follow. Returns the head's length. */
static inline size_t
encode_string_head(uint8_t *to, size_t length)
{
	uint16_t n16 = (uint16_t)length;
	uint32_t n32 = (uint32_t)length;

	if (length <= TAG_STRING63 - TAG_STRING0) {
		to[0] = (uint8_t)(TAG_STRING0 + length);
		return 1;
	}
	if (length <= UINT8_MAX) {
		to[0] = TAG_STRING8;
		to[1] = (uint8_t)length;
		return 2;
	}
	if (length <= UINT16_MAX) {
		to[0] = TAG_STRING16;
		memcpy(to + 1, &n16, 2);
		return 3;
	}
	to[0] = TAG_STRING32;
	memcpy(to + 1, &n32, 4);
	return 5;
}

/* Write the head of a number that is kept as text. */
static inline size_t
encode_number_head(uint8_t *to, size_t length)
{
	uint32_t n32 = (uint32_t)length;

	if (length <= UINT8_MAX) {
		to[0] = TAG_NUMBER8;
		to[1] = (uint8_t)length;
		return 2;
	}
	to[0] = TAG_NUMBER32;
	memcpy(to + 1, &n32, 4);
	return 5;
}

static inline size_t
encode_int(uint8_t *to, int64_t n)
{
	unsigned bytes = 1;

	if (n >= 0 && n <= TAG_SMALL63 - TAG_SMALL0) {
		to[0] = (uint8_t)(TAG_SMALL0 + n);
		return 1;
	}
	while (bytes < 8 && (n < -((int64_t)1 << (8 * bytes - 1)) || n >= (int64_t)1 << (8 * bytes - 1)))
		bytes++;
	to[0] = (uint8_t)(TAG_INT1 + bytes - 1);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(to + 1, &n, bytes);
#else
	memcpy(to + 1, (uint8_t *)&n + 8 - bytes, bytes);
#endif
	return 1 + bytes;
}

static inline size_t
encode_uint64(uint8_t *to, uint64_t n)
{
	to[0] = TAG_UINT64;
	memcpy(to + 1, &n, 8);
	return 9;
}

static inline size_t
encode_double(uint8_t *to, double n)
{
	to[0] = TAG_DOUBLE;
	memcpy(to + 1, &n, 8);
	return 9;
}

static inline size_t
encode_ref(uint8_t *to, uint32_t ref)
{
	to[0] = TAG_REF;
	memcpy(to + 1, &ref, 4);
	return 5;
}

#endif
