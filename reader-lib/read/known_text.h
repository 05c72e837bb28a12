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

/* The field's string; "" if it is absent or no string. */
static inline struct informer_text
known_text(struct value object, struct known_field *field)
{
	struct informer_text text = {"", 0};

	value_string(known_field(object, field), &text.data, &text.length);
	return text;
}

/* The field's boolean; `otherwise` if it is absent or no boolean. */
static inline bool
known_flag(struct value object, struct known_field *field, bool otherwise)
{
	bool flag;

	return value_bool(known_field(object, field), &flag) ? flag : otherwise;
}

#endif
