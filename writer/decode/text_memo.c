/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers texts, JSON or protobuf, for the decoder. A new text replaces one of its prefix's two places.
 */
#include "writer/decode/text_memo.h"

#include <stdlib.h>

static void
forget(struct text_memo_place *place, struct intern *in, size_t *bytes)
{
	if (!place->text)
		return;
	*bytes -= place->length;
	free(place->text);
	stocked_ref_set(&place->value, in, 0);
	memset(place, 0, sizeof(*place));
}

void
text_memo_put(struct text_memo *m, struct intern *in, const char *text, size_t length, uint32_t ref,
	      size_t *bytes)
{
	struct text_memo_place *place, *other;
	uint32_t hash;
	char *copy;

	if (length < TEXT_MEMO_PREFIX || length > TEXT_MEMO_TEXT_MAX)
		return;
	copy = malloc(length);
	if (!copy)
		return;
	memcpy(copy, text, length);
	hash = text_memo_hash(text);
	place = &m->places[hash % TEXT_MEMO_PLACES];
	other = &m->places[(hash ^ 1) % TEXT_MEMO_PLACES];
	if (place->text && (!other->text || hash & 2)) {
		/* the newest comes first */
		forget(other, in, bytes);
		*other = *place;
		memset(place, 0, sizeof(*place));
	}
	forget(place, in, bytes);
	place->hash = hash;
	place->length = (uint32_t)length;
	place->text = copy;
	stocked_ref_set(&place->value, in, ref);
	*bytes += length;
}

void
text_memo_clear(struct text_memo *m, struct intern *in, size_t *bytes)
{
	for (unsigned i = 0; i < TEXT_MEMO_PLACES; i++)
		forget(&m->places[i], in, bytes);
}
