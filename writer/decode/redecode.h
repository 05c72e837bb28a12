/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redecode: a known object as another schema would have decoded it.
 *
 * Its body is printed and decoded again, so that the result is what a list would have brought: there is no
 * second way in which a path can be left out.
 */
#ifndef WRITER_DECODE_REDECODE_H
#define WRITER_DECODE_REDECODE_H

#include <stdbool.h>

#include "writer/decode/decoder.h"

struct redecode;

/*
 * schema         borrowed
 * metadata_only  nothing but metadata is kept
 * Returns        NULL: no memory
 */
struct redecode *redecode_new(struct arena *arena, struct intern *intern, struct decoder_schema *schema,
			      bool metadata_only);
/* NULL is fine. */
void redecode_free(struct redecode *r);

/*
 * The object at ref, a known one.
 * ret_draft  ref 0: it is the same; else the caller's
 * Returns    0; -ENOSPC, -ENOMEM; -EBADMSG it cannot be read, or not be decoded again
 */
int redecode_object(struct redecode *r, uint32_t ref, struct draft *ret_draft);

#endif
