/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known fields: names that the code itself reads often, each with a memo of where it was (value_field.h).
 *
 *	static struct known_field spec = KNOWN_FIELD("spec");
 *
 *	v = known_field(object, &spec);
 *
 * and several fields of one object in one pass:
 *
 *	enum { NAME, IMAGE, FIELDS };
 *	static struct known_field fields[] = {[NAME] = KNOWN_FIELD("name"), [IMAGE] = KNOWN_FIELD("image")};
 *	struct value values[FIELDS];
 *
 *	known_fields(object, fields, FIELDS, values);
 */
#ifndef SHM_LAYOUT_KNOWN_FIELD_H
#define SHM_LAYOUT_KNOWN_FIELD_H

#include "shm-layout/value_field.h"

/* fingerprint: shape_fingerprint() of the name + 256; 0: not computed yet. Threads may share a field. */
struct known_field {
	const char *name;
	size_t length;
	_Atomic uint16_t fingerprint;
	struct value_memo memo;
};
#define KNOWN_FIELD(name_) {.name = (name_), .length = sizeof(name_) - 1}

static inline uint8_t
known_field_fingerprint(struct known_field *f)
{
	uint16_t fp = atomic_load_explicit(&f->fingerprint, memory_order_relaxed);

	if (fp == 0) {
		fp = (uint16_t)(256u + shape_fingerprint(f->name, f->length));
		atomic_store_explicit(&f->fingerprint, fp, memory_order_relaxed);
	}
	return (uint8_t)fp;
}

/* The field; at == NULL when absent. */
static inline struct value
known_field(struct value object, struct known_field *f)
{
	return value_enter(&object, f->name, f->length, known_field_fingerprint(f), &f->memo)
		       ? object
		       : (struct value){0};
}

/* Several fields, at most VALUE_NAMES_MAX, of different names. */
static inline void
known_fields(struct value object, struct known_field *fields, unsigned count, struct value *ret)
{
	struct value_name names[VALUE_NAMES_MAX];

	for (unsigned i = 0; i < count; i++)
		names[i] = (struct value_name){fields[i].name, fields[i].length,
					       known_field_fingerprint(&fields[i]), &fields[i].memo};
	value_enter_each(object, names, count, ret);
}

#endif
