/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource that goes on with its content under another definition: its objects stand in the new indexes
 * under the values that those say, whatever changes before, amid and after it, and as often as it happens.
 */
#include "tests/room.h"
#include "tests/support/store_fixture.h"

enum { PODS = 20 };

static const uint8_t other_fingerprint[32] = "other pods of the test fixture";

/* As pods_descriptor, with fewer indexes in another order, and a new one that shares their ways. */
static const char other_descriptor[] =
	"{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\",\"kind\":\"Pod\",\"singular\":\"pod\","
	"\"shortNames\":[\"po\"],\"namespaced\":true,\"indexes\":["
	"{\"name\":\"version\",\"rules\":[{\"path\":\"metadata.resourceVersion\",\"as\":\"string\"}]},"
	"{\"name\":\"nodeName\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"}]},"
	"{\"name\":\"uid\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]}"
	"]}";

static void
put(struct store_fixture *fx, unsigned i, unsigned version)
{
	assert_int_equal(
		store_fixture_putf(fx,
				   "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"d\",\"uid\":\"u%u\","
				   "\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"web\"}},"
				   "\"spec\":{\"nodeName\":\"n%u\"}}",
				   i, i, version, (i + version) % 2),
		0);
}

static void
sync(struct store_fixture *fx, unsigned i)
{
	char name[16];

	snprintf(name, sizeof(name), "p%u", i);
	assert_int_equal(
		store_sync(fx->store, fx->pods, store_fixture_find(fx, "d", name), (struct draft){0}), 0);
}

/* The published root has so many of PODS pods, all of them in these two indexes. */
static void
assert_shown(struct store_fixture *fx, unsigned version)
{
	store_fixture_commit(fx);
	for (unsigned i = 0; i < PODS; i++)
		store_fixture_assert_count(fx, 1, "uid", "u%u", i);
	store_fixture_assert_count(fx, PODS / 2, "nodeName", "n%u", version % 2);
}

static void
put_all(struct store_fixture *fx, unsigned version)
{
	for (unsigned i = 0; i < PODS; i++)
		put(fx, i, version);
	assert_shown(fx, version);
}

static void
become(struct store_fixture *fx, const char *descriptor, const uint8_t fingerprint[32])
{
	assert_int_equal(store_redefine(fx->store, fx->pods, descriptor, fingerprint), 0);
	for (unsigned i = 0; i < PODS; i++)
		sync(fx, i);
	assert_int_equal(store_redefined(fx->store, fx->pods), 0);
}
#define TEST(name) TEST_CASE_OF(struct store_fixture *fx, store_fixture_set_up, store_fixture_tear_down, name)

TEST(objects_stand_where_the_new_definition_says)
{
	for (unsigned round = 0; round < 3; round++) {
		put_all(fx, 10 * round + 1);
		store_fixture_assert_count(fx, PODS, "labels", "app=web");
		store_fixture_assert_count(fx, -1, "version", "1");
		become(fx, other_descriptor, other_fingerprint);
		assert_shown(fx, 1);
		store_fixture_assert_count(fx, -1, "labels", "app=web");
		put_all(fx, 10 * round + 2);
		assert_int_equal(store_fixture_count_by_index(fx, "version", round ? "12" : "2"),
				 round < 2 ? PODS : 0);
		become(fx, pods_descriptor, pods_fingerprint);
	}
}

/* What changes while the new indexes are filled stands in all of them, old and new. */
TEST(changes_amid_it_stand_in_both)
{
	put_all(fx, 1);
	assert_int_equal(store_redefine(fx->store, fx->pods, other_descriptor, other_fingerprint), 0);
	for (unsigned i = 0; i < PODS; i++) {
		sync(fx, i);
		put(fx, i, 2);
	}
	assert_shown(fx, 2);
	store_fixture_assert_count(fx, PODS, "labels", "app=web");
	assert_int_equal(store_redefined(fx->store, fx->pods), 0);
	assert_shown(fx, 2);
	store_fixture_assert_count(fx, 0, "version", "1");
	store_fixture_assert_count(fx, PODS, "version", "2");
}

static int
keep(void *context, const char *type, size_t type_length, struct draft d)
{
	(void)type;
	(void)type_length;
	*(struct draft *)context = d;
	return 0;
}

/* An object that becomes another one by its sync stands in the new indexes with all values, old ones too. */
TEST(a_sync_that_changes_the_object_files_it)
{
	static const struct decoder_events events = {.on_object = keep};
	static const char text[] =
		"{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"p0\",\"namespace\":\"d\",\"uid\":"
		"\"u0\",\"resourceVersion\":\"1\"},\"spec\":{\"nodeName\":\"n1\"}}]}";
	struct draft draft = {0};
	struct decoder *d = decoder_new(DECODE_LIST, fx->arena, store_intern(fx->store), fx->schema, &events,
					&draft, 0);

	put_all(fx, 1);
	assert_int_equal(decoder_feed(d, text, sizeof(text) - 1), 0);
	decoder_free(d);
	assert_int_not_equal(draft.ref, 0);
	assert_int_equal(store_redefine(fx->store, fx->pods, other_descriptor, other_fingerprint), 0);
	assert_int_equal(store_sync(fx->store, fx->pods, store_fixture_find(fx, "d", "p0"), draft), 0);
	assert_shown(fx, 1);
	store_fixture_assert_count(fx, PODS - 1, "labels", "app=web");
	for (unsigned i = 1; i < PODS; i++)
		sync(fx, i);
	assert_int_equal(store_redefined(fx->store, fx->pods), 0);
	assert_shown(fx, 1);
	store_fixture_assert_count(fx, PODS, "version", "1");
}

/* One that is given up on its way leaves nothing, and what changes then is filed as before. */
TEST(one_that_is_given_up_leaves_nothing)
{
	put_all(fx, 1);
	assert_int_equal(store_redefine(fx->store, fx->pods, other_descriptor, other_fingerprint), 0);
	for (unsigned i = 0; i < PODS / 2; i++)
		sync(fx, i);
	store_redefine_stop(fx->store, fx->pods);
	put_all(fx, 2);
	store_fixture_assert_count(fx, PODS, "labels", "app=web");
	store_fixture_assert_count(fx, -1, "version", "2");
}
