/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the envelope in protobuf: what surrounds the items of a list, and each event of a watch.
 *
 *	list      k8s\0  {1: {1: apiVersion, 2: kind}, 2: LIST, 3: "", 4: ""}
 *	LIST      {1: ListMeta, 2: item, 2: item …}
 *	watch     frame frame …, each a big-endian length of four bytes, and {1: type, 2: {1: OBJECT}}
 *	OBJECT    k8s\0  {1: {1: apiVersion, 2: kind}, 2: message, 3: "", 4: ""}
 *
 * Every part has its length in front. An item or frame that lies whole in the fed bytes is built in place.
 * Otherwise it is collected, in memory of its length, at most max_bytes.
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
	bool has_list;                       /* the list's last item was read */
	uint64_t left;                       /* bytes of the list still to come */
	uint64_t skip;                       /* bytes still to skip of an item or frame that is too long */
	const struct proto_message *message; /* of the list's items */
	struct bytes api_version, kind;	     /* of the list */
};

void frames_reset(struct decoder *d);
void frames_done(struct decoder *d);

/*
 * Read the next unit, which begins at `bytes`: a head, an item, a frame.
 *
 * ret_used  bytes consumed
 * ret_need  if nothing was consumed: bytes needed, counted from `bytes`
 * Returns   as in decoder_internal.h; -EPROTO: not known to the schema
 */
int frames_run(struct decoder *d, const uint8_t *bytes, size_t length, size_t *ret_used, size_t *ret_need);

/* The stream has ended: whether a document or an event is cut off. */
bool frames_is_cut(const struct decoder *d);

#endif
