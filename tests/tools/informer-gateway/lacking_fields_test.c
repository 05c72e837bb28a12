/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that cached objects lack and that a write-back would lose. */
#include "tests/room.h"
#include "tests/support/reader_world.h"
#include "tests/support/store_fixture.h"
#include "tools/informer-gateway/arena/arena_handles.h"
#include "tools/informer-gateway/arena/lacking_fields.h"

static char pods_name[] = "pods", core[] = "", apps[] = "apps";
static const struct api_resource pods = {.group = core, .version = "v1", .plural = pods_name};
static const struct api_resource others = {.group = apps, .version = "v1", .plural = pods_name};

static void
add_entry(struct broker_fixture *fx, void *drops)
{
	static uint8_t fingerprint[32];
	char descriptor[512];
	unsigned id;

	fingerprint[0]++;
	snprintf(descriptor, sizeof(descriptor),
		 "{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\",\"kind\":\"Pod\",\"singular\":"
		 "\"pod\",\"shortNames\":[\"po\"],\"namespaced\":true,\"namespace\":\"n%u\",%s,"
		 "\"indexes\":[{\"name\":\"namespace\",\"rules\":[{\"as\":\"namespace\"}]}]}",
		 fingerprint[0], (const char *)drops);
	assert_true(store_add_resource(fx->store->store, descriptor, fingerprint, &id) >= 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

static int
setup(void **state)
{
	static const char *const none[] = {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}", NULL};

	*state = reader_world_of(none, 0);
	return *state ? 0 : -1;
}

/* managedFields do not matter. Every other field that an entry of the resource drops is named. */
TEST_CASE_IN(setup, reader_world_tear_down, dropped_fields_are_named)
{
	struct reader_world *w = *state;
	struct gw_arena arena = {.reads = w->inf};
	_cleanup_(api_buf_done) struct api_buf fields = {0};

	broker_fixture_do(w->fx, add_entry, (char[]){"\"drops\":[\"metadata.managedFields\"]"});
	reader_world_renew(w);
	assert_false(gw_arena_lacks(&arena, &pods, &fields));
	broker_fixture_do(
		w->fx, add_entry,
		(char[]){"\"drops\":[\"metadata.managedFields\",\"spec.containers[*].env\",\"status\"]"});
	reader_world_renew(w);
	assert_true(gw_arena_lacks(&arena, &pods, &fields));
	assert_string_equal(fields.data, "spec.containers[*].env, status");
	api_buf_reset(&fields);
	assert_false(gw_arena_lacks(&arena, &others, &fields));
	broker_fixture_do(w->fx, add_entry, (char[]){"\"metadataOnly\":true"});
	reader_world_renew(w);
	api_buf_reset(&fields);
	assert_true(gw_arena_lacks(&arena, &pods, &fields));
	assert_string_equal(fields.data, "all but their metadata");
}
