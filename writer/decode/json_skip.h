/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skips a JSON value that is not wanted, and still refuses what is not JSON.
 *
 * It stores one bit per level of nesting, so it skips values of any length, in pieces of any size.
 */
#ifndef WRITER_DECODE_JSON_SKIP_H
#define WRITER_DECODE_JSON_SKIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/decode/json_scan.h"

#define JSON_SKIP_DEPTH_MAX (1u << 20)

/* What may come next in a document; the decoder's states are the same. */
enum json_state {
	JSON_VALUE,         /* a value */
	JSON_FIRST_ELEMENT, /* a value or ] */
	JSON_FIRST_NAME,    /* a name or } */
	JSON_NAME,          /* a name */
	JSON_COLON,
	JSON_NEXT,      /* a comma or the container's end */
	JSON_IN_STRING, /* only here: within a token whose beginning is gone */
	JSON_IN_NAME,
	JSON_IN_NUMBER,
};

struct json_skip {
	enum json_state state;
	uint32_t depth;
	uint32_t capacity;	/* bits */
	uint64_t *objects;      /* a bit per level: 1 for an object */
	struct json_scan scan;
	const char *why;
};

/* Before a value. Allocates nothing. */
void json_skip_begin(struct json_skip *s);
void json_skip_done(struct json_skip *s);

/*
 * To begin in the middle of a value: add one open container around the position. Returns 0, -ENOMEM, -E2BIG.
 */
int json_skip_push(struct json_skip *s, bool object);

/*
 * Go on at *p. *p moves behind what was skipped; on failure, to what is wrong.
 *
 * final    nothing comes after end
 * Returns  1: the value is over; 0: more bytes are needed (the few left before end must be given again);
 *          -EBADMSG, with why set; -ENOMEM
 */
int json_skip_run(struct json_skip *s, const char **p, const char *end, bool final);

/* Pass true, false or null at *p. Returns 1; 0: more bytes are needed; -EBADMSG, with *p at what is wrong. */
int json_literal(const char **p, const char *end, const char *word, size_t length);

/* The end of JSON white space. */
static inline const char *
json_space_end(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

#endif
