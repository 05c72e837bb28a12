/* SPDX-License-Identifier: Apache-2.0 */
/* A remembered plan is found for its message and fields alone. References are given back. */
#include "tests/room.h"
#include "tests/support/body_fixture.h"
#include "writer/decode/field_plan.h"

static struct path_node *
node(uintptr_t n)
{
	return (struct path_node *)n; /* never read */
}

#define TEST(name) TEST_CASE_OF(struct body_fixture *fx, body_fixture_set_up, body_fixture_tear_down, name)

TEST(only_its_message_and_fields_find_a_plan)
{
	struct intern *in = fx->intern;
	struct field_plans *plans = calloc(1, sizeof(*plans));
	struct path_node *children[3] = {node(1), node(2), node(3)};
	struct field_plan plan = {.message = 5,
				  .fields = 0x8000000000000041,
				  .shape.ref = body_fixture_block(fx, 1)},
			  *kept;

	assert_null(field_plan_find(NULL, 5, 0x41));
	assert_null(field_plan_find(plans, plan.message, plan.fields));
	kept = field_plan_put(plans, in, &plan, children, 3);
	assert_non_null(kept);
	assert_ptr_equal(field_plan_find(plans, plan.message, plan.fields), kept);
	assert_int_equal(kept->shape.ref, plan.shape.ref);
	for (unsigned i = 0; i < 3; i++)
		assert_ptr_equal(kept->children[i], node(i + 1));
	for (unsigned bit = 0; bit < 64; bit++) {
		assert_null(field_plan_find(plans, plan.message, plan.fields ^ 1ull << bit));
		assert_null(field_plan_find(plans, plan.message ^ 1ull << bit, plan.fields));
		/* another message and fields at the same place in the table */
		assert_null(field_plan_find(plans, plan.message ^ 1ull << bit, plan.fields ^ 1ull << bit));
	}
	field_plans_free(plans, in);
	assert_int_equal(intern_count(in), 0);
}

/* With many more plans than places the newest is found, a found plan is right, and references balance. */
TEST(a_plan_gives_way_to_a_newer_one)
{
	struct intern *in = fx->intern;
	struct field_plans *plans = calloc(1, sizeof(*plans));
	unsigned found = 0;

	for (unsigned i = 0; i < 1000; i++) {
		unsigned n = i * i % 37;
		struct path_node *child = node(n + 1);
		struct field_plan plan = {.message = 1,
					  .fields = n,
					  .shape.ref = body_fixture_block(fx, (uint16_t)n)},
				  *kept;

		kept = field_plan_find(plans, 1, n);
		if (kept) {
			assert_int_equal(kept->shape.ref, plan.shape.ref);
			assert_ptr_equal(kept->children[0], child);
			intern_unref(in, stocked_ref_take(&kept->shape, in));
			found++;
		}
		kept = field_plan_put(plans, in, &plan, &child, 1);
		assert_ptr_equal(field_plan_find(plans, 1, n), kept);
		assert_true(intern_count(in) <= FIELD_PLANS);
	}
	assert_true(found > 0);
	field_plans_free(plans, in);
	assert_int_equal(intern_count(in), 0);
}
