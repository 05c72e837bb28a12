/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles many bytes of a document at once: 16 with SSE2, otherwise 8, or as memcmp does.
 *
 * A plain run is bytes of a JSON string that stand for themselves: printable ASCII except quote and
 * backslash.
 */
#ifndef WRITER_DECODE_JSON_PLAIN_H
#define WRITER_DECODE_JSON_PLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The first byte in [p, end) that is not plain, or end. */
static inline const char *
json_plain_end(const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'),
		      blank = _mm_set1_epi8(0x20);

	while (end - p >= 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* compared as signed bytes, those above 7Fh are below 20h too */
		__m128i stop = _mm_or_si128(
			_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
			_mm_cmplt_epi8(v, blank));
		int mask = _mm_movemask_epi8(stop);

		if (mask != 0)
			return p + __builtin_ctz((unsigned)mask);
		p += 16;
	}
#else
	const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;

	while (end - p >= 8) {
		uint64_t v, quote, backslash;

		memcpy(&v, p, 8);
		quote = v ^ ones * '"';
		backslash = v ^ ones * '\\';
		if ((((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) |
		     ((v - ones * 0x20) & ~v) | v) &
		    tops)
			break;
		p += 8;
	}
#endif
	while (p < end && (signed char)*p >= 0x20 && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* Whether the first `length` bytes are equal. 32 bytes of both may be read; length <= 32. */
static inline bool
json_same_32(const char *a, const char *b, unsigned length)
{
#ifdef __SSE2__
	__m128i low = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)a),
				     _mm_loadu_si128((const __m128i *)(const void *)b));
	__m128i high = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(a + 16)),
				      _mm_loadu_si128((const __m128i *)(const void *)(b + 16)));
	uint64_t same = (uint32_t)_mm_movemask_epi8(low) | (uint64_t)(uint32_t)_mm_movemask_epi8(high) << 16;

	return (~same & ((1ull << length) - 1)) == 0;
#else
	return memcmp(a, b, length) == 0;
#endif
}

#endif
