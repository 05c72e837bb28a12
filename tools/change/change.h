/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change: a change of an object as one line of JSON. `informerctl changes` prints it; informer-run gives it
 * to its handlers.
 *
 *	{"seq":7,"type":"MODIFIED","initial":false,"object":{…},"old":{…}}
 *	{"seq":9,"type":"DELETED","initial":false,"finalStateKnown":false,"object":{…}}
 *	{"seq":9,"type":"RESYNC"}
 *	{"seq":9,"type":"RESYNC","id":1795461437123}
 *
 * `old` is present only if known, finalStateKnown only if false, coalesced only if true. The only line feed
 * in a line is its last byte.
 */
#ifndef TOOLS_CHANGE_CHANGE_H
#define TOOLS_CHANGE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "reader-lib/informer.h"
#include "tools/printer/text.h"

enum change_type {
	CHANGE_ADDED,
	CHANGE_MODIFIED,
	CHANGE_DELETED,
	/* marks: no object, nothing to acknowledge */
	CHANGE_COALESCED,
	CHANGE_RESYNC,
	CHANGE_RESYNC_END,
};

/* "ADDED" and so on. */
const char *
change_type_name(enum change_type type);

/*
 * object, old   JSON, lent. old NULL: none, or not known; object NULL for marks
 * initial       the object existed before the handler began
 * final_unknown for a delete: object may not be the last state
 * coalesced     the change stands for several changes
 * resync        number of a RESYNC and its RESYNC_END; 0 is not printed
 */
struct change {
	uint64_t seq;
	enum change_type type;
	bool initial;
	bool final_unknown;
	bool coalesced;
	uint64_t resync;
	const char *object;
	size_t object_length;
	const char *old;
	size_t old_length;
};

/* Append the line, with its line feed. */
void
change_line(const struct change *change, struct text *out);

/*
 * Append an object's JSON. If the object lacks apiVersion and kind, as items of the API server's lists do,
 * they are added in front. A tombstone with only a key becomes
 * {"apiVersion","kind","metadata":{"namespace","name"}}.
 *
 * Returns 0, or the library's error; `out` is then unchanged
 */
int
change_object(const struct informer_object *object, struct text *out);

/* The seq of a change: the object's own. For deletes and marks it is the handler's cursor. */
uint64_t
change_seq(enum change_type type, const struct informer_object *object, const struct informer_cursor *cursor);

/* Append a JSON string, quoted. */
void
change_string(const char *data, size_t length, struct text *out);

#endif
