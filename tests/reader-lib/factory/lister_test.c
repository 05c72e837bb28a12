/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listers, with a writer in this process: the reading part of client-go's Store, Indexer and Lister, line by
 * line. (tests/writer/store/store_test.c tests the writing part.)
 */
#include "tests/room.h"
#include "tests/support/lister_fixture.h"

static int
set_up(void **state)
{
	struct lister_fixture *fx = lister_fixture_new(NULL);

	lister_fixture_pod(fx, "default", "web-0", "ernie,bert", "web");
	lister_fixture_pod(fx, "default", "web-1", "bert,oscar", "web");
	lister_fixture_pod(fx, "jobs", "done", "ernie,elmo", "job");
	lister_fixture_pod(fx, "jobs", "bare", NULL, NULL);
	*state = fx;
	return 0;
}

static int
tear_down(void **state)
{
	lister_fixture_free(*state);
	return 0;
}

static void
begin(struct lister_fixture *fx, struct informer_snapshot *snapshot)
{
	assert_int_equal(informer_begin(fx->inf, snapshot), 0);
}

/* ---- get ---- */

#define TEST(f) TEST_CASE_OF(struct lister_fixture *fx, set_up, tear_down, f)

/* An absent object is NOT_FOUND, and the message has the API's name of its resource. */
TEST(an_object_is_found_by_namespace_and_name)
{
	lister_fixture_put(fx, fx->nodes, "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u-n1\"}}");
	lister_fixture_put(fx, fx->deployments,
			   "{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"u-d\"}}");
	assert_answers(fx, NULL,
		       "get default/web-1 -> default/web-1\n"
		       "nodes: get n1 -> n1\n"
		       "nodes: get /n1 -> n1\n"
		       "apps/v1/deployments: get default/web -> default/web\n"
		       "get default/web-9 -> pods \"web-9\" not found\n"
		       "get other/web-0 -> pods \"web-0\" not found\n"
		       "deploy: get jobs/web -> deployments.apps \"web\" not found\n"
		       "no: get n9 -> nodes \"n9\" not found\n");
}

TEST(a_resource_that_is_not_cached_is_told_apart)
{
	assert_answers(fx, NULL,
		       "secrets: get a/b -> error INFORMER_E_NO_RESOURCE\n"
		       "secrets: list -> error INFORMER_E_NO_RESOURCE\n");
}

/* ---- list ---- */

/* A list has all objects, those of a namespace, those of a selector, or those of both. */
TEST(lists_go_by_namespace_and_selector)
{
	assert_answers(fx, NULL,
		       "list -> default/web-0 default/web-1 jobs/bare jobs/done\n"
		       "list \"\" \"\" -> default/web-0 default/web-1 jobs/bare jobs/done\n"
		       "list jobs -> jobs/bare jobs/done\n"
		       "list * app in (web,other) -> default/web-0 default/web-1\n"
		       "list jobs app -> jobs/done\n"
		       "list jobs app=web -> \n"
		       "list nowhere -> \n"
		       "list * app== -> \n"
		       "list * app=,, -> error INFORMER_E_SYNTAX\n");
}

static int
stop_at_second(void *context, const struct informer_object *object)
{
	(void)object;
	return ++*(int *)context == 2 ? 42 : 0;
}

TEST(a_nonzero_result_of_the_callback_stops_the_list)
{
	struct informer_snapshot snapshot;
	int calls = 0;

	begin(fx, &snapshot);
	assert_int_equal(informer_lister_list(fx->pods, &snapshot, NULL, NULL, stop_at_second, &calls), 42);
	assert_int_equal(calls, 2);
	calls = 0;
	assert_int_equal(
		informer_lister_by_index(fx->pods, &snapshot, "nodeName", "n1", 2, stop_at_second, &calls),
		42);
	assert_int_equal(calls, 2);
	informer_end(&snapshot);
}

/* Later changes are in no lister of the snapshot. */
TEST(all_listers_agree_in_one_snapshot)
{
	struct informer_snapshot snapshot;

	begin(fx, &snapshot);
	lister_fixture_pod(fx, "default", "web-2", "oscar", "web");
	lister_fixture_delete(fx, "default", "web-0");
	lister_fixture_put(fx, fx->nodes, "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u-n1\"}}");
	assert_answers(fx, &snapshot,
		       "list default -> default/web-0 default/web-1\n"
		       "byUser=oscar -> default/web-1\n"
		       "get default/web-0 -> default/web-0\n"
		       "nodes: get n1 -> nodes \"n1\" not found\n");
	informer_end(&snapshot);
	assert_answers(fx, NULL, "list default -> default/web-1 default/web-2\n");
}

/* ---- the daemon's indexes ---- */

