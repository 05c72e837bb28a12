/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf's wire format: varints, and fields with a number or bytes. Kubernetes uses no others: groups and
 * fields of fixed width are malformed.
 */
#ifndef WRITER_BASE_PROTO_WIRE_H
#define WRITER_BASE_PROTO_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTO_VARINT_MAX 10u /* bytes */

enum proto_wire { PROTO_WIRE_NUMBER = 0, PROTO_WIRE_BYTES = 2 };

struct proto_span {
	const uint8_t *at, *end;
};

/* A field: its number and wire type; its value, or the length and place of its bytes. */
struct proto_token {
	uint64_t number;
	uint64_t value;
	struct proto_span bytes;
	enum proto_wire wire;
};

/*
 * Read a varint at *p and move *p behind it. False: it is longer than 64 bits, or the input ends within it.
 */
static inline bool
proto_varint(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	uint64_t v = 0;

	if (*p < end && **p < 0x80) {
		*ret = *(*p)++;
		return true;
	}
	if (end - *p >= 2 && (*p)[1] < 0x80) {
		*ret = ((*p)[0] & 0x7fu) | (uint64_t)(*p)[1] << 7;
		*p += 2;
		return true;
	}
	for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
		uint64_t b = *(*p)++;

		if (shift == 63 && b > 1)
			return false;
		v |= (b & 0x7f) << shift;
		if (b < 0x80) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* Read a field's tag (its number and wire type) and its value or length, and move *p behind them. */
static inline __attribute__((always_inline)) bool
proto_head(const uint8_t **p, const uint8_t *end, uint64_t *ret_tag, uint64_t *ret_value)
{
	if (end - *p >= 2 && !(((*p)[0] | (*p)[1]) & 0x80)) { /* most are as short as this */
		*ret_tag = (*p)[0];
		*ret_value = (*p)[1];
		*p += 2;
		return true;
	}
	return proto_varint(p, end, ret_tag) && proto_varint(p, end, ret_value);
}

/* Read the field at *p and move *p behind it. False: malformed. */
static inline __attribute__((always_inline)) bool
proto_next(const uint8_t **p, const uint8_t *end, struct proto_token *ret)
{
	uint64_t tag;

	if (!proto_head(p, end, &tag, &ret->value) || tag >> 3 == 0)
		return false;
	ret->number = tag >> 3;
	ret->wire = (enum proto_wire)(tag & 7);
	if (ret->wire == PROTO_WIRE_NUMBER) {
		ret->bytes = (struct proto_span){0};
		return true;
	}
	if (ret->wire != PROTO_WIRE_BYTES || ret->value > (uint64_t)(end - *p))
		return false;
	ret->bytes.at = *p;
	ret->bytes.end = *p += ret->value;
	return true;
}

#endif
