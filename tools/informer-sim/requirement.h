/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What selectors are made of: shared by the two parsers and the matcher, and by
 * nobody else.
 */
#ifndef TOOLS_INFORMER_SIM_REQUIREMENT_H
#define TOOLS_INFORMER_SIM_REQUIREMENT_H

#include "tools/informer-sim/selector.h"

enum sim_op { SIM_OP_IN, SIM_OP_NOT_IN, SIM_OP_EXISTS, SIM_OP_ABSENT, SIM_OP_GREATER, SIM_OP_LESS };

enum { SIM_NO_FIELD = -3, SIM_FIELD_NAME = -2, SIM_FIELD_NAMESPACE = -1 };

struct sim_requirement {
	char *key;
	/* SIM_NO_FIELD: key is a label; else which of the resource's fields, or one of the two above */
	int field;
	enum sim_op op;
	char **values; /* without duplicates */
	size_t value_count;
};

struct sim_selector {
	struct sim_requirement *items;
	size_t count;
};

struct sim_selector *
sim_selector_new(void);
/* A new, zeroed requirement; borrowed until the next one is added. */
struct sim_requirement *
sim_selector_add(struct sim_selector *selector);
void
sim_requirement_value(struct sim_requirement *requirement, const char *text, size_t len);

#endif
