/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that appear, disappear over a restart, or get other indexes while a reader is attached; with a
 * writer in this process.
 */
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/reader_world.h"

#define POD(name, ns)                                                                                        \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\",\"uid\":\"u-" name                    \
	"\",\"resourceVersion\":\"1\","                                                                      \
	"\"labels\":{\"app\":\"web\"}},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}}"

#define NODE(name) "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"1\"}}"

static const char *const pods[] = {POD("a", "x"), POD("b", "x"), NULL};

SET_UP(set_up, reader_world_of(pods, 0))

static int
set_up_generations(void **state)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct reader_world *w;

	broker_fixture_keep_generations(fx);
	broker_fixture_start(fx);
	broker_fixture_put(fx, pods);
	*state = w = reader_world_over(fx, "pods", 0);
	reader_world_renew(w);
	return 0;
}

static long
count(const struct reader_world *w, const struct informer_snapshot *snap, const char *index,
      const char *value)
{
	uint64_t n = 0;
	int r = informer_count_by_index(snap, w->pods, index, value, strlen(value), &n);

	return r < 0 ? r : (long)n;
}

static unsigned
add_entry(struct broker_fixture *fx, const char *head, const char *rest)
{
	static const uint8_t fingerprint[32] = "another entry";
	char descriptor[2000];
	unsigned id;

	snprintf(descriptor, sizeof(descriptor), "%s%s", head, rest);
	assert_int_equal(store_add_resource(fx->store->store, descriptor, fingerprint, &id), 0);
	return id;
}

static void
put_into(struct broker_fixture *fx, unsigned id, const char *json)
{
	unsigned pods_id = fx->store->pods;

	fx->store->pods = id;
	assert_int_equal(store_fixture_put(fx->store, json), 0);
	fx->store->pods = pods_id;
}

static void
add_nodes_and_zones(struct broker_fixture *fx, void *context)
{
	(void)context;
	put_into(fx, add_entry(fx, "", "{\"resource\":\"nodes\",\"kind\":\"Node\",\"indexes\":[]}"),
		 NODE("n"));
	put_into(fx, add_entry(fx, "", "{\"resource\":\"zones\",\"kind\":\"Zone\",\"indexes\":[]}"),
		 NODE("z"));
	assert_int_equal(store_commit(fx->store->store), 0);
}

