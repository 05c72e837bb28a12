/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of an object as a line of JSON: what `informerctl changes` prints and informer-run gives to its
 * handlers.
 *
 *	{"seq":7,"type":"MODIFIED","initial":false,"object":{…},"old":{…}}
 *	{"seq":9,"type":"DELETED","initial":false,"finalStateKnown":false,"object":{…}}
 *	{"seq":9,"type":"RESYNC"}
 *	{"seq":9,"type":"RESYNC","id":1795461437123}
 *
 * `old` stands only where it is known, finalStateKnown only where it is false, "coalesced":true only where it
 * is so. Nothing in a line is a line feed but its end.
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
 * object, old   JSON, lent; old NULL: not known, or there is none; object NULL for marks
 * initial       it was there before
 * final_unknown a delete whose object may not be the last state
 * coalesced     it stands for several changes
 * resync        of RESYNC and RESYNC_END: which one, 0 is not printed
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

/* Add the line, with its line feed. */
void
change_line(const struct change *change, struct text *out);

/*
 * Add an object's JSON. apiVersion and kind stand in front where the object lacks them, as items of the API
 * server's lists do. Of a tombstone that has only its key:
 * {"apiVersion","kind","metadata":{"namespace","name"}}.
 *
 * Returns 0, or what the library said; out is then as it was
 */
int
change_object(const struct informer_object *object, struct text *out);

/*
 * The seq that names a change: the object's own, but for deletes and marks where the handler stands, which is
 * given.
 */
uint64_t
change_seq(enum change_type type, const struct informer_object *object, const struct informer_cursor *cursor);

/* Add a JSON string, quoted. */
void
change_string(const char *data, size_t length, struct text *out);

#endif
