/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two values of an arena say the same, however each is stored: inline or shared, and in whichever
 * shape.
 *
 * Threads: the writer's loop thread only
 */
#ifndef WRITER_DECODE_VALUE_SAME_H
#define WRITER_DECODE_VALUE_SAME_H

#include <stdbool.h>

#include "shm-layout/value.h"

/*
 * Fields count in their order: who sends them in another one says the same by other means, and is not
 * recognised. A value that is damaged or absent is the same as none.
 *
 * Cost: as comparing their bytes, when they are stored alike, which those of one server mostly are
 */
bool value_same(struct value a, struct value b);

#endif
