/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an item's JSON: a push parser that passes the text, token by token, to the builder (body_build.h).
 *
 * The builder's frames, one per open container, are its stack. The text is first compared with what came next
 * at this path last time, a name or a whole container at a time. Text that differs is scanned.
 */
#ifndef WRITER_DECODE_DECODER_BODY_H
#define WRITER_DECODE_DECODER_BODY_H

#include <stdbool.h>

#include "writer/decode/decoder.h"

/* Results are those of decoder_internal.h. */

/*
 * Begin an item's value at *p: read a scalar whole, open a container, or give up a value that cannot be an
 * item.
 */
int decoder_body_begin(struct decoder *d, const char **p, const char *end, bool final);

/* Read the open containers, from d->state on, until the item is complete or a part of it is to be skipped. */
int decoder_body_run(struct decoder *d, const char **p, const char *end, bool final);

#endif