/* An object is found under each of its values; a value without objects disappears. [MultiIndexKeys] */
TEST(objects_are_found_by_each_of_their_values)
{
	assert_answers(fx, NULL,
		       "byUser=ernie -> default/web-0 jobs/done\n"
		       "byUser=bert -> default/web-0 default/web-1\n"
		       "byUser=elmo1 -> \n"
		       "byUser= -> \n"
		       "byUser -> bert elmo ernie oscar\n");
	lister_fixture_delete(fx, "jobs", "done");
	lister_fixture_pod(fx, "default", "web-0", "oscar", "web");
	assert_answers(fx, NULL,
		       "byUser=ernie -> \n"
		       "byUser=oscar -> default/web-0 default/web-1\n"
		       "byUser -> bert oscar\n");
}

TEST(an_index_gives_in_order_of_key)
{
	for (int i = 20; i-- > 0;) {
		char name[16];

		snprintf(name, sizeof(name), "p%02d", i);
		lister_fixture_pod(fx, i % 2 ? "a-b" : "a", name, "many", NULL);
	}
	assert_string_equal(lister_ask(fx, NULL, "byUser=many"),
			    "a-b/p01 a-b/p03 a-b/p05 a-b/p07 a-b/p09 a-b/p11 a-b/p13 a-b/p15 a-b/p17 a-b/p19 "
			    "a/p00 a/p02 a/p04 a/p06 a/p08 a/p10 a/p12 a/p14 a/p16 a/p18");
}

TEST(an_unknown_index_has_no_values_and_is_an_error)
{
	struct informer_snapshot snapshot;
	struct word_list list = {0};
	struct informer_object o;

	assert_answers(fx, NULL,
		       "nothing -> \n"
		       "nothing=x -> error INFORMER_E_NO_INDEX\n");
	begin(fx, &snapshot);
	assert_int_equal(informer_lister_get_z(fx->pods, &snapshot, "default", "web-0", &o), 0);
	assert_int_equal(informer_lister_index(fx->pods, &snapshot, "nothing", &o, word_list_add_key, &list),
			 INFORMER_E_NO_INDEX);
	informer_end(&snapshot);
}

/* [IndexingFunctionsWithMultipleValues] */
TEST(objects_that_share_a_value_come_once_each)
{
	struct informer_snapshot snapshot;
	struct word_list list = {0};
	struct informer_object o;

	lister_fixture_pod(fx, "jobs", "two", "bert,ernie", NULL);
	begin(fx, &snapshot);
	assert_int_equal(informer_lister_get_z(fx->pods, &snapshot, "default", "web-0", &o), 0);
	assert_int_equal(informer_lister_index(fx->pods, &snapshot, "byUser", &o, word_list_add_key, &list),
			 0);
	word_list_join(&list, false, fx->text, sizeof(fx->text));
	assert_string_equal(fx->text, "default/web-0 default/web-1 jobs/done jobs/two");
	assert_int_equal(informer_lister_get_z(fx->pods, &snapshot, "jobs", "bare", &o), 0);
	assert_int_equal(informer_lister_index(fx->pods, &snapshot, "byUser", &o, word_list_add_key, &list),
			 0);
	assert_int_equal(list.count, 0);
	/* an object of another resource has no values here */
	assert_int_equal(
		informer_lister_index(informer_shared_lister(lister_fixture_shared(fx, "deployments")),
				      &snapshot, "namespace", &o, word_list_add_key, &list),
		-EINVAL);
	informer_end(&snapshot);
}

/* ---- what an informer shows ---- */

/* A lister of a factory with a namespace shows only that namespace, and all cluster-scoped objects. */
TEST(a_factorys_namespace_hides_all_others)
{
	struct informer_factory_options o = {.size = sizeof(o), .namespace_ = "jobs"};

	lister_fixture_put(fx, fx->nodes, "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u-n1\"}}");
	lister_fixture_renew(fx, &o);
	assert_answers(fx, NULL,
		       "list -> jobs/bare jobs/done\n"
		       "list jobs app -> jobs/done\n"
		       "list default -> \n"
		       "byUser=ernie -> jobs/done\n"
		       "byUser -> elmo ernie\n"
		       "get default/web-0 -> pods \"web-0\" not found\n"
		       "get jobs/done -> jobs/done\n"
		       "nodes: get n1 -> n1\n"
		       "nodes: list -> n1\n");
}

/* An object must match the tweak's selectors and those of the question. */
TEST(a_tweaks_selectors_hide_what_they_do_not_match)
{
	struct informer_tweak tweaks[] = {
		{.resource = "pods", .label_selector = "app=job"},
		{.resource = "v1/pods", .label_selector = "app", .field_selector = "metadata.name!=web-1"},
		{.resource = "nodes", .label_selector = "none"},
	};
	struct informer_factory_options o = {.size = sizeof(o), .tweaks = tweaks, .n_tweaks = 3};

	lister_fixture_renew(fx, &o);
	assert_answers(fx, NULL,
		       "list -> default/web-0 jobs/done\n"
		       "list * app!=job -> default/web-0\n"
		       "byUser=bert -> default/web-0\n"
		       "byUser -> bert elmo ernie\n"
		       "get default/web-1 -> pods \"web-1\" not found\n"
		       "get jobs/bare -> pods \"bare\" not found\n");
}

