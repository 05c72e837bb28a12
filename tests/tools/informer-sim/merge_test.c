/* SPDX-License-Identifier: Apache-2.0 */
/* informer-sim's patches: strategic merge patch, JSON merge patch and JSON patch. */
#include "tests/room.h"
#include "tools/informer-sim/merge.h"

enum how { STRATEGIC, JSON_PATCH, MERGE };

/* Patch one text by another. Returns the result, or "! " and the error; free it. */
static char *
patched(enum how how, const char *text, const char *patch_text)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_doc_done) struct api_doc patch = {0};
	_cleanup_(api_freep) char *error = NULL;
	struct api_doc_error why;
	struct api_buf out = {0};
	const struct api_node *made = NULL;
	int r = 0;

	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &why), 0);
	assert_int_equal(api_doc_parse(&patch, patch_text, strlen(patch_text), NULL, &why), 0);
	if (how == MERGE)
		made = sim_merge(&doc, doc.root, patch.root);
	else if (how == STRATEGIC)
		r = sim_merge_strategic(&doc, doc.root, patch.root, &error);
	else
		r = sim_patch_json(&doc, patch.root, &error);
	if (r < 0)
		api_buf_printf(&out, "! %s", error);
	else
		api_print(made ? made : doc.root, &out, NULL, NULL);
	return api_buf_take(&out);
}

static void
expect(enum how how, const char *text, const char *patch, const char *expected)
{
	_cleanup_(api_freep) char *got = patched(how, text, patch);

	assert_string_equal(got, expected);
}

