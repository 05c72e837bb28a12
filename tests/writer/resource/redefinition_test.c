/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a resource whose definition is looked at again. */
#include <errno.h>

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

static void
the_same_definition_is_no_other_one(void **state)
{
	struct kube_resource was = gadgets(), now = gadgets();

	(void)state;
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_NONE);
}

static void
another_version_kind_scope_or_name_is_another_definition(void **state)
{
	struct kube_resource was = gadgets(), now = gadgets();

	(void)state;
	now.version = "v2";
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_OTHER);
	now = gadgets();
	now.kind = "Device";
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_OTHER);
	now = gadgets();
	now.namespaced = false;
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_OTHER);
	now = gadgets();
	now.singular = "device";
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_OTHER);
	now = gadgets();
	now.n_short_names = 2;
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_OTHER);
	now = gadgets();
	now.short_names = short_names + 1;
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_OTHER);
}

static void
nothing_and_what_only_answers_to_its_name_is_no_successor(void **state)
{
	struct kube_resource was = gadgets(), now = gadgets();

	(void)state;
	assert_int_equal(redefinition_between(&was, NULL), REDEFINITION_GONE);
	now.group = "other.org";
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_GONE);
	now = gadgets();
	now.resource = "gadgetries";
	assert_int_equal(redefinition_between(&was, &now), REDEFINITION_GONE);
}

static void
only_what_can_be_defined_is_doubted_and_only_when_it_is_not_found(void **state)
{
	struct kube_resource custom = gadgets(), builtin = gadgets();

	(void)state;
	builtin.group = "apps";
	assert_true(redefinition_may_be(&custom, 404));
	assert_true(redefinition_may_be(&custom, 410));
	assert_false(redefinition_may_be(&custom, 403));
	assert_false(redefinition_may_be(&custom, 500));
	assert_false(redefinition_may_be(&custom, 0));
	assert_false(redefinition_may_be(&builtin, 404));
}

static void
a_known_name_means_the_successor_from_then_on(void **state)
{
	struct kube_resource was = gadgets(), now = gadgets();
	struct known_names known = {0};

	(void)state;
	now.version = "v2";
	assert_int_equal(known_names_change(&known, "gd", &now), -ENOENT);
	assert_int_equal(known_names_add(&known, "gd", &was), 0);
	assert_int_equal(known_names_add(&known, "gadgets", &was), 0);
	assert_int_equal(known_names_change(&known, "gd", &now), 0);
	assert_string_equal(known_names_find(&known, "gd")->version, "v2");
	assert_string_equal(known_names_find(&known, "gadgets")->version, "v1");
	known_names_done(&known);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_same_definition_is_no_other_one),
	cmocka_unit_test(another_version_kind_scope_or_name_is_another_definition),
	cmocka_unit_test(nothing_and_what_only_answers_to_its_name_is_no_successor),
	cmocka_unit_test(only_what_can_be_defined_is_doubted_and_only_when_it_is_not_found),
	cmocka_unit_test(a_known_name_means_the_successor_from_then_on),
};
TEST_GROUP(tests, NULL, NULL);
