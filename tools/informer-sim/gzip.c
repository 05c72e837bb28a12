/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deflate with fixed Huffman codes.
 *
 * Source: RFC 1951 (3.2.5 lengths and distances, 3.2.6 fixed codes), RFC 1952
 */
#include "tools/informer-sim/gzip.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 32768
#define MATCH_MIN 4
#define MATCH_MAX 258
#define HASH_BITS 15
#define OUT_BYTES 4096

struct bits {
	struct sim_buf *buf;
	uint64_t held; /* the lowest `count` bits are not written yet */
	unsigned count;
	unsigned char out[OUT_BYTES];
	size_t out_len;
};

static void
put_byte(struct bits *bits, unsigned char byte)
{
	bits->out[bits->out_len++] = byte;
	if (bits->out_len == OUT_BYTES) {
		sim_buf_put(bits->buf, bits->out, bits->out_len);
		bits->out_len = 0;
	}
}

/* The lowest bit first. */
static void
put(struct bits *bits, uint32_t value, unsigned count)
{
	bits->held |= (uint64_t)value << bits->count;
	bits->count += count;
	while (bits->count >= 8) {
		put_byte(bits, (unsigned char)bits->held);
		bits->held >>= 8;
		bits->count -= 8;
	}
}

/* A Huffman code, the highest bit first. */
static void
put_code(struct bits *bits, uint32_t code, unsigned count)
{
	uint32_t reversed = 0;

	for (unsigned i = 0; i < count; i++)
		reversed |= (code >> i & 1) << (count - 1 - i);
	put(bits, reversed, count);
}

/* A literal, a length's symbol or the end of the block. */
static void
put_symbol(struct bits *bits, unsigned symbol)
{
	if (symbol < 144)
		put_code(bits, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_code(bits, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_code(bits, symbol - 256, 7);
	else
		put_code(bits, 0xc0 + symbol - 280, 8);
}

static void
put_match(struct bits *bits, unsigned length, unsigned distance)
{
	static const uint16_t lengths[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,	13,  15,  17,  19,  23, 27,
					   31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
	static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
					      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
	static const uint16_t distances[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
					     33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
					     1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
	unsigned at = sizeof(lengths) / sizeof(*lengths) - 1;

	while (lengths[at] > length)
		at--;
	put_symbol(bits, 257 + at);
	put(bits, length - lengths[at], length_bits[at]);
	at = sizeof(distances) / sizeof(*distances) - 1;
	while (distances[at] > distance)
		at--;
	put_code(bits, at, 5);
	put(bits, distance - distances[at], at < 2 ? 0 : at / 2 - 1);
}

static uint32_t
hash_at(const char *data)
{
	uint32_t word;

	memcpy(&word, data, sizeof(word));
	return word * UINT32_C(2654435761) >> (32 - HASH_BITS);
}

static void
deflate(struct bits *bits, const char *data, size_t len)
{
	/* where each hash was seen last, plus one */
	size_t *seen = sim_alloc((sizeof(*seen)) << HASH_BITS);

	memset(seen, 0, (sizeof(*seen)) << HASH_BITS);
	put(bits, 1, 1); /* the last block */
	put(bits, 1, 2); /* fixed codes */
	for (size_t at = 0; at < len;) {
		size_t before = 0, length = 0, most = len - at < MATCH_MAX ? len - at : MATCH_MAX;
		uint32_t hash;

		if (len - at >= MATCH_MIN) {
			hash = hash_at(data + at);
			before = seen[hash];
			seen[hash] = at + 1;
		}
		if (before && at - (before - 1) <= WINDOW)
			while (length < most && data[before - 1 + length] == data[at + length])
				length++;
		if (length < MATCH_MIN) {
			put_symbol(bits, (unsigned char)data[at++]);
			continue;
		}
		put_match(bits, (unsigned)length, (unsigned)(at - (before - 1)));
		at += length;
	}
	put_symbol(bits, 256);
	free(seen);
}

static uint32_t
crc32_of(const char *data, size_t len)
{
	uint32_t table[256], crc = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] & 1 ? table[i] >> 1 ^ UINT32_C(0xedb88320) : table[i] >> 1;
	}
	for (size_t i = 0; i < len; i++)
		crc = table[(crc ^ (unsigned char)data[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

void
sim_gzip(const char *data, size_t len, struct sim_buf *buf)
{
	static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
	struct bits *bits = sim_alloc(sizeof(*bits));

	bits->buf = buf;
	bits->held = 0;
	bits->count = 0;
	bits->out_len = 0;
	sim_buf_put(buf, head, sizeof(head));
	deflate(bits, data, len);
	put(bits, 0, (8 - bits->count) & 7);
	put(bits, crc32_of(data, len), 32);
	put(bits, (uint32_t)len, 32);
	sim_buf_put(buf, bits->out, bits->out_len);
	free(bits);
}