/* A list with a merge key is merged by it: known elements change, new ones are added, the rest stays. */
TEST_CASE(lists_are_merged_by_their_key)
{
	expect(STRATEGIC,
	       "{\"containers\":[{\"name\":\"a\",\"image\":\"1\",\"env\":[{\"name\":\"X\",\"value\":\"1\"}]},"
	       "{\"name\":\"b\"}]}",
	       "{\"containers\":[{\"name\":\"a\",\"image\":\"2\",\"env\":[{\"name\":\"Y\",\"value\":\"2\"}]},"
	       "{\"name\":\"c\"}]}",
	       "{\"containers\":[{\"name\":\"a\",\"image\":\"2\",\"env\":[{\"name\":\"Y\",\"value\":\"2\"},{"
	       "\"name\":\"X\",\"value\":\"1\"}]},{\"name\":\"c\"},{\"name\":\"b\"}]}");
	expect(STRATEGIC, "{\"ports\":[{\"port\":80,\"a\":1}]}", "{\"ports\":[{\"port\":80,\"a\":2}]}",
	       "{\"ports\":[{\"port\":80,\"a\":2}]}");
	expect(STRATEGIC, "{\"ports\":[{\"containerPort\":80}]}", "{\"ports\":[{\"containerPort\":81}]}",
	       "{\"ports\":[{\"containerPort\":81},{\"containerPort\":80}]}");
	/* elements before a named one stay before it */
	expect(STRATEGIC, "{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	       "{\"containers\":[{\"name\":\"b\",\"image\":\"2\"},{\"name\":\"c\"}]}",
	       "{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\",\"image\":\"2\"},{\"name\":\"c\"}]}");
}

/* A list without a merge key is replaced. A set of strings is united. */
TEST_CASE(other_lists_are_replaced)
{
	expect(STRATEGIC, "{\"args\":[\"a\",\"b\"],\"tolerations\":[{\"key\":\"x\"}]}",
	       "{\"args\":[\"c\"],\"tolerations\":[{\"key\":\"y\"}]}",
	       "{\"args\":[\"c\"],\"tolerations\":[{\"key\":\"y\"}]}");
	expect(STRATEGIC, "{\"finalizers\":[\"a\"]}", "{\"finalizers\":[\"a\",\"b\"]}",
	       "{\"finalizers\":[\"a\",\"b\"]}");
}

/* null removes a member, also in an object that the patch adds. */
TEST_CASE(null_removes)
{
	expect(STRATEGIC, "{\"a\":1,\"labels\":{\"x\":\"1\",\"y\":\"2\"}}",
	       "{\"a\":null,\"labels\":{\"x\":null},\"new\":{\"z\":null,\"b\":1}}",
	       "{\"labels\":{\"y\":\"2\"},\"new\":{\"b\":1}}");
}

/* The directives: delete and replace an element, list or map, retain keys, order, delete from a set. */
TEST_CASE(directives_are_followed)
{
	expect(STRATEGIC, "{\"volumes\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	       "{\"volumes\":[{\"$patch\":\"delete\",\"name\":\"a\"}]}", "{\"volumes\":[{\"name\":\"b\"}]}");
	expect(STRATEGIC, "{\"volumes\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	       "{\"volumes\":[{\"$patch\":\"replace\"},{\"name\":\"c\"}]}",
	       "{\"volumes\":[{\"name\":\"c\"}]}");
	expect(STRATEGIC, "{\"m\":{\"a\":1,\"b\":2}}", "{\"m\":{\"$patch\":\"replace\",\"c\":3}}",
	       "{\"m\":{\"c\":3}}");
	expect(STRATEGIC, "{\"m\":{\"a\":1},\"n\":1}", "{\"m\":{\"$patch\":\"delete\"}}", "{\"n\":1}");
	expect(STRATEGIC, "{\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{}}}",
	       "{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}}",
	       "{\"strategy\":{\"type\":\"Recreate\"}}");
	expect(STRATEGIC, "{\"env\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
	       "{\"$setElementOrder/env\":[{\"name\":\"c\"},{\"name\":\"b\"}],\"env\":[{\"name\":\"c\"}]}",
	       "{\"env\":[{\"name\":\"c\"},{\"name\":\"b\"},{\"name\":\"a\"}]}");
	expect(STRATEGIC, "{\"finalizers\":[\"a\",\"b\"]}",
	       "{\"$deleteFromPrimitiveList/finalizers\":[\"a\"]}", "{\"finalizers\":[\"b\"]}");
}

TEST_CASE(bad_strategic_patches_are_refused)
{
	expect(STRATEGIC, "{}", "{\"m\":{\"$patch\":\"explode\"}}", "! Unknown patch type found: explode");
	expect(STRATEGIC, "{}", "{\"containers\":[{\"image\":\"x\"}]}",
	       "! map does not contain declared merge key: name");
	expect(STRATEGIC, "{}", "{\"$setElementOrder/env\":3}", "! a directive wants a list: ");
}

/* Every operation of JSON patch works, with escaped pointers and the end of a list. */
TEST_CASE(json_patch_does_its_operations)
{
	expect(JSON_PATCH, "{\"a\":{\"b/c\":1},\"l\":[1,3]}",
	       "[{\"op\":\"test\",\"path\":\"/a/b~1c\",\"value\":1},{\"op\":\"add\",\"path\":\"/l/"
	       "1\",\"value\":2},"
	       "{\"op\":\"add\",\"path\":\"/l/-\",\"value\":4},{\"op\":\"replace\",\"path\":\"/l/"
	       "0\",\"value\":0},"
	       "{\"op\":\"copy\",\"from\":\"/l/1\",\"path\":\"/two\"},{\"op\":\"move\",\"from\":\"/"
	       "a\",\"path\":\"/z\"},{\"op\":\"remove\",\"path\":\"/l/2\"}]",
	       "{\"l\":[0,2,4],\"two\":2,\"z\":{\"b/c\":1}}");
}

/* The message for an impossible operation names it. */
TEST_CASE(bad_json_patches_are_refused)
{
	static const struct {
		const char *patch, *why;
	} cases[] = {
		{"{}", "it is no list of operations: "},
		{"[{\"op\":\"remove\",\"path\":\"/x\"}]", "there is nothing at this path: /x"},
		{"[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", "testing value failed at this path: /a"},
		{"[{\"op\":\"add\",\"path\":\"/l/9\",\"value\":2}]", "a bad operation at this path: /l/9"},
		{"[{\"op\":\"add\",\"path\":\"/x/y/z\",\"value\":2}]",
		 "there is nothing at this path: /x/y/z"},
		{"[{\"op\":\"add\",\"path\":\"a\"}]", "a bad operation at this path: a"},
		{"[{\"op\":\"eat\",\"path\":\"/a\"}]", "an unknown operation at this path: /a"},
		{"[{\"op\":\"move\",\"from\":\"/q\",\"path\":\"/a\"}]", "there is nothing at this path: /a"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(api_freep) char *got = patched(JSON_PATCH, "{\"a\":1,\"l\":[1]}", cases[i].patch);

		if (!strstr(got, cases[i].why))
			fail_msg("%s is answered by: %s", cases[i].patch, got);
	}
}

TEST_CASE(merge_patch_follows_rfc_7386_appendix_a)
{
	static const char *const cases[][3] = {
		{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
		{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
		{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
		{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
		{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
		{"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
		{"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
		{"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
		{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(MERGE, cases[i][0], cases[i][1], cases[i][2]);
}
