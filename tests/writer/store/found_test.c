/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found travels with a draft, and is believed only while it is so.
 */
#include "tests/room.h"
#include "tests/support/store_fixture.h"

/* What is said with the next put; what store_look() said of it then. */
static uint32_t said;
static uint32_t looked;
static bool looked_same;

static uint32_t
say(struct store_fixture *fx, uint32_t draft)
{
	looked = store_look(fx->store, fx->pods, draft, &looked_same);
	return said;
}

static uint32_t
say_what_is(struct store_fixture *fx, uint32_t draft)
{
	looked = store_look(fx->store, fx->pods, draft, &looked_same);
	return looked;
}

static int
tear_down(void **state)
{
	struct store_fixture *fx = *state;
	int r = store_commit(fx->store);

	if (r == 0)
		r = store_fixture_verify(fx);
	store_fixture_free(fx);
	return r;
}

/* Put a state of ns/name; returns its ref. */
static uint32_t
put(struct store_fixture *fx, const char *name, const char *uid, unsigned version)
{
	assert_int_equal(store_fixture_putf(fx,
					    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":"
					    "\"%s\",\"resourceVersion\":\"%u\"}}",
					    name, uid, version),
			 0);
	return store_fixture_find(fx, "ns", name);
}

/* The same with this word; it must come to this change all the same. */
static uint32_t
put_saying(struct store_fixture *fx, uint32_t word, const char *name, const char *uid, unsigned version,
	   enum store_change change)
{
	uint32_t ref;

	said = word;
	fx->find = say;
	ref = put(fx, name, uid, version);
	assert_int_equal(fx->change, change);
	fx->find = NULL;
	return ref;
}

static long
count(struct store_fixture *fx, const char *uid)
{
	assert_int_equal(store_commit(fx->store), 0);
	return store_fixture_count_by_index(fx, "uid", uid);
}

#define T(name) TEST_CASE_OF(struct store_fixture *fx, store_fixture_set_up, tear_down, name)

/* A look tells new drafts, newer states, other objects under the name, and what says nothing new. */
T(a_look_tells_what_a_draft_is)
{
	uint32_t first, second;

	fx->find = say_what_is;
	first = put(fx, "a", "u1", 1);
	assert_int_equal(looked, FOUND_NEW);
	assert_int_equal(fx->change, STORE_ADDED);
	second = put(fx, "a", "u1", 2);
	assert_int_equal(looked, first);
	assert_false(looked_same);
	assert_int_equal(fx->change, STORE_UPDATED);
	put(fx, "a", "u2", 3);
	assert_int_equal(looked, FOUND_NEW | second);
	assert_int_equal(fx->change, STORE_ADDED);
	assert_int_equal(count(fx, "u1"), 0);
	assert_int_equal(count(fx, "u2"), 1);
	fx->find = say;
	said = FOUND_UNASKED;
	put(fx, "a", "u2", 3);
	assert_true(looked_same);
	assert_int_equal(fx->change, STORE_NOTHING);
}

/* Without a UID two equal states are left to the change, which takes them for the same. */
T(what_has_no_uid_is_not_called_the_same)
{
	const char *json = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"resourceVersion\":\"1\"}}";

	fx->find = say_what_is;
	assert_int_equal(store_fixture_put(fx, json), 0);
	assert_int_equal(store_fixture_put(fx, json), 0);
	assert_false(looked_same);
	assert_int_equal(looked, FOUND_UNASKED);
	assert_int_equal(fx->change, STORE_NOTHING);
}

/* "It is new" was true; meanwhile another state came, an equal one, or another object. */
T(what_is_no_longer_new_is_an_update)
{
	put(fx, "a", "u1", 1);
	put_saying(fx, FOUND_NEW, "a", "u1", 2, STORE_UPDATED);
	put_saying(fx, FOUND_NEW, "a", "u1", 2, STORE_NOTHING);
	put_saying(fx, FOUND_NEW, "a", "u2", 3, STORE_ADDED);
	assert_int_equal(count(fx, "u1"), 0);
	assert_int_equal(count(fx, "u2"), 1);
	assert_int_equal(store_resource(fx->store, fx->pods)->object_count, 1);
	/* the ordinals that were taken in vain are taken again */
	put(fx, "b", "u3", 4);
	assert_in_range(store_resource(fx->store, fx->pods)->next_ordinal, 2, 3);
}

/* The state that was found was replaced, and the one that replaced it. */
T(a_state_that_was_replaced_is_not_updated_again)
{
	uint32_t first = put(fx, "a", "u1", 1), second = put(fx, "a", "u1", 2);

	put_saying(fx, first, "a", "u1", 3, STORE_UPDATED);
	put_saying(fx, FOUND_NEW | second, "a", "u1", 4, STORE_UPDATED);
	assert_int_equal(count(fx, "u1"), 1);
	assert_int_equal(store_commit(fx->store), 0);
	store_reclaim(fx->store); /* now it may be anything */
	put_saying(fx, first, "a", "u1", 5, STORE_UPDATED);
	assert_int_equal(count(fx, "u1"), 1);
}

/* What was found is gone: the draft is new. */
T(what_is_gone_is_added)
{
	uint32_t first = put(fx, "a", "u1", 1);

	assert_int_equal(store_fixture_delete(fx, "ns", "a"), 0);
	put_saying(fx, first, "a", "u1", 2, STORE_ADDED);
	assert_int_equal(store_fixture_delete(fx, "ns", "a"), 0);
	put_saying(fx, FOUND_NEW | first, "a", "u2", 3, STORE_ADDED);
	assert_int_equal(count(fx, "u1"), 0);
	assert_int_equal(count(fx, "u2"), 1);
}

/* What was found has another key, or is no object: nothing of it is touched. */
T(another_key_is_left_alone)
{
	uint32_t other = put(fx, "b", "u9", 1);

	put_saying(fx, other, "a", "u1", 2, STORE_ADDED);
	put_saying(fx, FOUND_NEW | other, "a", "u1", 3, STORE_UPDATED);
	put_saying(fx, REF_MAX, "a", "u1", 4, STORE_UPDATED);
	put_saying(fx, 1, "a", "u1", 5, STORE_UPDATED);
	assert_int_equal(store_fixture_find(fx, "ns", "b"), other);
	assert_int_equal(count(fx, "u9"), 1);
	assert_int_equal(count(fx, "u1"), 1);
}
