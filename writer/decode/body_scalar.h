/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars, appended to the body that is being built: strings, numbers, and those that are a tag alone.
 *
 * A number is kept exactly: as an integer where 64 bits hold it, else as the double that is nearest to a
 * number with fraction or exponent, else (integers beyond 64 bits, what no double holds) as its text.
 */
#ifndef WRITER_DECODE_BODY_SCALAR_H
#define WRITER_DECODE_BODY_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

#include "shm-layout/value.h"
#include "writer/decode/body_build.h"

/* All of these: 0, -ENOSPC, -ENOMEM. After a failure only body_clear() and body_done(). */

int body_tag(struct body *b, enum value_tag tag);

/* node is the string's path, which knows whether strings there are shared. */
int body_string(struct body *b, struct path_node *node, const char *data, size_t length);

/* text is a JSON number; integer: without fraction and exponent */
int body_number(struct body *b, const char *text, size_t length, bool integer);

#endif
