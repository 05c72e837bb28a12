/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's envelope in protobuf: what stands around the items of a list, and each event of a watch.
 *
 *	list      k8s\0  {1: {1: apiVersion, 2: kind}, 2: LIST, 3: "", 4: ""}
 *	LIST      {1: ListMeta, 2: item, 2: item …}
 *	watch     frame frame …, each a length in four bytes, the highest first, and {1: type, 2: {1: OBJECT}}
 *	OBJECT    k8s\0  {1: {1: apiVersion, 2: kind}, 2: message, 3: "", 4: ""}
 *
 * Every part says its length before it comes. An item, or a frame, that lies whole in the bytes that are fed
 * is built where it stands; else it is collected, in as much memory as its length says, which is max_bytes at
 * most.
 */
#ifndef WRITER_DECODE_DECODER_FRAMES_H
#define WRITER_DECODE_DECODER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/base/growing.h"
#include "writer/decode/decoder.h"
#include "tools/schema/proto_schema.h"

enum frames_place { FRAMES_MAGIC, FRAMES_ENVELOPE, FRAMES_LIST, FRAMES_EVENTS };

struct decoder_frames {
	enum frames_place place;
	bool has_list;		/* its last item came by */
	uint64_t left;		/* bytes of the list that are still to come */
	uint64_t skip;		/* bytes of an item or frame that is too long, still to come */
	const struct proto_message *message; /* of the list's items */
	struct bytes api_version, kind;	     /* of the list */
};

void frames_reset(struct decoder *d);
void frames_done(struct decoder *d);

/*
 * The next unit, which begins at bytes: a head, an item, a frame.
 * ret_used  bytes consumed
 * ret_need  0 consumed: as many must be there, counted from `bytes`
 * Returns   as decoder_internal.h has it; -EPROTO: not known to the schema
 */
int frames_run(struct decoder *d, const uint8_t *bytes, size_t length, size_t *ret_used, size_t *ret_need);

/* Nothing comes any more: whether a document, or an event, is cut off there. */
bool frames_is_cut(const struct decoder *d);

#endif
