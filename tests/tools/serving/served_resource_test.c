/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that can be defined beside the built-in ones. */
#include "tests/room.h"
#include "tools/serving/served_resource.h"

static int
define(struct api_registry *registry, const char *group, const char *plural)
{
	struct api_resource like = {.group = group, .version = "v1", .plural = plural, .kind = "Thing"},
			    *made;

	return api_registry_define(registry, &like, NULL, &made);
}

/* Resources can be defined in the core group and in others. A name that is no DNS label is refused. */
TEST_CASE(resources_of_each_group_can_be_defined)
{
	struct api_registry registry;
	const struct api_resource *found;

	api_registry_init(&registry);
	assert_int_equal(define(&registry, "", "limitranges"), 0);
	assert_int_equal(define(&registry, "example.com", "things"), 0);
	assert_int_equal(define(&registry, "example.com", "th/ngs"), -EINVAL);
	assert_int_equal(define(&registry, "example.com", ""), -EINVAL);
	found = api_registry_find(&registry, "", "v1", "limitranges");
	assert_non_null(found);
	assert_string_equal(found->group_resource, "limitranges");
	assert_ptr_equal(registry.items[found->index], found);
	while (api_registry_count(&registry) < API_RESOURCES_MAX)
		assert_int_equal(define(&registry, "full.example.com", "things"), 0);
	assert_int_equal(define(&registry, "example.com", "more"), -ENOSPC);
	api_registry_done(&registry);
}
