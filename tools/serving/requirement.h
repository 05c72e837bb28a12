/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What selectors are made of: shared by the two parsers and the matcher, and by
 * nobody else.
 */
#ifndef TOOLS_SERVING_REQUIREMENT_H
#define TOOLS_SERVING_REQUIREMENT_H

#include "tools/serving/selector.h"

enum api_op { API_OP_IN, API_OP_NOT_IN, API_OP_EXISTS, API_OP_ABSENT, API_OP_GREATER, API_OP_LESS };

enum { API_NO_FIELD = -3, API_FIELD_NAME = -2, API_FIELD_NAMESPACE = -1 };

struct api_requirement {
	char *key;
	/* API_NO_FIELD: key is a label; else which of the resource's fields, or one of the two above */
	int field;
	enum api_op op;
	char **values; /* without duplicates */
	size_t value_count;
};

struct api_selector {
	struct api_requirement *items;
	size_t count;
	char *text; /* that a label selector was parsed from; NULL: it is another */
};

struct api_selector *api_selector_new(void);
/* A new, zeroed requirement; borrowed until the next one is added. */
struct api_requirement *api_selector_add(struct api_selector *selector);
void api_requirement_value(struct api_requirement *requirement, const char *text, size_t len);

#endif
