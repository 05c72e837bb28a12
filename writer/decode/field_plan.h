/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field plan: what a protobuf message with a given set of fields becomes at a path: the node of each field,
 * and the shape of the object.
 *
 * Protobuf gives the numbers of all fields before one is built, and messages of one kind mostly have the same
 * fields. So one comparison replaces a comparison of each name.
 *
 * The plans are a cache with one place per hash of the fields. The schema owns it and holds the references. A
 * plan stays until another is put in its place.
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
	uint64_t fields;  /* a bit for each field in JSON, also for a null that protobuf lacks */
	struct stocked_ref shape;
	struct path_node *children[]; /* node of each field, in this order */
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

/* The plan, or NULL. plans may be NULL. */
static inline struct field_plan *
field_plan_find(const struct field_plans *plans, uint64_t message, uint64_t fields)
{
	struct field_plan *plan = plans ? plans->at[field_plan_place(message, fields)] : NULL;

	return plan && plan->message == message && plan->fields == fields ? plan : NULL;
}

/*
 * Store a copy of plan with these children; the place's former plan is freed. Takes over one reference on the
 * shape, and takes one of its own. NULL: no memory, and nothing is taken.
 */
struct field_plan *field_plan_put(struct field_plans *plans, struct intern *in, const struct field_plan *plan,
				  struct path_node *const *children, unsigned count);

/* Release everything. plans may be NULL. */
void field_plans_free(struct field_plans *plans, struct intern *in);

#endif
