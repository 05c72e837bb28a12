/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a known object and decodes it again with another schema, for cached_resource.c when what is
 * dropped has changed. It goes through the decoder as a watch's event does, so limits and refusals are the
 * same.
 */
#include "writer/decode/redecode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/path.h"
#include "writer/base/growing.h"
#include "writer/decode/value_same.h"

static const char metadata[] = "metadata";

struct redecode {
	struct arena *arena;
	struct intern *intern;
	struct decoder *decoder;
	bool metadata_only;
	struct bytes text;
	struct draft draft;	/* what was decoded */
};

static int
keep_draft(void *context, const char *type, size_t type_length, struct draft d)
{
	struct redecode *r = context;

	(void)type;
	(void)type_length;
	r->draft = d;
	return 0;
}

static int
refuse(void *context, const char *why)
{
	(void)context;
	(void)why;
	return -EBADMSG;
}

static const struct decoder_events events = {.on_object = keep_draft, .on_bad_object = refuse};

struct redecode *
redecode_new(struct arena *arena, struct intern *intern, struct decoder_schema *schema, bool metadata_only)
{
	struct redecode *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->arena = arena;
	r->intern = intern;
	r->metadata_only = metadata_only;
	r->decoder = decoder_new(DECODE_WATCH, arena, intern, schema, &events, r, BLOCK_LENGTH_MAX);
	if (!r->decoder) {
		free(r);
		return NULL;
	}
	return r;
}

void
redecode_free(struct redecode *r)
{
	if (!r)
		return;
	decoder_free(r->decoder);
	bytes_done(&r->text);
	free(r);
}

static int
append(const char *data, size_t length, void *context)
{
	return bytes_append(context, data, length);
}

static int
append_text(struct bytes *text, const char *data)
{
	return bytes_append(text, data, strlen(data));
}

/* The event that would bring the object. 0, -ENOMEM, -EBADMSG. */
static int
print(struct redecode *r, struct value body)
{
	struct value what = body;
	int error;

	if (r->metadata_only)
		what = value_field(body, metadata, sizeof(metadata) - 1,
				   shape_fingerprint(metadata, sizeof(metadata) - 1));
	bytes_clear(&r->text);
	error = append_text(&r->text, r->metadata_only ? "{\"type\":\"SYNC\",\"object\":{\"metadata\":"
						       : "{\"type\":\"SYNC\",\"object\":");
	if (error == 0)
		error = value_to_json(what, append, &r->text);
	return error < 0 ? error : append_text(&r->text, r->metadata_only ? "}}" : "}");
}

int
redecode_object(struct redecode *r, uint32_t ref, struct draft *ret_draft)
{
	struct value body = value_of_object(&r->arena->view, ref);
	int error;

	ret_draft->ref = r->draft.ref = 0;
	if (!body.at)
		return -EBADMSG;
	error = print(r, body);
	if (error < 0)
		return error;
	error = decoder_feed(r->decoder, (const char *)r->text.data, r->text.length);
	if (error == 0 && !r->draft.ref)
		error = -EBADMSG;
	if (error < 0) {
		if (r->draft.ref)
			draft_discard(r->arena, r->intern, r->draft);
		decoder_reset(r->decoder);
		return error;
	}
	/* the arena may have moved nothing, but it may have grown: look anew */
	if (value_same(value_of_object(&r->arena->view, ref), value_of_object(&r->arena->view, r->draft.ref)))
		draft_discard(r->arena, r->intern, r->draft);
	else
		*ret_draft = r->draft;
	return 0;
}
