/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions: what is said to the daemon of the handler that asks. (What comes of the answers: feed_test.c
 * and handler_test.c.)
 */
#include "tests/room.h"
#include "tests/support/recorder_world.h"

SET_UP(set_up, recorder_world_new("", false))

/* What the daemon calls the one handler that listens. */
struct called {
	char name[100];
};

static void
note_name(struct broker_fixture *fx, void *context)
{
	struct called *called = context;
	cJSON *readers = broker_readers_json(fx->broker);
	const cJSON *queues = cJSON_GetObjectItem(cJSON_GetArrayItem(readers, 0), "queues");
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(queues, 0), "name"));

	snprintf(called->name, sizeof(called->name), "%s", name ? name : "");
	cJSON_Delete(readers);
}

static void
assert_called(struct recorder_world *w, const char *name)
{
	struct called called;

	broker_fixture_do(w->fx, note_name, &called);
	assert_string_equal(called.name, name);
}

#define TEST(name) TEST_CASE_OF(struct recorder_world *w, set_up, recorder_world_tear_down, name)

/* A handler's name reaches the daemon: what is too long is cut; none is its reader's. */
TEST(a_handler_is_called_by_its_name)
{
	char name[200];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	recorder_change(w->fx, "a1");
	w->r->options.name = name;
	PLAY(w, "", "+a1* SYNCED");
	name[91] = '\0';
	assert_called(w, name);
	informer_remove_handler(w->r->handler);
	recorder_expect(w->r, "DONE");
	recorder_add(w->other);
	recorder_expect(w->other, "+a1* SYNCED");
	assert_called(w, "test");
}
