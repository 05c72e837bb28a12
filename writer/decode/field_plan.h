/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a protobuf message becomes at a path, when just these fields are there: the node of each, and the
 * shape of the object.
 *
 * Protobuf tells which fields there are by numbers, before one is built. Messages of one kind mostly have the
 * same ones, so one comparison stands for all their names, in place of one for each.
 *
 * It is a cache, one place for a hash of the fields; the schema owns it, and holds the references. A plan
 * stays where it is until another of its place is put.
 */
#ifndef WRITER_DECODE_FIELD_PLAN_H
#define WRITER_DECODE_FIELD_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "writer/decode/text_memo.h"

struct path_node;

#define FIELD_PLANS 8u /* at a path */

struct field_plan {
	uint64_t message; /* proto_message.id */
	uint64_t fields;  /* a bit each, as they stand in JSON: there, or null though absent */
	struct stocked_ref shape;
	struct path_node *children[]; /* of each field, in this order */
};

struct field_plans {
	struct field_plan *at[FIELD_PLANS];
};

static inline unsigned
field_plan_place(uint64_t message, uint64_t fields)
{
	return (unsigned)((message ^ fields) * 0x9e3779b97f4a7c15u >> 61);
}
_Static_assert(FIELD_PLANS == 1u << 3, "field_plan: the place has three bits");

/* NULL: there is none. plans may be NULL. */
static inline struct field_plan *
field_plan_find(const struct field_plans *plans, uint64_t message, uint64_t fields)
{
	struct field_plan *plan = plans ? plans->at[field_plan_place(message, fields)] : NULL;

	return plan && plan->message == message && plan->fields == fields ? plan : NULL;
}

/*
 * A copy of plan with these children; what stood in its place goes. Takes over one reference on the shape,
 * and one of its own. NULL: no memory, and nothing is taken.
 */
struct field_plan *field_plan_put(struct field_plans *plans, struct intern *in, const struct field_plan *plan,
				  struct path_node *const *children, unsigned count);

/* Give everything back. plans may be NULL. */
void field_plans_free(struct field_plans *plans, struct intern *in);

#endif
