/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label and field selectors, with the grammar and the error messages of
 * k8s.io/apimachinery (labels.Parse, fields.ParseSelector).
 *
 * A parsed selector is immutable and may be used by any number of threads.
 */
#ifndef TOOLS_SERVING_SELECTOR_H
#define TOOLS_SERVING_SELECTOR_H

#include <stdbool.h>

#include "tools/serving/stored_object.h"
#include "tools/serving/served_resource.h"

enum api_op { API_OP_IN, API_OP_NOT_IN, API_OP_EXISTS, API_OP_ABSENT, API_OP_GREATER, API_OP_LESS };

enum { API_NO_FIELD = -3, API_FIELD_NAME = -2, API_FIELD_NAMESPACE = -1 };

struct api_requirement {
	char *key;
	/*
	 * API_NO_FIELD: key is a label; else an index of the resource's fields, or one of the two constants
	 * above
	 */
	int field;
	enum api_op op;
	char **values; /* without duplicates */
	size_t value_count;
};

/* A conjunction of requirements. */
struct api_selector {
	struct api_requirement *items;
	size_t count;
	char *text; /* text of a label selector; NULL: a field selector */
};

/*
 * Parse a label selector: a=b, a==b, a!=b, a in (b,c), a notin (b,c), a, !a, a>1, a<1, joined by commas.
 * Empty text selects everything.
 *
 * Returns  0, or -EINVAL with a message in *ret_error (free it)
 */
int api_labels_parse(const char *text, struct api_selector **ret_selector, char **ret_error);

/*
 * Parse a field selector for a resource: metadata.name=x, status.phase!=Running, joined by commas;
 * a backslash escapes comma, equals sign and itself in a value.
 *
 * Returns  0, or -EINVAL with a message (also for a field the resource does not support)
 */
int api_fields_parse(const struct api_resource *resource, const char *text,
		     struct api_selector **ret_selector, char **ret_error);

/* NULL is fine. */
void api_selector_free(struct api_selector *selector);

/* Whether it selects everything; true for NULL. */
bool api_selector_empty(const struct api_selector *selector);
bool api_selector_matches(const struct api_selector *selector, const struct api_object *object);

/*
 * Whether it selected an object before a change, judged by the state after it alone. Uses only what never
 * changes: an object's name and namespace, and a node's name once set.
 *
 * Returns  1; 0; -1  unknown
 */
int api_selector_before(const struct api_selector *selector, const struct api_object *object);

/* For the two parsers: */
struct api_selector *api_selector_new(void);
/* Make a message. Returns -EINVAL. */
int api_selector_refuse(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A new, zeroed requirement; borrowed until the next one is added. */
struct api_requirement *api_selector_add(struct api_selector *selector);
void api_requirement_value(struct api_requirement *requirement, const char *text, size_t len);
/* Parse a value that is compared by > and <. False: not an integer. */
bool api_requirement_integer(const char *text, long long *ret);

#endif
