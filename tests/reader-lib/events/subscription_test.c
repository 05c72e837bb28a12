/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a subscription tells the daemon about its handler. (feed_test.c and handler_test.c test the answers.)
 */
#include "tests/room.h"
#include "tests/support/recorder_world.h"

SET_UP(set_up, recorder_world_new("", false))

/* The daemon's name of the one subscribed handler. */
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

/* A handler's name reaches the daemon: a long one is cut; without one the reader's name is used. */
TEST(the_daemon_knows_a_handlers_name)
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
