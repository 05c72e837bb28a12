/* SPDX-License-Identifier: Apache-2.0 */
#include "shm-layout/time_ns.h"
#include "tests/tools/informer-gateway/arena_world.h"
#include "tools/informer-gateway/views/arena_store.h"
#include "tools/informer-gateway/views/gateway_arena.h"
#include "tools/schema/proto_schema.h"

SET_UP(set_up, arena_world_opened("a101 @103", false))

static void
heard_at(struct broker_fixture *fx, void *context)
{
	atomic_store(&fx->store->arena->header->contact_boot_ns[fx->store->pods], *(uint64_t *)context);
}

static struct gw_store *
open_pods(struct arena_world *w, const struct gw_source *source)
{
	struct gw_want want = {.resource = w->pods->resource};
	struct gw_store *store;

	assert_int_equal(source->open(source->ctx, &want, &store), 0);
	return store;
}

#define TEST(name) TEST_CASE_OF(struct arena_world *w, set_up, arena_world_tear_down, name)

static void
set_release(struct broker_fixture *fx, void *context)
{
	atomic_store(&fx->store->arena->header->server_release, *(uint32_t *)context);
}

/* Objects are printed as by the API server's release, once informerd knows it. */
TEST(objects_are_printed_as_by_the_servers_release)
{
	uint32_t known = 1035, hidden = 0;

	gw_arena_fit_release(w->arena);
	assert_int_equal(proto_schema_release(proto_schema_builtin()), 0);
	broker_fixture_do(w->fx, set_release, &known);
	gw_arena_fit_release(w->arena);
	assert_int_equal(proto_schema_release(proto_schema_builtin()), 1035);
	broker_fixture_do(w->fx, set_release, &hidden);
	gw_arena_fit_release(w->arena);
	assert_int_equal(proto_schema_release(proto_schema_builtin()), 1035);
	proto_schema_fit(proto_schema_builtin(), 0);
}

/* An outdated answer has a warning with its age. A current one has none. */
TEST(a_warning_tells_the_age)
{
	struct gw_source source = gw_arena_source(w->arena);
	struct gw_store *store = open_pods(w, &source);
	uint64_t at = time_ns(CLOCK_BOOTTIME);

	assert_non_null(strstr(store->warning(store), "not known"));
	assert_int_equal(gw_entry_age_ns(w->pods), UINT64_MAX);
	broker_fixture_do(w->fx, heard_at, &at);
	assert_null(store->warning(store));
	at = 1;
	broker_fixture_do(w->fx, heard_at, &at);
	assert_non_null(strstr(store->warning(store), "last heard of"));
	assert_in_range(gw_entry_age_ns(w->pods), 1000000000, UINT64_MAX - 1);
	store->close(store);
}

TEST(uncached_and_partly_cached_resources_are_not_served)
{
	struct gw_source source = gw_arena_source(w->arena);
	struct gw_store *store;

	for (unsigned i = 0; i < api_registry_count(source.registry); i++) {
		struct gw_want want = {.resource = source.registry->items[i]};

		if (source.registry->items[i] != w->pods->resource)
			assert_int_equal(source.open(source.ctx, &want, &store), -ENOENT);
	}
}

static void
count(void *ctx)
{
	++*(unsigned *)ctx;
}

/* A watching store is woken by the changes that its query selects. */
TEST(a_store_is_woken_by_its_selection)
{
	struct gw_source source = gw_arena_source(w->arena);
	struct gw_store *store = open_pods(w, &source);
	struct api_query query = {0};
	unsigned woken = 0;
	char *error;

	assert_int_equal(api_fields_parse(w->pods->resource, "metadata.name=b", &query.fields, &error), 0);
	store->watch(store, "default", &query, count, &woken);
	api_query_done(&query);
	arena_world_tell(w, "a104 @104");
	assert_int_equal(woken, 0);
	arena_world_tell(w, "b105 @105");
	assert_int_equal(woken, 1);
	store->close(store);
}
