/* SPDX-License-Identifier: Apache-2.0 */
/* Hints: the part of a query's selectors that an index can answer. */
#include "tests/room.h"
#include "tests/tools/informer-gateway/served_objects.h"
#include "tools/informer-gateway/views/hint.h"

static void
hint_of(struct gw_hint *hint, const char *namespace_, const char *fields, const char *labels)
{
	struct api_query query = {0};
	char *error;

	assert_int_equal(api_fields_parse(served_pods(), fields, &query.fields, &error), 0);
	assert_int_equal(api_labels_parse(labels, &query.labels, &error), 0);
	gw_hint_init(hint, namespace_, &query);
	api_query_done(&query);
}

static void
same(const char *a, const char *b)
{
	if (!b)
		assert_null(a);
	else
		assert_string_equal(a, b);
}

static void
expect(const char *namespace_, const char *fields, const char *labels, struct gw_hint expected)
{
	struct gw_hint hint;

	hint_of(&hint, namespace_, fields, labels);
	same(hint.namespace_, expected.namespace_);
	same(hint.name, expected.name);
	same(hint.value, expected.value);
	same(hint.labels, expected.labels);
	same(hint.label, expected.label);
	if (hint.value)
		assert_int_equal(hint.field, expected.field);
	assert_true(gw_hint_equal(&expected, &hint));
	gw_hint_done(&hint);
	gw_hint_done(&hint);
}

/* A field that must have one value is a hint. A field that must not have it, or has several, is none. */
TEST_CASE(a_field_with_one_value_is_a_hint)
{
	expect(NULL, "", "", (struct gw_hint){0});
	expect("", "", "", (struct gw_hint){0});
	expect("a", "spec.nodeName=n1", "",
	       (struct gw_hint){.namespace_ = "a", .value = "n1", .field = POD_NODE});
	expect(NULL, "spec.nodeName!=n1", "", (struct gw_hint){0});
	expect(NULL, "spec.nodeName=", "", (struct gw_hint){.value = "", .field = POD_NODE});
	expect(NULL, "metadata.name=x", "", (struct gw_hint){.name = "x"});
	expect(NULL, "metadata.name=x,metadata.namespace=b", "",
	       (struct gw_hint){.namespace_ = "b", .name = "x"});
	expect("a", "metadata.namespace=b", "", (struct gw_hint){.namespace_ = "a"});
	expect(NULL, "status.phase!=Failed,spec.nodeName=n1", "",
	       (struct gw_hint){.value = "n1", .field = POD_NODE});
}

/* The labels of a hint are the client's text. The first label with a single value is the indexed one. */
TEST_CASE(labels_are_kept_as_text)
{
	expect(NULL, "", " app=web", (struct gw_hint){.labels = " app=web", .label = "app=web"});
	expect(NULL, "", "a!=b,c in (d,e),h,!i,j>5", (struct gw_hint){.labels = "a!=b,c in (d,e),h,!i,j>5"});
	expect(NULL, "", "c in (d,e),f in (g),h==i",
	       (struct gw_hint){.labels = "c in (d,e),f in (g),h==i", .label = "f=g"});
}

TEST_CASE(hints_are_compared_in_all_parts)
{
	static const struct gw_hint hints[] = {{0},
					       {.namespace_ = "a"},
					       {.name = "a"},
					       {.value = "a"},
					       {.value = "a", .field = 1},
					       {.labels = "a"},
					       {.labels = "b"}};

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		for (size_t k = 0; k < sizeof(hints) / sizeof(*hints); k++)
			assert_int_equal(gw_hint_equal(&hints[i], &hints[k]), i == k);
}
