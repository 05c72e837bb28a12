/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers plans for the decoder's schema, and releases their references. */
#include "writer/decode/field_plan.h"

#include <stdlib.h>
#include <string.h>

static void
forget(struct field_plan *plan, struct intern *in)
{
	if (plan)
		stocked_ref_set(&plan->shape, in, 0);
	free(plan);
}

struct field_plan *
field_plan_put(struct field_plans *plans, struct intern *in, const struct field_plan *plan,
	       struct path_node *const *children, unsigned count)
{
	struct field_plan **place = &plans->at[field_plan_place(plan->message, plan->fields)],
			  *copy = malloc(sizeof(*copy) + count * sizeof(copy->children[0]));

	if (!copy)
		return NULL;
	*copy = (struct field_plan){.message = plan->message, .fields = plan->fields};
	stocked_ref_set(&copy->shape, in, plan->shape.ref);
	copy->shape.stock = 1; /* the caller's reference */
	memcpy(copy->children, children, count * sizeof(copy->children[0]));
	forget(*place, in);
	*place = copy;
	return copy;
}

void
field_plans_free(struct field_plans *plans, struct intern *in)
{
	for (unsigned i = 0; plans && i < FIELD_PLANS; i++)
		forget(plans->at[i], in);
	free(plans);
}
