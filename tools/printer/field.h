/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field: a value inside a Kubernetes object, which is in the arena (informer_value) or in a cJSON tree.
 *
 * Printers (print.h) and documents (document.h) use fields only. So an object in the arena is printed in
 * place, without a copy and without converting numbers to double. informer-sim and informer-gateway print
 * Table rows from an object's text.
 *
 * A field is copied freely and needs no free. Texts are lent as long as the object lives, and are not
 * terminated. An absent member is a field of kind FIELD_NONE; every function accepts it and finds nothing in
 * it. So printers read `field_at(pod, "status", "phase")` without checks.
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
	struct informer_value at;          /* private to the source */
};

struct field_text {
	const char *data;
	size_t length;
};

/* Iterates over an array or object. The caller's memory; needs no free. */
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

/*
 * Functions of a kind of storage. All except `get` and `begin` are called only for fields of the right kind.
 */
struct field_source {
	enum field_kind (*kind)(const struct field *field);
	/* A string's bytes; false: not a string. */
	bool (*string)(const struct field *field, struct field_text *ret);
	bool (*boolean)(const struct field *field);
	/* A number as int64_t; false: not an integer that fits. */
	bool (*integer)(const struct field *field, int64_t *ret);
	/* A number exactly as in the JSON; returns its length, below `size`, or 0. */
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
/* A terminated string. Borrowed. */
struct field
field_of_text(const char *text);

/* ---- reading ---- */

enum field_kind
field_kind(struct field field);
/* A member by name; FIELD_NONE: no such member, or no object. */
struct field
field_get(struct field object, const char *name);
struct field
field_get_n(struct field object, const char *name, size_t length);
struct field
field_element(struct field array, size_t i);
/* A member through nested objects: field_at(pod, "spec", "nodeName"). */
struct field
field_path(struct field object, const char *const *names);
#define field_at(object, ...) field_path(object, (const char *const[]){__VA_ARGS__, NULL})

/* Present, and not null. */
bool
field_is_set(struct field field);
/* The string; empty: not a string. */
struct field_text
field_string(struct field field);
bool
field_is(struct field field, const char *text);
/* True only for the boolean true. */
bool
field_is_true(struct field field);
/* The integer; 0: not an integer. */
int64_t
field_int(struct field field);
size_t
field_count(struct field field);
size_t
field_number(struct field field, char *buffer, size_t size);

/* while (field_next(&it)) use(it.key, it.item); other kinds have no items. */
void
field_iterate(struct field field, struct field_iter *ret_it);
bool
field_next(struct field_iter *it);

/* ---- texts ---- */

bool
field_text_is(struct field_text text, const char *other);
bool
field_text_equal(struct field_text a, struct field_text b);
/* Compares by bytes; for qsort() on texts, or on structs that begin with a text. */
int
field_text_compare(const void *a, const void *b);

#endif
