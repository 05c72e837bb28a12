/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two values of an arena by content, however each is stored: inline or shared, in any shape.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_DECODE_VALUE_SAME_H
#define WRITER_DECODE_VALUE_SAME_H

#include <stdbool.h>

#include "shm-layout/value.h"

/*
 * Whether two values are equal. Fields are compared in order: the same fields in another order are not equal.
 * A damaged or absent value equals none.
 *
 * Cost: as comparing their bytes, when they are stored alike, as values of one server mostly are.
 */
bool value_same(struct value a, struct value b);

#endif
