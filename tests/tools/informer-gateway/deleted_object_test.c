/* SPDX-License-Identifier: Apache-2.0 */
/* A deleted object is found by its name for a limited time. */
#include "tests/room.h"
#include "tests/support/reader_world.h"
#include "tests/support/store_fixture.h"
#include "tools/informer-gateway/arena/deleted_object.h"

#define SECOND UINT64_C(1000000000)

static void
delete_web(struct broker_fixture *fx, void *context)
{
	(void)context;
	assert_int_equal(store_fixture_delete(fx->store, "default", "web-0"), 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

static int
setup(void **state)
{
	static const char *const pods[] = {"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\"},"
					   "\"spec\":{\"nodeName\":\"n1\"}}",
					   "{\"metadata\":{\"name\":\"other\",\"namespace\":\"default\"}}",
					   NULL};

	*state = reader_world_of(pods, 0);
	return *state ? 0 : -1;
}

/* A deleted object's last state is found for a minute by our clock. An existing object is not deleted. */
TEST_CASE_IN(setup, reader_world_tear_down, the_last_state_is_found_for_a_minute)
{
	struct reader_world *w = *state;
	struct informer_object found;
	uint64_t when = 0;

	assert_int_equal(gw_deleted_object(&w->snap, w->pods, "default", "web-0", SECOND, 0, &found),
			 INFORMER_E_NOT_FOUND);
	broker_fixture_do(w->fx, delete_web, NULL);
	reader_world_renew(w);
	assert_int_equal(informer_find(&w->snap, w->pods, INFORMER_BY_KEY, "default/web-0", 13, &found, NULL),
			 0);
	assert_true(informer_object_deleted(&found, &when));
	assert_int_equal(
		gw_deleted_object(&w->snap, w->pods, "default", "web-0", SECOND, when + SECOND, &found), 0);
	assert_non_null(strstr(reader_world_json(w->text, &found), "\"nodeName\":\"n1\""));
	assert_int_equal(
		gw_deleted_object(&w->snap, w->pods, "default", "web-0", SECOND, when + SECOND + 1, &found),
		INFORMER_E_NOT_FOUND);
	assert_int_equal(gw_deleted_object(&w->snap, w->pods, "default", "other", SECOND, when, &found),
			 INFORMER_E_NOT_FOUND);
	assert_int_equal(gw_deleted_object(&w->snap, w->pods, "default", "never", SECOND, when, &found),
			 INFORMER_E_NOT_FOUND);
}
