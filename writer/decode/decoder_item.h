/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's item: one object of a list, of a watch event, or the document itself, from its first byte
 * until its draft is handed over.
 *
 * What makes a value an object that can be kept is decided here: that it has a name and at most one namespace
 * (which go to the object's header as UID and resourceVersion do, and leave OWN_… in the body), is of the
 * type that is expected, not longer than max_bytes, and fits a block. An item that is none of the objects we
 * keep is *bad*: it is left out and reported in a sentence, and the stream goes on.
 *
 * Invariant: at most one item is open, and at most one draft waits for the end of its event or document.
 */
#ifndef WRITER_DECODE_DECODER_ITEM_H
#define WRITER_DECODE_DECODER_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/object.h"
#include "writer/decode/decoder.h"
#include "writer/decode/decoder_schema.h"
#include "writer/base/growing.h"

#define DECODER_WHY_MAX 320u
#define DECODER_TYPE_MAX 320u /* bytes of an apiVersion's or a kind's text that are of interest */

/* One of the header's strings, and what became of it. */
enum item_string_state { STRING_ABSENT, STRING_GOOD, STRING_WRONG_TYPE, STRING_WRONG_BYTES, STRING_TOO_LONG };
struct item_string {
	enum item_string_state state;
	size_t length;
	char data[OBJECT_NAME_MAX]; /* of the longest */
};

struct decoder_item {
	bool open;
	uint64_t start;			/* in the stream */
	struct path_node *root;
	struct item_string strings[OBJECT_STRINGS];
	uint64_t source; /* of its spec; 0: not known */
	/* as they stand there, in quotes; DECODER_TYPE_MAX bytes at most */
	struct bytes api_version, kind;

	/* closed, and the end of its event or document is not there yet */
	bool has_draft;
	struct draft draft;
	bool bad;			/* it cannot be kept: */
	bool key_bad;			/* the same, but a bookmark or an error may be so */
	bool has_metadata;
	bool foreign;			/* key_bad, and none of the objects that are kept */
	char why[DECODER_WHY_MAX];
};

/* These answer as decoder_internal.h has it. */

/* An item begins at p; a draft that still waits is given back. */
int item_begin(struct decoder *d, const char *p);

/* A field with a role, or metadata itself, begins (anew, when the key stands there twice). */
void item_role_begins(struct decoder *d, const struct path_node *node);
/* What is known under the item's key, or 0: none, or there is no key yet. */
uint32_t item_known(const struct decoder *d);
/*
 * The item's spec, whose name was read, is of these bytes. If the known object's is, too, it is copied.
 * Returns 1; 0 it is to be built; -ENOMEM
 */
int item_repeat(struct decoder *d, const struct path_node *spec, uint32_t known, const void *bytes,
		size_t length);
/*
 * A string of the header: there if it fits, else into the body. 0, or what the builder answered.
 */
int item_role_string(struct decoder *d, struct path_node *node, const char *data, size_t length);

/*
 * The item that is open cannot be kept. What was built is given back; the rest, from p on, is skipped.
 * A single document has nothing else to go on with: it fails.
 */
int item_give_up(struct decoder *d, const char *p, const char *why);
/* The same of an item that is there as a whole: nothing is skipped, item_end() comes next. */
void item_refuse(struct decoder *d, const char *why);
/* The same, when it is longer than max_bytes. */
int item_give_up_long(struct decoder *d, const char *p);
/*
 * What a function of the builder answered, when it was no success: what cannot be represented gives the item
 * up.
 */
int item_build_failed(struct decoder *d, const char *p, int r);

/* A field of the item that the schema drops begins, by its role apiVersion or kind: where its text goes. */
struct bytes *item_type_begins(struct decoder *d, const struct path_node *node);
/* Some of that text. 0 or -ENOMEM */
int item_add_type(struct bytes *to, const char *text, size_t length);

/* The item ends before p: it becomes a draft, or is bad. In a list it is handed over, else it waits. */
int item_end(struct decoder *d, const char *p);

/* Give the draft, or the reason why there is none, to the caller. type: of the event */
int item_hand_over(struct decoder *d, const char *type, size_t type_length);
/* Forget the draft, or the reason. */
void item_drop(struct decoder *d);

/* Report what is left out, for the reason that item_why() has set. */
int item_report_bad(struct decoder *d);
void item_why(struct decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Give back what is unfinished; everything. */
void item_reset(struct decoder *d);
void item_done(struct decoder *d);

#endif
