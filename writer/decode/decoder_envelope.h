/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's envelope: what stands around the items. Of a list its head
 * ({"kind":…,"metadata":{…},"items":[…]}), of a watch stream each event's braces ({"type":…,"object":…}), of
 * a single document nothing.
 *
 * A few of its fields are captured for the caller: the list's kind, resourceVersion, continue and
 * remainingItemCount, an event's type. Its items go to decoder_body_begin(). All else is skipped. The end of
 * a document is where things are reported: an event's object with its type, a bookmark's or an error's as
 * text, a list's captured fields.
 */
#ifndef WRITER_DECODE_DECODER_ENVELOPE_H
#define WRITER_DECODE_DECODER_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/decode/decoder.h"
#include "writer/base/growing.h"

enum envelope_place { BETWEEN_DOCUMENTS, IN_LIST, IN_LIST_METADATA, IN_ITEMS, IN_EVENT };

/* What its next value is. */
enum envelope_target {
	TARGET_NOTHING, TARGET_DOCUMENT, TARGET_ITEM, TARGET_ITEMS, TARGET_METADATA,
	TARGET_KIND, TARGET_TYPE, TARGET_VERSION, TARGET_CONTINUE, TARGET_REMAINING,
};

struct decoder_envelope {
	enum envelope_place place;
	enum envelope_target target;
	uint64_t documents;	/* of this stream */

	/* captured, of the document that is open */
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

/* One step, from *p and d->state on. Answers as decoder_internal.h has it. */
int envelope_run(struct decoder *d, const char **p, const char *end, bool final);

/*
 * The end of an event, before p; of a list: what was captured, and the item, go to the caller. For
 * decoder_frames.c, too.
 */
int envelope_event_end(struct decoder *d, const char *p);
int envelope_list_end(struct decoder *d);

#endif
