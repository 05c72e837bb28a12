/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths may be dropped. */
#include "tests/room.h"
#include "writer/base/drop_path.h"

/* Fields, all elements of an array, and metadata that finds no object may be dropped. */
TEST_CASE(fields_that_find_no_object_may_be_dropped)
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

/* The object itself, the fields that find it, and single elements may not be dropped. */
TEST_CASE(fields_that_find_an_object_stay)
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
