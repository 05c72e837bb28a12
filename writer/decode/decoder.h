/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder turns bytes of JSON or protobuf, as they arrive, directly into bodies in the arena.
 *
 * JSON is read strictly (RFC 8259, UTF-8 checked; NaN, comments and trailing commas refused). A lone
 * surrogate escape becomes U+FFFD, as in the API server. Nesting goes up to VALUE_DEPTH_MAX, and the input
 * may be cut at any byte. Of duplicate keys the last one wins, as in the API server.
 *
 * One decoder reads a list ({"metadata":{…},"items":[…]}), a watch stream ({"type":…,"object":{…}} documents,
 * one after another), or a single document. decoder_envelope.h reads what surrounds the items. What happens
 * to a value in an item depends on its *path*, and is decided once per path. A tree of path nodes
 * (decoder_schema.h) grows with the documents, and holds for each path
 *
 * drop        the value is skipped; only its syntax is checked
 * role        the value is the item's metadata, name or namespace, which make the key
 * prediction  the field that came next last time: a known shape costs one memcmp per name, and no hashing
 * sharing     whether equal strings and sub-trees recur here; then they are shared, else they stand inline
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
 * A decoded object that is not committed: a BLOCK_OBJECT that no root reaches, with key, key_hash and body
 * set. The store sets seq, created_seq, ordinal, resource and the tag when it applies the draft. The draft
 * holds references on what its body refers to. Its owner gives it to the store or to draft_discard().
 */
struct draft {
	uint32_t ref;
};
void draft_discard(struct arena *arena, struct intern *in, struct draft d);

enum decoder_mode {
	/* one JSON document of any kind becomes one draft without a key (tools, tests, descriptors) */
	DECODE_DOCUMENT,
	/*
	 * one list: each of items[*] becomes a draft. At its end its kind, metadata.resourceVersion,
	 * metadata.continue and metadata.remainingItemCount are reported.
	 */
	DECODE_LIST,
	DECODE_WATCH, /* many documents: each one's object becomes a draft, reported with its
			 type */
};

/*
 * Callbacks, in the order of the bytes. A non-zero result stops the decoder, and decoder_feed() returns it.
 */
struct decoder_events {
	/*
	 * An object is complete. The callee owns d. In DECODE_WATCH, type is the event's ("ADDED", …). An
	 * object without metadata.name goes to on_bad_object, except of BOOKMARK and ERROR.
	 */
	int (*on_object)(void *context, const char *type, size_t type_length, struct draft d);
	/* A BOOKMARK or ERROR event of a watch: the object's JSON text for cJSON, valid during the call. */
	int (*on_other)(void *context, const char *type, size_t type_length, const char *json, size_t length);
	/*
	 * An item is well-formed JSON but cannot be kept. `why` is a sentence with the offset. The stream
	 * goes on.
	 */
	int (*on_bad_object)(void *context, const char *why);
	/*
	 * DECODE_LIST: fields of the list itself, at the end of the document. Absent strings are empty, an
	 * absent remaining is 0.
	 */
	int (*on_list_end)(void *context, const char *resource_version, const char *continue_token,
			   int64_t remaining);
	/*
	 * Returns the known object of this key, or 0; may be NULL. The decoder stores a hash of each object's
	 * spec bytes. When the same bytes come again, as in most changes, the known spec is copied.
	 */
	uint32_t (*known)(void *context, const char *ns, size_t ns_length, const char *name,
			  size_t name_length);
};

struct decoder;

/*
 * schema     borrowed; NULL: the decoder makes its own
 * max_bytes  a longer item is refused with on_bad_object, and skipped; 0: 64 MiB
 */
struct decoder *decoder_new(enum decoder_mode mode, struct arena *arena, struct intern *in,
			    struct decoder_schema *schema, const struct decoder_events *events, void *context,
			    uint64_t max_bytes);
void decoder_free(struct decoder *d);  /* discards unfinished items */
void decoder_reset(struct decoder *d); /* as decoder_free(), and ready for another stream */

/*
 * Read the stream as protobuf by this schema (borrowed); NULL: JSON. For DECODE_LIST and DECODE_WATCH, before
 * the first byte; unfinished items are discarded. An object gets the same body in either syntax.
 */
struct proto_schema;
void decoder_use_protobuf(struct decoder *d, const struct proto_schema *schema);

/*
 * Expect this apiVersion and kind of items that have them, where the schema drops these fields. An event's
 * object of another type goes to on_bad_object; a list with an item of another kind is malformed. Borrowed;
 * NULL: any.
 */
void decoder_expect_type(struct decoder *d, const char *api_version, const char *kind);

/*
 * Within on_bad_object, in DECODE_WATCH. True: the event is of no object that is kept here, because its kind
 * or apiVersion is another, or its object has no metadata. False: the event is of a kept object whose change
 * is unknown.
 */
bool decoder_is_foreign(const struct decoder *d);

/* Within on_list_end: the list's kind, empty if it has none, and whether it has a field `items`. */
const char *decoder_list_kind(const struct decoder *d, size_t *ret_length, bool *ret_has_items);

/*
 * Feed the next bytes of the stream. All are consumed. After a result other than 0 only decoder_reset() and
 * decoder_free() may follow.
 *
 * Returns  0; -EBADMSG: malformed (decoder_error()); -EPROTO: protobuf that the schema does not know, so ask
 *          for JSON (decoder_error() has the reason); -ENOSPC, -ENOMEM; or a callback's result
 */
int decoder_feed(struct decoder *d, const char *bytes, size_t length);

/*
 * The stream has ended. DECODE_DOCUMENT: passes the draft to on_object. Returns 0; -EBADMSG: the stream ended
 * within a document.
 */
int decoder_finish(struct decoder *d);

/* After a failure: a sentence, and the offset in the stream. */
const char *decoder_error(const struct decoder *d, uint64_t *ret_offset);

#endif
