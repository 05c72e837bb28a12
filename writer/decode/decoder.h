/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder: JSON bytes, as they arrive, straight into bodies in the arena.
 *
 * Strict (RFC 8259, UTF-8 checked; a lone surrogate escape becomes U+FFFD as the API server has it; NaN,
 * comments, trailing commas refused), nesting to VALUE_DEPTH_MAX, resumable at any byte.
 *
 * One decoder reads a list ({"metadata":{…},"items":[…]}), a watch stream ({"type":…,"object":{…}} documents,
 * one after another), or a single document. What stands around the items is read as it is
 * (decoder_envelope.h). What happens to a value in an item is decided by its *path*, once per path and not
 * per document: a tree of path nodes (decoder_schema.h) grows beside the documents and holds for each
 *
 *   drop        the value is skipped, only its syntax is checked
 *   role        it is the item's metadata, name or namespace: the key is taken from there
 *   prediction  the field that came next last time, so that a known shape costs a memcmp a name and no
 *               hashing
 *   sharing     whether equal strings and sub-trees were seen to come again here: then they are shared, else
 *               they stand inline
 *
 * Duplicate keys: the last one wins, as the API server has it; counted.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_DECODE_DECODER_H
#define WRITER_DECODE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/arena/arena.h"
#include "writer/arena/intern.h"

struct decoder_schema;

/*
 * An object that was decoded and is not committed: a BLOCK_OBJECT that no root reaches, with key, key_hash
 * and body set; seq, created_seq, ordinal, resource and the tag are set when the store applies it. It holds
 * references on what its body refers to. Whoever has it gives it to the store or to draft_discard().
 */
struct draft {
	uint32_t ref;
};
void draft_discard(struct arena *arena, struct intern *in, struct draft d);

enum decoder_mode {
	/* one JSON document, any value, becomes one draft without a key (tools, tests, descriptors) */
	DECODE_DOCUMENT,
	/*
	 * one list: each of items[*] becomes a draft; told at its end: its kind, metadata.resourceVersion,
	 * metadata.continue, metadata.remainingItemCount
	 */
	DECODE_LIST,
	DECODE_WATCH,		/* many documents: the object of each becomes a draft, told with its type */
};

/*
 * Reports, in the order of the bytes. A non-zero result stops the decoder and is returned by
 * decoder_feed().
 */
struct decoder_events {
	/*
	 * An object is whole. d is the callee's from now on. In DECODE_WATCH, type is the event's
	 * ("ADDED", …). Objects without metadata.name (but for BOOKMARK and ERROR) are reported by
	 * on_bad_object.
	 */
	int (*on_object)(void *context, const char *type, size_t type_length, struct draft d);
	/*
	 * BOOKMARK and ERROR events of a watch: the object's JSON text (valid during the call), for cJSON.
	 */
	int (*on_other)(void *context, const char *type, size_t type_length, const char *json, size_t length);
	/*
	 * An item that is well-formed JSON but no object we can keep: why is a sentence with the offset. The
	 * stream goes on.
	 */
	int (*on_bad_object)(void *context, const char *why);
	/*
	 * DECODE_LIST: what is told of the list itself, at the end of the document. Strings are empty,
	 * remaining is 0 when absent.
	 */
	int (*on_list_end)(void *context, const char *resource_version, const char *continue_token,
			   int64_t remaining);
	/*
	 * The object that is known under this key, or 0; may be NULL. Of what it was decoded from the decoder
	 * remembers its spec, as a hash: when the same bytes come again, as with most changes, the value is
	 * copied.
	 */
	uint32_t (*known)(void *context, const char *ns, size_t ns_length, const char *name,
			  size_t name_length);
};

struct decoder;

/*
 * schema    borrowed; may be NULL: then the decoder has one of its own
 * max_bytes an item longer than this is refused with on_bad_object, and skipped; 0: 64 MiB
 */
struct decoder *decoder_new(enum decoder_mode mode, struct arena *arena, struct intern *in,
			    struct decoder_schema *schema, const struct decoder_events *events, void *context,
			    uint64_t max_bytes);
void decoder_free(struct decoder *d);		/* discards what is unfinished */
void decoder_reset(struct decoder *d);		/* the same; ready for another stream */

/*
 * The stream is protobuf, as this schema has it (borrowed); NULL: JSON. DECODE_LIST and DECODE_WATCH. To be
 * called before the first byte; what is unfinished is discarded. The same object gives the same body either
 * way.
 */
struct proto_schema;
void decoder_use_protobuf(struct decoder *d, const struct proto_schema *schema);

/*
 * What the items' `apiVersion` and `kind` must be, where they have one and the schema drops it: an event's
 * object of another is reported by on_bad_object, a list with an item of another kind is malformed.
 * Borrowed; NULL: anything.
 */
void decoder_expect_type(struct decoder *d, const char *api_version, const char *kind);

/*
 * Within on_bad_object, in DECODE_WATCH: whether the event tells of none of the objects that are kept here.
 * It is of another kind or apiVersion, or its object has no metadata. Else it tells of one, and nobody knows
 * what.
 */
bool decoder_is_foreign(const struct decoder *d);

/*
 * Within on_list_end: the list's own kind, empty when it has none, and whether it has a field `items` at
 * all.
 */
const char *decoder_list_kind(const struct decoder *d, size_t *ret_length, bool *ret_has_items);

/*
 * The next bytes of the stream. All of them are consumed.
 * Returns  0; -EBADMSG malformed (decoder_error()); -EPROTO of protobuf: what the schema does not know, so
 *          that the same is to be asked for in JSON (decoder_error() says what); -ENOSPC, -ENOMEM; or a
 *          callback's result.
 *          After anything but 0 only decoder_reset() and decoder_free() may follow.
 */
int decoder_feed(struct decoder *d, const char *bytes, size_t length);

/*
 * The stream has ended. 0, or -EBADMSG when it ended within a document. DECODE_DOCUMENT: hands over the draft
 * through on_object.
 */
int decoder_finish(struct decoder *d);

/* After -EBADMSG: a sentence, and the offset in the stream. */
const char *decoder_error(const struct decoder *d, uint64_t *ret_offset);

#endif