/* The next daemon has no nodes, and another entry of pods: zones take the position of nodes. */
static void
restart_without_nodes(struct broker_fixture *fx)
{
	broker_fixture_stop(fx);
	broker_fixture_adopt(fx);
	store_drop_unwanted(fx->store->store, (const bool[]){true, false, true});
	put_into(fx, add_entry(fx, "{\"namespace\":\"y\",", pods_descriptor + 1), POD("c", "y"));
	assert_int_equal(store_commit(fx->store->store), 0);
	broker_fixture_start(fx);
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

static bool
finds(struct reader_world *w, const char *ns, const char *name)
{
	struct informer_object o;

	reader_world_renew(w);
	return informer_get_z(&w->snap, w->pods, ns, name, &o) == 0;
}

/* A resource disappeared over a restart and an entry of another appeared: open handles find their own. */
TEST_CASE_IN(set_up_generations, reader_world_tear_down, over_a_restart_each_name_finds_its_own)
{
	struct reader_world *w = *state;
	struct informer_resource *nodes, *zones;
	struct informer_object o;
	struct informer_iter it;

	broker_fixture_do(w->fx, add_nodes_and_zones, NULL);
	reader_world_renew(w);
	assert_int_equal(informer_resource_open(w->inf, "nodes", &nodes), 0);
	assert_int_equal(informer_resource_open(w->inf, "zones", &zones), 0);
	assert_int_equal(informer_get_z(&w->snap, nodes, "", "n", &o), 0);
	assert_int_equal(informer_get_z(&w->snap, zones, "", "z", &o), 0);
	assert_int_equal(count(w, &w->snap, "nodeName", "n1"), 2);

	restart_without_nodes(w->fx);
	assert_int_equal(informer_get_z(&w->snap, nodes, "", "n", &o), 0); /* unchanged while open */
	assert_int_equal(informer_get_z(&w->snap, w->pods, "y", "c", &o), INFORMER_E_NOT_FOUND);
	DISPATCH_UNTIL(w->inf, finds(w, "y", "c"));
	assert_int_equal(count(w, &w->snap, "nodeName", "n1"), 3);
	assert_int_equal(informer_get_z(&w->snap, zones, "", "z", &o), 0);
	assert_int_equal(informer_list(&w->snap, nodes, &it), INFORMER_E_NO_RESOURCE);
}

static void
expect_more(struct broker_fixture *fx, void *context)
{
	store_expect(fx->store->store, context != NULL);
	assert_int_equal(store_commit(fx->store->store), 0);
}

static int
look_for_nodes(struct reader_world *w)
{
	struct informer_resource *nodes;
	struct informer_iter it;

	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	assert_int_equal(informer_resource_open(w->inf, "nodes", &nodes), 0);
	return informer_list(&w->snap, nodes, &it);
}

/* While informerd has not resolved all configured resources, an unknown name may be one of them. */
TEST(an_unresolved_resource_is_not_ready)
{
	struct informer_resource_info info = {.size = sizeof(info)};

	assert_int_equal(look_for_nodes(w), INFORMER_E_NO_RESOURCE);
	broker_fixture_do(w->fx, expect_more, w);
	assert_int_equal(look_for_nodes(w), INFORMER_E_NOT_READY);
	assert_int_equal(count(w, &w->snap, "nodeName", "n1"), 2);
	assert_int_equal(informer_resource_count(&w->snap), 2);
	assert_int_equal(informer_resource_info_at(&w->snap, 1, &info), INFORMER_E_NOT_READY);
	assert_int_equal(informer_wait_synced(w->inf, NULL, 0), -ETIMEDOUT);
	assert_int_equal(informer_wait_synced(w->inf, "pods", 0), 0);
	assert_int_equal(informer_wait_synced(w->inf, "nodes", 0), -ETIMEDOUT);
	broker_fixture_do(w->fx, expect_more, NULL);
	assert_int_equal(look_for_nodes(w), INFORMER_E_NO_RESOURCE);
	assert_int_equal(informer_resource_count(&w->snap), 1);
	assert_int_equal(informer_wait_synced(w->inf, NULL, 0), 0);
}

/* byUser is removed, phase is added, and nodeName gets the values of another path. */
static const char other_indexes[] =
	"{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\",\"kind\":\"Pod\",\"singular\":\"pod\","
	"\"shortNames\":[\"po\"],\"namespaced\":true,"
	"\"indexes\":[{\"name\":\"phase\",\"rules\":[{\"path\":\"status.phase\",\"as\":\"string\"}]},"
	"{\"name\":\"nodeName\",\"rules\":[{\"path\":\"metadata.labels.app\",\"as\":\"string\"}]}]}";

static void
redefine(struct broker_fixture *fx, void *context)
{
	struct store *s = fx->store->store;

	(void)context;
	assert_int_equal(store_fixture_put(fx->store, POD("new", "x")), 0);
	assert_int_equal(store_redefine(s, fx->store->pods, other_indexes, pods_fingerprint), 0);
	assert_int_equal(store_commit(s), 0);
}

/* One commit shows all new indexes to every reader; an open snapshot keeps the old ones. */
TEST(indexes_are_exchanged_in_one_commit)
{
	struct informer_snapshot open;

	assert_int_equal(informer_begin(w->inf, &open), 0);
	broker_fixture_do(w->fx, redefine, NULL);
	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	assert_int_equal(count(w, &w->snap, "phase", "Running"), 3);
	assert_int_equal(count(w, &w->snap, "nodeName", "web"), 3);
	assert_int_equal(count(w, &w->snap, "nodeName", "n1"), 0);
	assert_int_equal(count(w, &w->snap, "byUser", "ernie"), INFORMER_E_NO_INDEX);
	assert_int_equal(count(w, &open, "nodeName", "n1"), 2);
	assert_int_equal(count(w, &open, "byUser", "ernie"), 0);
	informer_end(&open);
}
