/* SPDX-License-Identifier: Apache-2.0 */
/* Resources cached on demand: which calls of a reader ask for them. */
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"

static int
set_up(void **state)
{
	struct broker_fixture *fx = broker_fixture_new();

	broker_fixture_on_demand(fx);
	broker_fixture_start(fx);
	*state = fx;
	return 0;
}

static struct informer *
attached(struct broker_fixture *fx)
{
	struct informer *inf = broker_fixture_attach(fx, 0);

	assert_int_equal(informer_wait_attached(inf, 60000), 0);
	return inf;
}

/* Wait for the next request to the daemon; it must be exactly this. */
static void
expect_wanted(struct broker_fixture *fx, const char *expected)
{
	char text[WANTED_MAX];

	AWAIT(broker_fixture_wanted(fx, text)[0]);
	assert_string_equal(text, expected);
}

static void
look_up(struct informer *inf, const char *resource)
{
	struct informer_resource *res;
	struct informer_snapshot snap;
	struct informer_object object;

	assert_int_equal(informer_resource_open(inf, resource, &res), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	assert_int_equal(informer_get(&snap, res, "n", 1, "x", 1, &object), INFORMER_E_NOT_FOUND);
	informer_end(&snap);
}

#define TEST(name) TEST_CASE_OF(struct broker_fixture *fx, set_up, broker_fixture_tear_down, name)

/* A lookup by any name asks once for its resource; a lookup of another resource does not. */
TEST(a_lookup_requests_its_resource)
{
	struct informer *inf = attached(fx);
	char text[WANTED_MAX];

	look_up(inf, "pods");
	look_up(inf, "wi");
	expect_wanted(fx, "widgets.example.com ");
	look_up(inf, "wi");
	assert_int_equal(informer_dispatch(inf) >= 0, 1);
	/* the answer proves that the daemon has seen all earlier requests */
	assert_int_equal(informer_wait_synced(inf, "wi", 1), -ETIMEDOUT);
	broker_fixture_commit(fx);
	assert_string_equal(broker_fixture_wanted(fx, text), "");
	informer_detach(inf);
}

struct waiting {
	struct informer *inf;
	int result;
};

static void *
wait_for_widgets(void *context)
{
	struct waiting *w = context;

	w->result = informer_wait_synced(w->inf, "widgets", 60000);
	return NULL;
}

/* A wait requests its resource at once and ends when the list is complete. */
TEST(a_wait_requests_its_resource_and_ends_when_it_is_synced)
{
	struct waiting w = {attached(fx), 1};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_widgets, &w), 0);
	expect_wanted(fx, "widgets.example.com ");
	broker_fixture_version(fx, fx->widgets, "5");
	pthread_join(thread, NULL);
	assert_int_equal(w.result, 0);
	informer_detach(w.inf);
}

/* A wait for all resources skips unrequested ones. */
TEST(a_wait_for_all_skips_unrequested_resources)
{
	struct informer *inf = attached(fx);
	char text[WANTED_MAX];

	broker_fixture_pod(fx, "a");
	assert_int_equal(informer_wait_synced(inf, NULL, 60000), 0);
	assert_string_equal(broker_fixture_wanted(fx, text), "");
	informer_detach(inf);
}

TEST(the_resource_info_says_on_demand)
{
	struct informer *inf = attached(fx);
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_snapshot snap;

	assert_int_equal(informer_begin(inf, &snap), 0);
	assert_int_equal(informer_resource_info_at(&snap, 0, &info), 0);
	assert_false(info.on_demand);
	assert_int_equal(informer_resource_info_at(&snap, 1, &info), 0);
	assert_true(info.on_demand);
	assert_false(info.metadata_only);
	informer_end(&snap);
	informer_detach(inf);
}

/* ---- versions ---------------------------------------------------------------------------- */

/* Versions are compared as numbers, within one resource: 9 is before 10. */
TEST(a_version_is_waited_for_as_a_number)
{
	struct informer *inf = attached(fx);

	assert_int_equal(informer_wait_version(inf, "pods", "1", 1), -ETIMEDOUT);
	broker_fixture_version(fx, fx->store->pods, "9");
	broker_fixture_version(fx, fx->widgets, "100000");
	assert_int_equal(informer_wait_version(inf, "pods", "9", 60000), 0);
	assert_int_equal(informer_wait_version(inf, "pods", "10", 1), -ETIMEDOUT);
	assert_int_equal(informer_wait_version(inf, "widgets", "10", 0), 0);
	broker_fixture_version(fx, fx->store->pods, "99999999999999999999999999");
	assert_int_equal(informer_wait_version(inf, "pods", "10000000000000000000000000", 60000), 0);
	informer_detach(inf);
}

/* A version that the API would not compare is refused; no object ever has "0" or "007". */
TEST(a_version_that_cannot_be_compared_is_refused)
{
	static const char *const versions[] = {"", "abc", "1x", "-1", " 1", "1.0", "0", "007", "00"};
	struct informer *inf = attached(fx);

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		assert_int_equal(informer_wait_version(inf, "pods", versions[i], 0), -EINVAL);
	informer_detach(inf);
}
