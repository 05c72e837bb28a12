/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars, encoded in place. At paths where strings recur, strings become references.
 */
#include "writer/decode/body_scalar.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "writer/decode/value_encode.h"

int
body_tag(struct body *b, enum value_tag tag)
{
	int r = bytes_room(&b->out, 1);

	if (r == 0)
		b->out.data[b->out.length++] = (uint8_t)tag;
	return r;
}

/* The reference of a string that occurred at this path lately, or NULL. head_bytes: of its encoded head. */
static struct stocked_ref *
known_string(const struct body *b, const struct path_node *node, uint32_t hash, size_t head_bytes,
	     const char *data, size_t length)
{
	struct string_memo *memo = node->known_strings;
	unsigned i = string_memo_place(hash);
	const struct block *block;

	if (!memo)
		return NULL;
	if (memo->hashes[i] != hash)
		i ^= 1;
	if (memo->hashes[i] != hash || !memo->values[i].ref)
		return NULL;
	block = arena_block(b->arena, memo->values[i].ref);
	return block_length(block) == head_bytes + length &&
			       memcmp(block->payload + head_bytes, data, length) == 0
		       ? &memo->values[i]
		       : NULL;
}

int
body_long_string(struct body *b, struct path_node *node, const char *data, size_t length)
{
	struct stocked_ref *place;
	uint32_t ref, hash;
	uint8_t *at;
	size_t bytes;
	bool known;
	int r = bytes_room(&b->out, length + ENCODED_HEAD_MAX);

	if (r < 0)
		return r;
	at = b->out.data + b->out.length;
	bytes = encode_string_head(at, length);
	if (b->depth == 0 || bytes + length > BLOCK_LENGTH_MAX || !sharing_wanted(&node->strings)) {
		memcpy(at + bytes, data, length);
		b->out.length += bytes + length;
		return 0;
	}
	hash = string_memo_hash(data, length);
	place = known_string(b, node, hash, bytes, data, length);
	if (place) {
		known = true;
		bytes += length;
		ref = stocked_ref_take(place, b->intern);
	} else {
		memcpy(at + bytes, data, length);
		bytes += length;
		r = intern_get(b->intern, BLOCK_VALUE, at, (uint32_t)bytes, &ref, &known);
		if (r < 0)
			return r;
		if (known)
			schema_remember_string(b->schema, node, hash, ref, (uint32_t)bytes);
	}
	sharing_note(&node->strings, known, (uint32_t)bytes);
	b->known_ref = known ? ref : 0;
	b->out.length += encode_ref(at, ref);
	return body_hold(b, &b->refs, ref);
}

/* ---- numbers ---- */

int
body_int(struct body *b, int64_t n)
{
	int r = bytes_room(&b->out, ENCODED_HEAD_MAX);

	if (r == 0)
		b->out.length += encode_int(b->out.data + b->out.length, n);
	return r;
}

/* Read an integer. False if it does not fit 64 bits, or is "-0", which would lose its sign. */
static bool
read_integer(const char *text, size_t length, bool *ret_negative, uint64_t *ret_n)
{
	uint64_t n = 0;
	size_t i = text[0] == '-';

	if (length - i > 20 || (i == 1 && text[1] == '0'))
		return false;
	*ret_negative = i == 1;
	for (; i < length; i++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return false;
	*ret_n = n;
	return !*ret_negative || n <= (uint64_t)INT64_MAX + 1;
}

/* Read the nearest double, in any locale. */
static int
read_double(const char *text, size_t length, double *ret)
{
	char small[64], *copy = small;
	/* a constant of libc: nothing is allocated */
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	if (!c_locale)
		return -ENOMEM;
	if (length >= sizeof(small))
		copy = malloc(length + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, length);
	copy[length] = '\0';
	*ret = strtod_l(copy, NULL, c_locale);
	if (copy != small)
		free(copy);
	freelocale(c_locale);
	return 0;
}

int
body_number(struct body *b, const char *text, size_t length, bool integer)
{
	bool negative, fits;
	uint64_t n = 0;
	double d = 0;
	uint8_t *at;
	int r = bytes_room(&b->out, length + ENCODED_HEAD_MAX);

	if (r < 0)
		return r;
	at = b->out.data + b->out.length;
	if (integer && read_integer(text, length, &negative, &n)) {
		if (!negative && n > INT64_MAX)
			b->out.length += encode_uint64(at, n);
		else
			b->out.length += encode_int(at, (int64_t)(negative ? 0 - n : n));
		return 0;
	}
	fits = !integer || (length == 2 && text[1] == '0');
	if (fits) {
		r = read_double(text, length, &d);
		if (r < 0)
			return r;
	}
	if (fits && d - d == 0) {
		b->out.length += encode_double(at, d);
		return 0;
	}
	b->out.length += encode_number_head(at, length);
	memcpy(b->out.data + b->out.length, text, length);
	b->out.length += length;
	return 0;
}
