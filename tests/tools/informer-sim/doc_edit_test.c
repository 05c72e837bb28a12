/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of documents, and their equality. */
#include "tests/room.h"
#include "tools/informer-sim/doc_edit.h"

/* Documents with members in another order are equal. Documents with another value are not. */
TEST_CASE(equality_ignores_the_order_of_members)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} cases[] = {
		{"{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true},
		{"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
		{"{\"a\":1}", "{\"b\":1}", false},
		{"[1,2]", "[2,1]", false},
		{"{\"a\":\"1\"}", "{\"a\":1}", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(api_doc_done) struct api_doc a = {0};
		_cleanup_(api_doc_done) struct api_doc b = {0};
		struct api_doc_error error;

		api_doc_parse(&a, cases[i].a, strlen(cases[i].a), NULL, &error);
		api_doc_parse(&b, cases[i].b, strlen(cases[i].b), NULL, &error);
		assert_int_equal(sim_equal(a.root, b.root), cases[i].equal);
	}
}

/* Members are set in place or at the end, removed from anywhere, and escaped. */
TEST_CASE(members_are_set_and_removed)
{
	static const char text[] = "{\"k\\u0065y\":1,\"b\":2}";
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_buf_done) struct api_buf out = {0};
	struct api_doc_error error;

	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &error), 0);
	sim_set_string(&doc, doc.root, "key", "\"\\\x01\n");
	sim_set_after(&doc, doc.root, "key", "a", sim_new_token(&doc, API_TRUE, "true"));
	sim_set_string(&doc, doc.root, "c", "x");
	api_print(doc.root, &out, NULL, NULL);
	assert_string_equal(out.data,
			    "{\"k\\u0065y\":\"\\\"\\\\\\u0001\\n\",\"a\":true,\"b\":2,\"c\":\"x\"}");
	assert_true(sim_remove(doc.root, "c"));
	assert_true(sim_remove(doc.root, "key"));
	assert_false(sim_remove(doc.root, "key"));
	sim_set_string(&doc, doc.root, "d", "");
	api_buf_reset(&out);
	api_print(doc.root, &out, NULL, NULL);
	assert_string_equal(out.data, "{\"a\":true,\"b\":2,\"d\":\"\"}");
}
