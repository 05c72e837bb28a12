/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns JSON documents into shared values, with the decoder that also reads objects' bodies.
 */
#include "writer/store/store_document.h"

#include <errno.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/tag.h"
#include "writer/decode/decoder.h"
#include "writer/store/store_internal.h"

struct document_draft {
	struct draft draft;
	bool made;
};

static int
keep_draft(void *context, const char *type, size_t type_length, struct draft d)
{
	struct document_draft *kept = context;

	(void)type;
	(void)type_length;
	kept->draft = d;
	kept->made = true;
	return 0;
}

static int
refuse_bad(void *context, const char *why)
{
	(void)context;
	(void)why;
	return -EINVAL;
}

int
store_make_document(struct store *s, const char *json, uint32_t *ret_ref)
{
	static const struct decoder_events events = {.on_object = keep_draft, .on_bad_object = refuse_bad};
	struct document_draft kept = {.made = false};
	struct decoder *decoder = decoder_new(DECODE_DOCUMENT, s->arena, s->intern, NULL, &events, &kept,
					      BLOCK_LENGTH_MAX);
	const struct block *b;
	const struct object *o;
	const uint8_t *body;
	uint32_t length;
	bool known;
	int r;

	if (!decoder)
		return -ENOMEM;
	r = decoder_feed(decoder, json, strlen(json));
	if (r == 0)
		r = decoder_finish(decoder);
	decoder_free(decoder);
	if (r == 0 && !kept.made)
		r = -EINVAL;
	if (r < 0)
		return r == -EBADMSG ? -EINVAL : r;
	b = arena_block(s->arena, kept.draft.ref);
	o = object_at(&s->arena->view, kept.draft.ref);
	body = b->payload + o->body_offset;
	length = block_length(b) - o->body_offset;
	if (*body == TAG_REF) {
		memcpy(ret_ref, body + 1, sizeof(*ret_ref));
		intern_ref(s->intern, *ret_ref);
		draft_discard(s->arena, s->intern, kept.draft);
		return 0;
	}
	r = intern_get(s->intern, BLOCK_VALUE, body, length, ret_ref, &known);
	if (r < 0 || known)
		draft_discard(s->arena, s->intern, kept.draft);
	else
		arena_free(s->arena, kept.draft.ref); /* the new value holds its refs */
	return r;
}
