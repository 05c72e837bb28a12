/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's way through an item: the push parser that gives a document's text, token by token, to the
 * builder (body_build.h).
 *
 * Its stack is the builder's: a frame for each open container. What came next at a path the last time is what
 * the text is compared with first, a name or a whole container at a time; what does not compare equal is
 * scanned.
 */
#ifndef WRITER_DECODE_DECODER_BODY_H
#define WRITER_DECODE_DECODER_BODY_H

#include <stdbool.h>

#include "writer/decode/decoder.h"

/* Both answer as decoder_internal.h has it. */

/*
 * An item's value at *p: a scalar passes as a whole, a container is opened, what cannot be an item is given
 * up.
 */
int decoder_body_begin(struct decoder *d, const char **p, const char *end, bool final);

/* The open containers, from d->state on, until the item is whole, or a part of it is to be skipped. */
int decoder_body_run(struct decoder *d, const char **p, const char *end, bool final);

#endif
