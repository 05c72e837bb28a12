/* SPDX-License-Identifier: Apache-2.0 */
/* Two values are the same exactly if they print the same, however they are stored. */
#include "tests/room.h"
#include "tests/support/body_fixture.h"
#include "tests/support/json_random.h"
#include "writer/decode/value_same.h"

/* Take the fixture's draft over. */
static uint32_t
keep(struct body_fixture *fx)
{
	uint32_t ref = fx->ref;

	fx->ref = 0;
	return ref;
}

static struct value
of(struct body_fixture *fx, uint32_t ref)
{
	return value_of_object(&fx->arena->view, ref);
}

static bool
are_same(struct body_fixture *fx, const char *a, const char *b)
{
	uint32_t first, second;
	bool same;

	body_fixture_value(fx, a);
	first = keep(fx);
	body_fixture_value(fx, b);
	second = keep(fx);
	same = value_same(of(fx, first), of(fx, second));
	assert_int_equal(same, value_same(of(fx, second), of(fx, first)));
	draft_discard(fx->arena, fx->intern, (struct draft){first});
	draft_discard(fx->arena, fx->intern, (struct draft){second});
	return same;
}

#define TEST(name) TEST_CASE_OF(struct body_fixture *fx, body_fixture_set_up, body_fixture_tear_down, name)

#define BEYOND_63 "a text of more than 63 bytes, which has another form in the arena than "

/* A value differs from another value of its kind, and of another kind, wherever it stands. */
TEST(different_values_are_not_the_same)
{
	static const char *const values[][12] = {
		{"null", "true", "false"},
		{"0", "1", "-1", "63", "64", "1000", "18446744073709551615", "0.5", "-0.0", "1e400", "1e401"},
		{"\"\"", "\"a\"", "\"1\"", "\"true\"", "\"" BEYOND_63 "it\"", "\"" BEYOND_63 "IT\""},
		{"[]", "[1]", "[1,2]", "[2,1]", "[[1]]"},
		{"{}", "{\"a\":1}", "{\"a\":2}", "{\"b\":1}", "{\"a\":1,\"b\":1}", "{\"a\":{\"a\":1}}"},
	};
	const char *const *all = values[0];
	char a[256], b[256];

	for (size_t i = 0; i < sizeof(values) / sizeof(*all); i++)
		for (size_t j = 0; j < sizeof(values) / sizeof(*all); j++) {
			if (!all[i] || !all[j])
				continue;
			snprintf(a, sizeof(a), "{\"x\":[{\"y\":%s}]}", all[i]);
			snprintf(b, sizeof(b), "{\"x\":[{\"y\":%s}]}", all[j]);
			assert_int_equal(are_same(fx, a, b), i == j);
		}
}

/* A document is the same as its copy, shared or inline. */
TEST(storage_does_not_matter)
{
	struct json_random r = {.seed = 5};
	uint32_t before = 0, first, second;
	unsigned stored_otherwise = 0;
	struct value a, b;

	for (unsigned i = 0; i < (test_is_long() ? 10000u : 1000u); i++) {
		char *text;
		bool equal;

		json_random_document(&r);
		assert_int_equal(body_fixture_decode(fx, (const char *)r.sent.data, r.sent.length, 0), 0);
		first = keep(fx);
		assert_int_equal(body_fixture_decode(fx, (const char *)r.sent.data, r.sent.length, 0), 0);
		second = keep(fx);
		a = of(fx, first);
		b = of(fx, second);
		assert_true(value_same(a, b));
		stored_otherwise += a.end - a.at != b.end - b.at;
		if (before) {
			text = strdup(body_fixture_print_ref(fx, before));
			equal = strcmp(text, body_fixture_print_ref(fx, first)) == 0;
			free(text);
			assert_int_equal(value_same(of(fx, before), of(fx, first)), equal);
			draft_discard(fx->arena, fx->intern, (struct draft){before});
		}
		draft_discard(fx->arena, fx->intern, (struct draft){second});
		before = first;
	}
	draft_discard(fx->arena, fx->intern, (struct draft){before});
	assert_true(stored_otherwise > 10);
	json_random_done(&r);
}

/* An absent value is not the same as anything, absent values included. */
TEST(absent_values_are_never_the_same)
{
	struct value v = body_fixture_value(fx, "{\"a\":1}");

	assert_true(value_same(v, v));
	assert_false(value_same(v, (struct value){0}));
	assert_false(value_same((struct value){0}, (struct value){0}));
}