/* The lister's object must have this JSON. */
static void
assert_json(struct lister_fixture *fx, const char *ns, const char *name, const char *expected)
{
	struct informer_snapshot snapshot;
	struct informer_object object;
	char text[1024];
	size_t length;

	begin(fx, &snapshot);
	assert_int_equal(informer_lister_get_z(fx->pods, &snapshot, ns, name, &object), 0);
	assert_int_equal(informer_object_json(&object, text, sizeof(text), &length), 0);
	informer_end(&snapshot);
	assert_string_equal(text, expected);
}

/* With a transform, every call of a lister gives objects with what it keeps, without what it drops. */
TEST(a_transform_keeps_and_drops)
{
	const char *keep[] = {"metadata.annotations", "status"}, *drop[] = {"spec", "metadata.annotations"};
	struct informer_factory_options o = {.size = sizeof(o), .keep = keep, .n_keep = 2};

	lister_fixture_renew(fx, &o);
	assert_json(
		fx, "default", "web-0",
		"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"uid-default-web-0\","
		"\"annotations\":{\"users\":\"ernie,bert\"}},\"status\":{\"phase\":\"Running\"}}");
	o = (struct informer_factory_options){.size = sizeof(o), .drop = drop, .n_drop = 2};
	lister_fixture_renew(fx, &o);
	assert_json(
		fx, "default", "web-0",
		"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"uid-default-web-0\","
		"\"labels\":{\"app\":\"web\"}},\"status\":{\"phase\":\"Running\"}}");
	assert_answers(fx, NULL,
		       "list jobs -> jobs/bare jobs/done\n"
		       "byUser=elmo -> jobs/done\n");
}

struct kept {
	struct informer_object objects[8];
	unsigned count;
};

static int
keep_object(void *context, const struct informer_object *object)
{
	struct kept *k = context;

	k->objects[k->count++] = *object;
	return 0;
}

TEST(transformed_objects_live_as_long_as_the_snapshot)
{
	const char *drop[] = {"spec"};
	struct informer_factory_options o = {.size = sizeof(o), .drop = drop, .n_drop = 1};
	struct informer_snapshot snapshot;
	struct kept kept = {0};
	const char *name;
	size_t length;

	lister_fixture_renew(fx, &o);
	begin(fx, &snapshot);
	assert_int_equal(informer_lister_list(fx->pods, &snapshot, NULL, NULL, keep_object, &kept), 0);
	assert_int_equal(
		informer_lister_by_index(fx->pods, &snapshot, "byUser", "bert", 4, keep_object, &kept), 0);
	assert_int_equal(kept.count, 6);
	for (unsigned i = 0; i < kept.count; i++)
		assert_int_equal(informer_object_name(&kept.objects[i], &name, &length), 0);
	informer_end(&snapshot);
}

TEST(impossible_arguments_are_refused)
{
	struct informer_snapshot snapshot = {0};
	struct word_list list = {0};
	struct informer_object o;

	assert_int_equal(informer_lister_get_z(NULL, &snapshot, NULL, "a", &o), -EINVAL);
	assert_int_equal(informer_lister_get_z(fx->pods, &snapshot, NULL, "a", &o), -EINVAL);
	assert_int_equal(informer_lister_list(fx->pods, &snapshot, NULL, NULL, word_list_add_key, &list),
			 -EINVAL);
	assert_int_equal(
		informer_lister_by_index(fx->pods, &snapshot, "uid", "a", 1, word_list_add_key, &list),
		-EINVAL);
	assert_int_equal(informer_index_values(fx->pods, &snapshot, "uid", NULL, NULL), -EINVAL);
	begin(fx, &snapshot);
	assert_int_equal(informer_lister_get_z(fx->pods, &snapshot, NULL, NULL, &o), -EINVAL);
	assert_int_equal(informer_lister_list(fx->pods, &snapshot, NULL, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(
		informer_lister_by_index(fx->pods, &snapshot, NULL, "a", 1, word_list_add_key, &list),
		-EINVAL);
	assert_int_equal(
		informer_lister_by_index(fx->pods, &snapshot, "uid", NULL, 1, word_list_add_key, &list),
		-EINVAL);
	assert_int_equal(informer_lister_index(fx->pods, &snapshot, "uid", NULL, word_list_add_key, &list),
			 -EINVAL);
	informer_end(&snapshot);
}
