/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers texts at a path where containers are shared: the JSON text of some containers, and the block that
 * each became.
 *
 * Documents of one kind repeat whole sub-trees byte for byte. A container ends where its text ends. So if the
 * next bytes equal a remembered text, they are the same value: one memcmp reads it, whatever it contains. The
 * container's first TEXT_MEMO_PREFIX bytes select the text to compare with.
 *
 * It is a cache with two places per prefix. Its owner holds the references and limits the bytes.
 */
#ifndef WRITER_DECODE_TEXT_MEMO_H
#define WRITER_DECODE_TEXT_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "writer/arena/intern.h"

#define TEXT_MEMO_PREFIX 48u
#define TEXT_MEMO_TEXT_MAX 16384u
#define TEXT_MEMO_PLACES 64u

/* A shared block that is often needed, with a stock of references to hand out. */
struct stocked_ref {
	uint32_t ref;
	uint32_t stock;
};

/* Take one reference from the stock, which is refilled when it is empty. */
static inline uint32_t
stocked_ref_take(struct stocked_ref *r, struct intern *in)
{
	enum { REFILL = 64 };

	if (r->stock == 0) {
		intern_ref_many(in, r->ref, REFILL);
		r->stock = REFILL;
	}
	r->stock--;
	return r->ref;
}

/* Remember ref, with a reference of our own. The former block's references are released. */
static inline void
stocked_ref_set(struct stocked_ref *r, struct intern *in, uint32_t ref)
{
	if (ref)
		intern_ref(in, ref);
	if (r->ref)
		intern_unref_many(in, r->ref, r->stock + 1);
	*r = (struct stocked_ref){.ref = ref};
}

struct text_memo_place {
	uint32_t hash;
	uint32_t length;
	char *text;	/* NULL: free */
	struct stocked_ref value;
};

struct text_memo {
	struct text_memo_place places[TEXT_MEMO_PLACES];
};

/* Hash of the first TEXT_MEMO_PREFIX bytes. */
static inline uint32_t
text_memo_hash(const char *text)
{
	uint64_t w[TEXT_MEMO_PREFIX / 8], h;

	memcpy(w, text, sizeof(w));
	h = (w[0] ^ w[3] * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	h ^= (w[1] ^ w[4] * 0x94d049bb133111ebu) * 0xd6e8feb86659fd93u;
	h ^= (w[2] ^ w[5] * 0xff51afd7ed558ccdu) * 0xc4ceb9fe1a85ec53u;
	h ^= h >> 29;
	h *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

/* The place whose text stands at p, or NULL. */
static inline struct text_memo_place *
text_memo_find(struct text_memo *m, const char *p, const char *end)
{
	uint32_t hash;

	if ((size_t)(end - p) < TEXT_MEMO_PREFIX)
		return NULL;
	hash = text_memo_hash(p);
	for (unsigned i = 0; i < 2; i++) {
		struct text_memo_place *place = &m->places[(hash ^ i) % TEXT_MEMO_PLACES];

		if (place->hash == hash && place->text && place->length <= (size_t)(end - p) &&
		    memcmp(place->text, p, place->length) == 0)
			return place;
	}
	return NULL;
}

/*
 * Remember that this text is the value in ref; takes a reference. *bytes counts the texts' bytes. Does
 * nothing for texts that are too short or too long, or without memory.
 */
void text_memo_put(struct text_memo *m, struct intern *in, const char *text, size_t length, uint32_t ref,
		   size_t *bytes);

/* Release all texts and references. */
void text_memo_clear(struct text_memo *m, struct intern *in, size_t *bytes);

/* ---- strings: the length is known, and the text is the block's own ---- */

#define STRING_MEMO_PLACES 256u

struct string_memo {
	uint32_t hashes[STRING_MEMO_PLACES];
	uint32_t lengths[STRING_MEMO_PLACES];
	struct stocked_ref values[STRING_MEMO_PLACES];
};

/* The first of a string's two places; the other is its neighbour. */
static inline unsigned
string_memo_place(uint32_t hash)
{
	return hash % STRING_MEMO_PLACES;
}

#define STRING_MEMO_PIECES 16u

static inline uint64_t
string_memo_mix(uint64_t h, const char *at, const char *behind)
{
	unsigned __int128 product;
	uint64_t a, b;

	memcpy(&a, at, 8);
	memcpy(&b, behind, 8);
	product = (unsigned __int128)(a ^ h) * (b ^ 0x9e3779b97f4a7c15u);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Hash of a string of at least 12 bytes: of all of it, or of STRING_MEMO_PIECES pieces of a longer one. Its
 * ends alone are not enough: annotations may differ only in an address in the middle.
 */
static inline uint32_t
string_memo_hash(const char *data, size_t length)
{
	size_t step = length / STRING_MEMO_PIECES > 16 ? length / STRING_MEMO_PIECES : 16;
	uint64_t h = length * 0xbf58476d1ce4e5b9u;

	if (length < 16) {
		h = string_memo_mix(h, data, data + length - 8);
	} else {
		for (size_t i = 0; i + 16 < length; i += step)
			h = string_memo_mix(h, data + i, data + i + 8);
		h = string_memo_mix(h, data + length - 16, data + length - 8);
	}
	return (uint32_t)(h >> 32);
}

#endif
