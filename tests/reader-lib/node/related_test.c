/* SPDX-License-Identifier: Apache-2.0 */
/* From an object to its Namespace, and from a Pod to its Node. */
#include "reader-lib/informer-node.h"
#include "tests/room.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/reader_world.h"

static const struct kind_fixture kinds[] = {
	{.group = "",
	 .resource = "namespaces",
	 .kind = "Namespace",
	 .cluster_scoped = true,
	 .objects = {"{\"metadata\":{\"name\":\"shop\",\"labels\":{\"team\":\"red\"}}}"}},
	{.group = "example.org",
	 .resource = "nodes",
	 .kind = "Node",
	 .cluster_scoped = true,
	 .objects = {"{\"metadata\":{\"name\":\"n1\",\"labels\":{\"team\":\"not this\"}}}"}},
	{.group = "",
	 .resource = "nodes",
	 .kind = "Node",
	 .cluster_scoped = true,
	 .objects = {"{\"metadata\":{\"name\":\"n1\",\"labels\":{\"team\":\"blue\"}}}"}},
	{.group = "",
	 .resource = "pods",
	 .kind = "Pod",
	 .objects = {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\"},\"spec\":{\"nodeName\":\"n1\"}}",
		     "{\"metadata\":{\"name\":\"b\",\"namespace\":\"gone\"},\"spec\":{\"nodeName\":\"n2\"}}",
		     "{\"metadata\":{\"name\":\"c\",\"namespace\":\"shop\"},\"spec\":{}}"}},
};

/* All kinds; pods alone. */
SET_UP(set_up, kind_fixture_world(kinds, 4))
SET_UP(set_up_alone, kind_fixture_world(&kinds[3], 1))

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* The "team" of what was found, or the error's name. */
static const char *
team(int r, const struct informer_object *found)
{
	static char text[64];
	const char *data;
	size_t length;

	if (r < 0)
		return informer_error_name(r);
	assert_int_equal(informer_object_label(found, "team", &data, &length), 0);
	snprintf(text, sizeof(text), "%.*s", (int)length, data);
	return text;
}

static void
expect(struct reader_world *w, const char *ns, const char *name, const char *of_namespace,
       const char *of_node)
{
	struct informer_object pod, found;

	assert_int_equal(informer_get_z(&w->snap, w->pods, ns, name, &pod), 0);
	assert_string_equal(team(informer_namespace_of(&pod, &found), &found), of_namespace);
	assert_string_equal(team(informer_node_of(&pod, &found), &found), of_node);
}

/* Another group's kind of the same name is not meant. */
TEST(a_pod_leads_to_its_namespace_and_node)
{
	expect(w, "shop", "a", "red", "blue");
}

TEST(what_is_not_cached_is_not_found)
{
	expect(w, "gone", "b", "INFORMER_E_NOT_FOUND", "INFORMER_E_NOT_FOUND");
}

TEST(a_pod_without_a_node_has_none)
{
	expect(w, "shop", "c", "red", "INFORMER_E_NOT_FOUND");
}

TEST(a_cluster_scoped_object_has_no_namespace)
{
	struct informer_object pod, node, found;

	assert_int_equal(informer_get_z(&w->snap, w->pods, "shop", "a", &pod), 0);
	assert_int_equal(informer_node_of(&pod, &node), 0);
	assert_int_equal(informer_namespace_of(&node, &found), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_namespace_of(&node, NULL), -EINVAL);
	assert_int_equal(informer_node_of(NULL, &found), -EINVAL);
}

TEST_CASE_OF(struct reader_world *w, set_up_alone, reader_world_tear_down, a_kind_that_is_not_cached_is_said)
{
	expect(w, "shop", "a", "INFORMER_E_NO_RESOURCE", "INFORMER_E_NO_RESOURCE");
}
