/* SPDX-License-Identifier: Apache-2.0 */
/* The store's answers about a draft. */
#include "tests/room.h"
#include "tests/support/store_fixture.h"

/* Put a state of ns/a; returns its ref. */
static uint32_t
put(struct store_fixture *fx, const char *uid, unsigned version)
{
	assert_int_equal(store_fixture_putf(fx,
					    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"uid\":"
					    "\"%s\",\"resourceVersion\":\"%u\"}}",
					    uid, version),
			 0);
	return store_fixture_find(fx, "ns", "a");
}

static long
count(struct store_fixture *fx, const char *uid)
{
	assert_int_equal(store_commit(fx->store), 0);
	return store_fixture_count_by_index(fx, "uid", uid);
}

#define T(name) TEST_CASE_OF(struct store_fixture *fx, store_fixture_set_up, store_fixture_tear_down, name)

/* The store tells new objects, newer states, other objects of the name, and known states apart. */
T(the_store_classifies_a_draft)
{
	uint32_t first = put(fx, "u1", 1), second;

	assert_int_equal(fx->found, FOUND_NEW);
	second = put(fx, "u1", 2);
	assert_int_equal(fx->found, first);
	assert_int_equal(fx->change, FX_UPDATED);
	put(fx, "u2", 3);
	assert_int_equal(fx->found, FOUND_NEW | second);
	assert_int_equal(fx->change, FX_ADDED);
	assert_int_equal(count(fx, "u1"), 0);
	assert_int_equal(count(fx, "u2"), 1);
	put(fx, "u2", 3);
	assert_int_equal(fx->change, FX_NOTHING);
	/* a server restored from a backup gives resourceVersions again, with other content */
	assert_int_equal(
		store_fixture_put(fx, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"uid\":\"u2\","
				      "\"resourceVersion\":\"3\"},\"spec\":{\"nodeName\":\"n\"}}"),
		0);
	assert_int_equal(fx->change, FX_UPDATED);
	assert_int_equal(store_commit(fx->store), 0);
	store_fixture_assert_count(fx, 1, "nodeName", "n");
}

/* Without a UID the version decides whether a state is another. Without a version each state is. */
T(a_draft_without_identity_is_another_state)
{
	const char
		*nameless = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\"}}",
		*versioned = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"resourceVersion\":\"1\"}}";

	assert_int_equal(store_fixture_put(fx, nameless), 0);
	assert_int_equal(store_fixture_put(fx, nameless), 0);
	assert_int_equal(fx->change, FX_UPDATED);
	assert_int_equal(store_fixture_put(fx, versioned), 0);
	assert_int_equal(fx->change, FX_UPDATED);
	assert_int_equal(store_fixture_put(fx, versioned), 0);
	assert_int_equal(fx->change, FX_NOTHING);
}
