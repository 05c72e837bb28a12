/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths may be dropped. */
#include "tests/room.h"
#include "writer/base/drop_path.h"

/* Fields, elements all at once, and what stands beside an object's name may go. */
TEST_CASE(what_no_object_is_found_by_may_go)
{
	static const char *const possible[] = {"spec",
					       "metadata.managedFields",
					       "spec.containers[*].image",
					       "metadata.annotations[\"a.b/c\"]",
					       "metadata.labels[*]",
					       "spec.name",
					       "[*].data"};
	struct path path;

	for (size_t i = 0; i < sizeof(possible) / sizeof(possible[0]); i++)
		if (drop_path_compile(possible[i], &path) != 0)
			fail_msg("%s was refused", possible[i]);
}

/* The object, what it is found by, and single elements stay. */
TEST_CASE(what_an_object_is_found_by_stays)
{
	static const char *const impossible[] = {"",
						 ".",
						 "a[",
						 "a[0]",
						 "a[0].b",
						 "metadata",
						 "metadata.name",
						 "metadata.namespace",
						 "metadata.uid",
						 "metadata.resourceVersion",
						 "[*]",
						 "[*].name",
						 "metadata[*]"};
	struct path path;

	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++)
		if (drop_path_compile(impossible[i], &path) == 0)
			fail_msg("%s was accepted", impossible[i]);
}
