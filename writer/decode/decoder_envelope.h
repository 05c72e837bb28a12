/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the envelope, what surrounds the items: a list's head ({"kind":…,"metadata":{…},"items":[…]}), and
 * each watch event's braces ({"type":…,"object":…}). A single document has none.
 *
 * Some fields are captured for the caller: the list's kind, resourceVersion, continue and remainingItemCount,
 * and an event's type. Items go to decoder_body_begin(). Everything else is skipped. At the end of a document
 * the caller gets an event's object with its type, a bookmark's or an error's text, or a list's captured
 * fields.
 */
#ifndef WRITER_DECODE_DECODER_ENVELOPE_H
#define WRITER_DECODE_DECODER_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/decode/decoder.h"
#include "writer/base/growing.h"

enum envelope_place { BETWEEN_DOCUMENTS, IN_LIST, IN_LIST_METADATA, IN_ITEMS, IN_EVENT };

/* The meaning of the next value. */
enum envelope_target {
	TARGET_NOTHING, TARGET_DOCUMENT, TARGET_ITEM, TARGET_ITEMS, TARGET_METADATA,
	TARGET_KIND, TARGET_TYPE, TARGET_VERSION, TARGET_CONTINUE, TARGET_REMAINING,
};

struct decoder_envelope {
	enum envelope_place place;
	enum envelope_target target;
	uint64_t documents;	/* of this stream */

	/* captured from the open document */
	struct bytes type;
	struct bytes list_kind;
	struct bytes version;
	struct bytes continue_token;
	int64_t remaining;
	bool has_items;
};

/* Before the stream's first document. */
void envelope_reset(struct decoder *d);
void envelope_done(struct decoder *d);

/* Take one step, from *p and d->state on. Results are those of decoder_internal.h. */
int envelope_run(struct decoder *d, const char **p, const char *end, bool final);

/*
 * End an event before p, or a list: pass the captured fields and the item to the caller. decoder_frames.c
 * uses these too.
 */
int envelope_event_end(struct decoder *d, const char *p);
int envelope_list_end(struct decoder *d);

#endif
