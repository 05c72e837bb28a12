/*
 * Whether two values are the same JSON, wherever and however each is stored.
 */
#ifndef WRITER_VALUE_SAME_H
#define WRITER_VALUE_SAME_H

#include "shm-layout/value.h"

/* Fields count in their order. Damaged values are the same as nothing. */
bool value_same(struct value a, struct value b);

#endif
