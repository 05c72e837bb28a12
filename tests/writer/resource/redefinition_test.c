/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a resource whose definition is looked up again. */
#include "tests/room.h"
#include "writer/resource/known_names.h"
#include "writer/resource/redefinition.h"

static char *short_names[] = {"gd", "gad"};

/* Strings are the test's: never for kube_resource_done(). */
static struct kube_resource
gadgets(void)
{
	return (struct kube_resource){.group = "example.com",
				      .version = "v1",
				      .resource = "gadgets",
				      .kind = "Gadget",
				      .singular = "gadget",
				      .short_names = short_names,
				      .n_short_names = 1,
				      .namespaced = true,
				      .can_list = true,
				      .can_watch = true};
}

/* Another version, kind, scope or name is another definition; another group or resource is unrelated. */
TEST_CASE(a_definition_is_compared_part_by_part)
{
	struct kube_resource was = gadgets(), now[9];
	static const enum redefinition expected[9] = {
		REDEFINITION_NONE,  REDEFINITION_OTHER, REDEFINITION_OTHER,
		REDEFINITION_OTHER, REDEFINITION_OTHER, REDEFINITION_OTHER,
		REDEFINITION_OTHER, REDEFINITION_GONE,  REDEFINITION_GONE};

	for (size_t i = 0; i < 9; i++)
		now[i] = gadgets();
	now[1].version = "v2";
	now[2].kind = "Device";
	now[3].namespaced = false;
	now[4].singular = "device";
	now[5].n_short_names = 2;
	now[6].short_names = short_names + 1;
	now[7].group = "other.org";
	now[8].resource = "gadgetries";
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(redefinition_between(&was, &now[i]), expected[i]);
	assert_int_equal(redefinition_between(&was, NULL), REDEFINITION_GONE);
}

/* A built-in resource is never looked up again; another resource is, when it is not found. */
TEST_CASE(only_custom_resources_are_looked_up_again)
{
	struct kube_resource custom = gadgets(), builtin = gadgets();

	builtin.group = "apps";
	assert_true(redefinition_may_be(&custom, 404));
	assert_true(redefinition_may_be(&custom, 410));
	assert_false(redefinition_may_be(&custom, 403));
	assert_false(redefinition_may_be(&custom, 500));
	assert_false(redefinition_may_be(&custom, 0));
	assert_false(redefinition_may_be(&builtin, 404));
}

TEST_CASE(a_known_name_keeps_its_meaning)
{
	struct kube_resource was = gadgets(), now = gadgets();
	struct known_names known = {0};

	now.version = "v2";
	assert_null(known_names_find(&known, "gd"));
	assert_int_equal(known_names_add(&known, "gd", &was), 0);
	assert_int_equal(known_names_add(&known, "gd", &now), 0);
	assert_int_equal(known_names_add(&known, "gadgets", &now), 0);
	assert_string_equal(known_names_find(&known, "gd")->version, "v1");
	assert_string_equal(known_names_find(&known, "gadgets")->version, "v2");
	known_names_done(&known);
}
