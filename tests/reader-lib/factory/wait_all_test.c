/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a mix of resources, handlers, informers and factories; the message names those that are
 * missing.
 */
#include "tests/room.h"
#include "tests/support/lister_fixture.h"
#include "tests/support/recorder.h"

/* Pods are synced, with one pod; nodes and deployments are not. */
struct world {
	struct lister_fixture *fx;
	struct recorder *r;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->fx = lister_fixture_new(NULL);
	recorder_change(w->fx->writer, "a1");
	w->r = recorder_new(w->fx->inf);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	lister_fixture_free(w->fx);
	recorder_free(w->r);
	free(w);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* At the deadline the message names each missing part; parts that are synced are marked. */
TEST(missing_parts_are_named)
{
	struct informer_sync syncs[5] = {{.resource = "pods"}, {.resource = "deployments.apps"}};

	w->r->options.name = "hook";
	recorder_add(w->r); /* no thread dispatches */
	syncs[2].handler = w->r->handler;
	syncs[3].shared = lister_fixture_shared(w->fx, "nodes");
	syncs[4].factory = w->fx->factory;
	assert_int_equal(informer_wait_all_synced(w->fx->inf, syncs, 5, 20), -ETIMEDOUT);
	assert_error_text(-ETIMEDOUT,
			  "after 20 ms still: not synced: deployments.apps, handler hook of pods, "
			  "not started: nodes");
	assert_true(syncs[0].synced);
	assert_false(syncs[1].synced || syncs[2].synced || syncs[3].synced);
	assert_true(syncs[4].synced); /* none of its informers was started */
	assert_int_equal(informer_factory_start(w->fx->factory), 0);
	assert_int_equal(informer_wait_all_synced(w->fx->inf, syncs + 3, 2, 0), -ETIMEDOUT);
	assert_error_text(-ETIMEDOUT, "not synced: nodes, nodes");
	assert_false(syncs[3].synced || syncs[4].synced);
}

/* The wait ends when the last part is synced; waiting for nothing ends at once. */
TEST(the_wait_ends_with_the_last)
{
	struct informer_sync syncs[4] = {{.resource = "deployments"}};

	assert_int_equal(informer_wait_all_synced(w->fx->inf, NULL, 0, 0), 0);
	recorder_add(w->r);
	syncs[1].handler = w->r->handler;
	syncs[2].shared = lister_fixture_shared(w->fx, "nodes");
	syncs[3].factory = w->fx->factory;
	assert_int_equal(informer_factory_start(w->fx->factory), 0);
	assert_int_equal(informer_run(w->fx->inf), 0);
	assert_int_equal(informer_wait_all_synced(w->fx->inf, syncs, 4, 20), -ETIMEDOUT);
	lister_fixture_put(w->fx, w->fx->nodes, "{\"metadata\":{\"name\":\"n\"}}");
	assert_int_equal(informer_wait_all_synced(w->fx->inf, syncs, 4, 60000), 0);
	for (size_t i = 0; i < 4; i++)
		assert_true(syncs[i].synced);
	recorder_await(w->r, "+a1* SYNCED");
}

/* An entry that does not name exactly one part of this handle is refused at once. */
TEST(an_entry_must_name_one_part_of_the_handle)
{
	struct informer *other = broker_fixture_attach(w->fx->writer, 0);
	struct informer_sync syncs[2] = {{.resource = "deployments"}, {.synced = true}};

	assert_int_equal(informer_wait_all_synced(w->fx->inf, syncs, 2, -1), -EINVAL);
	assert_error_text(-EINVAL, "number 1 of what to wait for");
	syncs[1] = (struct informer_sync){.resource = "pods", .factory = w->fx->factory};
	assert_int_equal(informer_wait_all_synced(w->fx->inf, syncs, 2, -1), -EINVAL);
	syncs[1] = (struct informer_sync){.factory = w->fx->factory};
	assert_int_equal(informer_wait_all_synced(other, syncs, 2, -1), -EINVAL);
	syncs[1] = (struct informer_sync){.shared = lister_fixture_shared(w->fx, "pods")};
	assert_int_equal(informer_wait_all_synced(other, syncs, 2, -1), -EINVAL);
	recorder_add(w->r);
	syncs[1] = (struct informer_sync){.handler = w->r->handler};
	assert_int_equal(informer_wait_all_synced(other, syncs, 2, -1), -EINVAL);
	assert_int_equal(informer_wait_all_synced(NULL, syncs, 2, -1), -EINVAL);
	assert_int_equal(informer_wait_all_synced(other, NULL, 2, -1), -EINVAL);
	informer_detach(other);
}
