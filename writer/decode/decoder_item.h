/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's item: one object of a list or watch event, or the document itself, from its first byte until
 * its draft is handed over.
 *
 * An item can be kept if it has a name, at most one namespace and the expected type. It must be at most
 * max_bytes long, and fit a block. Name, namespace, UID and resourceVersion go into the object's header, and
 * leave OWN_… in the body. An item that cannot be kept is *bad*: it is left out and reported in a sentence,
 * and the stream goes on.
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
#define DECODER_TYPE_MAX 320u /* bytes kept of an apiVersion's or a kind's text */

/* One of the header's strings, and its state. */
enum item_string_state { STRING_ABSENT, STRING_GOOD, STRING_WRONG_TYPE, STRING_WRONG_BYTES, STRING_TOO_LONG };
struct item_string {
	enum item_string_state state;
	size_t length;
	char data[OBJECT_NAME_MAX]; /* the longest string's size */
};

struct decoder_item {
	bool open;
	uint64_t start; /* offset in the stream */
	struct path_node *root;
	struct item_string strings[OBJECT_STRINGS];
	uint64_t source; /* hash of its spec; 0: unknown */
	/* as in the document, in quotes; at most DECODER_TYPE_MAX bytes */
	struct bytes api_version, kind;

	/* closed, and waiting for the end of its event or document */
	bool has_draft;
	struct draft draft;
	bool bad;			/* it cannot be kept: */
	bool key_bad;                   /* its key is bad, which a bookmark or an error may be */
	bool has_metadata;
	bool foreign; /* key_bad, and no object that is kept here */
	char why[DECODER_WHY_MAX];
};

/* Results are those of decoder_internal.h. */

/* Begin an item at p. A draft that still waits is discarded. */
int item_begin(struct decoder *d, const char *p);

/* A field with a role, or metadata itself, begins. It begins anew when its key occurs twice. */
void item_role_begins(struct decoder *d, const struct path_node *node);
/* The known object of the item's key; 0: none, or there is no key yet. */
uint32_t item_known(const struct decoder *d);
/*
 * The item's spec is of these bytes, and its name was read. If the known object's spec is of the same, copy
 * it.
 * Returns 1; 0: the spec is to be built; -ENOMEM
 */
int item_repeat(struct decoder *d, const struct path_node *spec, uint32_t known, const void *bytes,
		size_t length);
/*
 * Store a string with a role in the header if it fits, else in the body. Returns 0, or the builder's result.
 */
int item_role_string(struct decoder *d, struct path_node *node, const char *data, size_t length);

/*
 * The open item cannot be kept. Release what was built, and skip the rest from p on. A single document fails.
 */
int item_give_up(struct decoder *d, const char *p, const char *why);
/* The same for an item that is complete: nothing is skipped, and item_end() comes next. */
void item_refuse(struct decoder *d, const char *why);
/* The same for an item that is longer than max_bytes. */
int item_give_up_long(struct decoder *d, const char *p);
/* Handle a failure of the builder: a value that cannot be represented gives the item up. */
int item_build_failed(struct decoder *d, const char *p, int r);

/* A dropped field with the role apiVersion or kind begins. Returns where its text goes. */
struct bytes *item_type_begins(struct decoder *d, const struct path_node *node);
/* Append some of that text. Returns 0 or -ENOMEM. */
int item_add_type(struct bytes *to, const char *text, size_t length);

/* The item ends before p: it becomes a draft, or is bad. In a list it is handed over, else it waits. */
int item_end(struct decoder *d, const char *p);

/* Pass the draft, or the reason why there is none, to the caller. type: the event's. */
int item_hand_over(struct decoder *d, const char *type, size_t type_length);
/* Forget the draft, or the reason. */
void item_drop(struct decoder *d);

/* Report the left-out item, for the reason that item_why() has set. */
int item_report_bad(struct decoder *d);
void item_why(struct decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Release what is unfinished; release everything. */
void item_reset(struct decoder *d);
void item_done(struct decoder *d);

#endif
