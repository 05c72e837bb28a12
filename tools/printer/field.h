/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field of a Kubernetes object, wherever the object is kept: in the arena (informer_value), or in a cJSON
 * tree.
 *
 * The printers (print.h) and the texts (document.h) are written against this and not against informer_value
 * or cJSON: an object in the arena is printed in place, without a copy and without numbers going through
 * double, and informer-sim and informer-gateway print the rows of a Table from an object's text.
 *
 * A field is a value: copied freely, nothing to free. Texts are lent for as long as the object stays, and not
 * terminated. What is absent is a field of kind FIELD_NONE, on which everything may be asked and which has
 * nothing in it; so printers read `field_at(pod, "status", "phase")` without a check between.
 */
#ifndef TOOLS_PRINTER_FIELD_H
#define TOOLS_PRINTER_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "reader-lib/informer.h"

enum field_kind { FIELD_NONE, FIELD_NULL, FIELD_BOOL, FIELD_NUMBER, FIELD_STRING, FIELD_ARRAY, FIELD_OBJECT };

struct field_source;

struct field {
	const struct field_source *source; /* NULL: FIELD_NONE */
	struct informer_value at;	   /* the source's own */
};

struct field_text {
	const char *data;
	size_t length;
};

/* Steps through an array or object. The caller's memory, nothing to free. */
struct field_iter {
	const char *key; /* NULL in arrays */
	size_t key_length;
	struct field item;
	const struct field_source *source;
	union {
		struct informer_value_iter value;
		const cJSON *next;
	} private_;
};

/* What a kind of object store has to tell; all but `get` and `begin` are asked for fitting kinds only. */
struct field_source {
	enum field_kind (*kind)(const struct field *field);
	/* A string's bytes; false when it is none. */
	bool (*string)(const struct field *field, struct field_text *ret);
	bool (*boolean)(const struct field *field);
	/* A number as int64_t; false when it is none that fits. */
	bool (*integer)(const struct field *field, int64_t *ret);
	/* A number as JSON writes it, exactly; returns its length, which is below `size`, or 0. */
	size_t (*number)(const struct field *field, char *buffer, size_t size);
	size_t (*count)(const struct field *field);
	bool (*get)(const struct field *object, const char *name, size_t length, struct field *ret);
	bool (*element)(const struct field *array, size_t i, struct field *ret);
	void (*begin)(const struct field *field, struct field_iter *it);
	bool (*next)(struct field_iter *it);
};

/* ---- where they come from; objects of the arena: tools/informerctl/field_informer.h ---- */

/* Borrowed; NULL gives FIELD_NONE. */
struct field
field_of_cjson(const cJSON *node);
/* A terminated string by itself. Borrowed. */
struct field
field_of_text(const char *text);

/* ---- reading ---- */

enum field_kind
field_kind(struct field field);
/* A member by name; FIELD_NONE when there is none, or `object` is none. */
struct field
field_get(struct field object, const char *name);
struct field
field_get_n(struct field object, const char *name, size_t length);
struct field
field_element(struct field array, size_t i);
/* Members by names, one below the other: field_at(pod, "spec", "nodeName"). */
struct field
field_path(struct field object, const char *const *names);
#define field_at(object, ...) field_path(object, (const char *const[]){__VA_ARGS__, NULL})

/* Present, and not null. */
bool
field_is_set(struct field field);
/* The string; empty when it is none. */
struct field_text
field_string(struct field field);
bool
field_is(struct field field, const char *text);
/* true only for the boolean true. */
bool
field_is_true(struct field field);
/* The integer; 0 when it is none. */
int64_t
field_int(struct field field);
size_t
field_count(struct field field);
size_t
field_number(struct field field, char *buffer, size_t size);

/* while (field_next(&it)) use(it.key, it.item); what is neither array nor object has no items. */
void
field_iterate(struct field field, struct field_iter *ret_it);
bool
field_next(struct field_iter *it);

/* ---- texts ---- */

bool
field_text_is(struct field_text text, const char *other);
bool
field_text_equal(struct field_text a, struct field_text b);
/* By bytes; for qsort() over texts, or over structs that begin with one. */
int
field_text_compare(const void *a, const void *b);

#endif
