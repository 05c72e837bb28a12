/* SPDX-License-Identifier: Apache-2.0 */
/* What informerd caches, as entries and as a registry. */
#include "tests/tools/informer-gateway/arena_world.h"

SET_UP(set_up, arena_world_new("a101 @103", false))
SET_UP(set_up_generations, arena_world_new("a101 @103", true))

static void
add(struct broker_fixture *fx, void *context)
{
	const uint8_t fingerprint[32] = {(uint8_t)strlen(context), 1};
	unsigned id;

	assert_int_equal(store_add_resource(fx->store->store, context, fingerprint, &id), 0);
	store_set_state(fx->store->store, id, RESOURCE_SYNCED);
	assert_int_equal(store_set_version(fx->store->store, id, "200", 3), 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

/* Add an entry of this group, version, resource, kind, namespace and selectors. */
static void
cache(struct arena_world *w, const char *gvrk, const char *namespace_, const char *labels, const char *fields)
{
	char text[1024], group[64], version[64], resource[64], kind[64];

	assert_int_equal(sscanf(gvrk, "%63[^/]/%63[^/]/%63[^/]/%63s", group, version, resource, kind), 4);
	snprintf(text, sizeof(text),
		 "{\"group\":\"%s\",\"version\":\"%s\",\"resource\":\"%s\",\"kind\":\"%s\",\"singular\":"
		 "\"one\","
		 "\"shortNames\":[\"s1\",\"s2\"],\"namespaced\":true,\"namespace\":\"%s\",\"labelSelector\":"
		 "\"%s\",\"fieldSelector\":\"%s\",\"metadataOnly\":false,\"onDemand\":false,\"drops\":[],"
		 "\"indexes\":[]}",
		 strcmp(group, "core") ? group : "", version, resource, kind, namespace_, labels, fields);
	broker_fixture_do(w->fx, add, text);
}

static int
find(struct arena_world *w, const char *group, const char *plural, const char *ns, const char *labels,
     const char *fields, struct gw_entry **ret)
{
	const struct api_resource *resource = api_registry_find(&w->arena->registry, group, "v1", plural);

	const struct gw_want want = {
		.resource = resource, .namespace_ = ns, .labels = labels, .fields = fields};

	return resource ? gw_resources_find(w->arena, &want, ret) : -ENXIO;
}

/* The entry that answers this request. It must exist. */
static struct gw_entry *
found(struct arena_world *w, const char *plural, const char *ns)
{
	struct gw_entry *entry = NULL;

	assert_int_equal(find(w, "", plural, ns, NULL, NULL, &entry), 0);
	if (!entry)
		abort();
	return entry;
}

#define TEST(name) TEST_CASE_OF(struct arena_world *w, set_up, arena_world_tear_down, name)

/* The registry serves what is cached, with what discovery says of the kind, and no other kinds. */
TEST(served_is_what_is_cached)
{
	struct api_resource *r;

	cache(w, "apps/v1/deployments/Deployment", "", "", "");
	cache(w, "example.com/v1/widgets/Widget", "", "", "");
	arena_world_open(w);
	assert_string_equal(w->pods->name, "pods.v1");
	r = api_registry_find(&w->arena->registry, "", "v1", "pods");
	assert_non_null(r->fields);
	assert_non_null(r->message);
	assert_null(api_registry_find(&w->arena->registry, "", "v1", "services"));
	r = api_registry_find(&w->arena->registry, "apps", "v1", "deployments");
	assert_non_null(r);
	assert_false(r->custom);
	r = api_registry_find(&w->arena->registry, "example.com", "v1", "widgets");
	assert_non_null(r);
	assert_true(r->custom);
	assert_string_equal(r->singular, "one");
	assert_string_equal(r->shorts[0], "s1");
	assert_string_equal(r->shorts[1], "s2");
	assert_null(r->shorts[2]);
}

/* An entry answers a request if it caches every object that the request asks for. */
TEST(an_entry_answers_what_it_caches_wholly)
{
	struct gw_entry *e = NULL;

	cache(w, "core/v1/configmaps/ConfigMap", "a", "", "");
	cache(w, "core/v1/configmaps/ConfigMap", "b", "", "");
	cache(w, "core/v1/services/Service", "", "app in (x,y),tier=1", "");
	cache(w, "core/v1/secrets/Secret", "", "", "type=t");
	arena_world_open(w);
	assert_int_equal(find(w, "", "pods", "any", "app=x", NULL, &e), 0);
	e = found(w, "configmaps", "a");
	assert_string_equal(e->namespace_, "a");
	assert_ptr_not_equal(e, found(w, "configmaps", "b"));
	assert_int_equal(find(w, "", "configmaps", "c", NULL, NULL, &e), -EXDEV);
	assert_int_equal(find(w, "", "pods", "c", NULL, NULL, &e), 0);
	assert_int_equal(find(w, "", "configmaps", NULL, NULL, NULL, &e), -EXDEV);
	assert_int_equal(find(w, "", "configmaps", "", NULL, NULL, &e), -EXDEV);
	assert_int_equal(find(w, "", "services", NULL, NULL, NULL, &e), -EXDEV);
	assert_int_equal(find(w, "", "services", NULL, "tier=1", NULL, &e), -EXDEV);
	assert_int_equal(find(w, "", "services", NULL, "tier=1,a=b,app in (x,y)", NULL, &e), 0);
	assert_int_equal(find(w, "", "services", NULL, "app in (x,z),b in (q,y),tier=1", NULL, &e), -EXDEV);
	assert_int_equal(find(w, "", "secrets", NULL, NULL, NULL, &e), -EXDEV);
	assert_int_equal(find(w, "", "secrets", NULL, NULL, "type=t", &e), 0);
}

/* Start the next informerd with a configuration of pods alone. */
static void
restart_with_pods(struct broker_fixture *fx)
{
	static const bool wanted[RESOURCE_MAX] = {true};

	broker_fixture_stop(fx);
	broker_fixture_adopt(fx);
	store_drop_unwanted(fx->store->store, wanted);
	broker_fixture_commit(fx);
	broker_fixture_start(fx);
}

static void
wait_served(struct arena_world *w, const char *plural, bool served)
{
	arena_world_until(w, (api_registry_find(&w->arena->registry, "", "v1", plural) != NULL) == served);
}

static void
count_wake(void *context)
{
	++*(unsigned *)context;
}

/* A resource dropped by informerd ends its watches. Once cached again, it is the same entry. */
TEST_CASE_IN(set_up_generations, arena_world_tear_down, a_resource_may_go_and_come_back)
{
	struct arena_world *w = *state;
	struct api_query all = {0};
	struct gw_store *store;
	struct gw_entry *e;
	unsigned woken = 0;
	uint64_t rv, position;
	struct api_event event;

	cache(w, "core/v1/configmaps/ConfigMap", "", "", "");
	arena_world_open(w);
	e = found(w, "configmaps", NULL);
	arena_world_until(w, e->feed.begun);
	store = gw_store_new(e);
	store->watch(store, NULL, &all, count_wake, &woken);
	position = e->feed.log.next;
	restart_with_pods(w->fx);
	wait_served(w, "configmaps", false);
	assert_true(woken > 0);
	assert_int_equal(store->api.events(store, e->resource, &position, &event, 1, &rv), -ESTALE);
	assert_int_equal(store->api.rv(store, e->resource), 0);
	assert_int_equal(gw_entry_age_ns(e), UINT64_MAX);
	store->close(store);
	cache(w, "core/v1/configmaps/ConfigMap", "", "", "");
	wait_served(w, "configmaps", true);
	assert_ptr_equal(found(w, "configmaps", NULL), e);
	arena_world_tell(w, "a104 @104");
}

TEST(without_informerd_the_registry_is_empty)
{
	broker_fixture_stop(w->fx);
	assert_int_equal(gw_arena_new(&w->options, &w->arena), 0);
	gw_arena_dispatch(w->arena);
	assert_null(api_registry_find(&w->arena->registry, "", "v1", "pods"));
	gw_arena_free(w->arena);
	w->arena = NULL;
}
