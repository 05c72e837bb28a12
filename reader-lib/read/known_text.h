/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and flags of known fields (shm-layout/known_field.h), and texts compared.
 */
#ifndef READER_LIB_READ_KNOWN_TEXT_H
#define READER_LIB_READ_KNOWN_TEXT_H

#include <string.h>

#include "reader-lib/informer.h"
#include "shm-layout/known_field.h"

#define TEXT_OF(literal) ((struct informer_text){literal, sizeof(literal) - 1})

static inline bool
text_same(struct informer_text a, struct informer_text b)
{
	return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

/* A string; "" if it is absent or no string. */
static inline struct informer_text
text_of(struct value v)
{
	struct informer_text text = {"", 0};

	value_string(v, &text.data, &text.length);
	return text;
}

static inline struct informer_text
known_text(struct value object, struct known_field *field)
{
	return text_of(known_field(object, field));
}

/* A boolean; `otherwise` if it is absent or no boolean. */
static inline bool
flag_of(struct value v, bool otherwise)
{
	bool flag;

	return value_bool(v, &flag) ? flag : otherwise;
}

#endif
