/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that differ between JSON and protobuf: texts that are not UTF-8, and small messages that have a form
 * of their own in JSON.
 */
#ifndef WRITER_DECODE_PROTO_VALUE_H
#define WRITER_DECODE_PROTO_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "tools/schema/proto_schema.h"
#include "writer/base/proto_wire.h"

/*
 * ---- texts ----
 *
 * Protobuf texts may be any bytes. The server's JSON has U+FFFD for each byte that is not UTF-8.
 */

bool proto_text_is_utf8(const char *text, size_t length);

static inline uint64_t
proto_eight_at(const char *text)
{
	uint64_t eight;

	memcpy(&eight, text, 8);
	return eight;
}

static inline uint32_t
proto_four_at(const char *text)
{
	uint32_t four;

	memcpy(&four, text, 4);
	return four;
}

/* Whether all is ASCII, as most texts are. The last 16 or 8 bytes may overlap with bytes seen before. */
static inline bool
proto_text_is_ascii(const char *text, size_t length)
{
	uint64_t all = 0;
	size_t i = 0;

#ifdef __SSE2__
	if (length >= 16) {
		__m128i sum = _mm_loadu_si128((const __m128i *)(const void *)(text + length - 16));

		for (; i + 16 < length; i += 16)
			sum = _mm_or_si128(sum, _mm_loadu_si128((const __m128i *)(const void *)(text + i)));
		return _mm_movemask_epi8(sum) == 0;
	}
#endif
	if (length >= 8) {
		for (; i + 8 < length; i += 8)
			all |= proto_eight_at(text + i);
		all |= proto_eight_at(text + length - 8);
	} else if (length >= 4) {
		all = proto_four_at(text) | proto_four_at(text + length - 4);
	} else {
		for (; i < length; i++)
			all |= (unsigned char)text[i];
	}
	return !(all & 0x8080808080808080u);
}

static inline bool
proto_text_is_good(const char *text, size_t length)
{
	return proto_text_is_ascii(text, length) || proto_text_is_utf8(text, length);
}

/* `to` has room for proto_text_repaired_max(length) bytes. Returns the bytes written. */
size_t proto_text_repair(char *to, const char *text, size_t length);

static inline size_t
proto_text_repaired_max(size_t length)
{
	return 3 * length;
}

/* ---- small messages ---- */

#define PROTO_SMALL_FIELDS 4u

/*
 * A small message's fields, by number. A time: {1: seconds, 2: nanos}; quantity: {1: text}; int or string:
 * {1: type, 2: int, 3: text}; raw: {1: JSON}.
 */
struct proto_small {
	uint64_t number[PROTO_SMALL_FIELDS];
	struct proto_span bytes[PROTO_SMALL_FIELDS];
};

/* Returns 0; -EBADMSG: malformed; -EPROTO: a field is unknown, with its number in *ret_number. */
int proto_small_read(enum proto_type type, struct proto_span in, struct proto_small *ret,
		     uint64_t *ret_number);

/* Whether it is Go's zero time, which is null in JSON. */
bool proto_time_is_zero(const struct proto_small *time, bool micro);

/*
 * Read a time in the form that servers write: both numbers, in this order, each once. False: use
 * proto_small_read(), which also says what is wrong.
 */
static inline bool
proto_time_read(struct proto_span in, struct proto_small *ret)
{
	if (in.end - in.at < 4 || *in.at++ != (1 << 3 | PROTO_WIRE_NUMBER) ||
	    !proto_varint(&in.at, in.end, &ret->number[1]) || in.end - in.at < 2 ||
	    *in.at++ != (2 << 3 | PROTO_WIRE_NUMBER))
		return false;
	return proto_varint(&in.at, in.end, &ret->number[2]) && in.at == in.end;
}

#define PROTO_TIME_TEXT_MAX 40u
#define PROTO_DATE_TEXT_MAX 24u

/* The date that was written last, because many times are of one day. Zeroed: none. */
struct proto_date {
	uint64_t day;
	uint8_t length;
	char text[PROTO_DATE_TEXT_MAX]; /* "2026-01-31T" */
};

/*
 * Write a time as RFC 3339 in UTC, with six digits of fractions or none. For years before 0 and after 9999 it
 * writes a sign and more digits, as Go does, which no RFC allows. Returns the length.
 */
size_t proto_time_text(struct proto_date *date, char to[PROTO_TIME_TEXT_MAX], const struct proto_small *time,
		       bool micro);

#endif
