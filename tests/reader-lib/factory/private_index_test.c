/* SPDX-License-Identifier: Apache-2.0 */
/* Private indexes follow the store at the stated cost, and answer for every snapshot as it is. */
#include <stdatomic.h>

#include "reader-lib/factory/lister.h"
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/lister_fixture.h"
#include "tests/support/purse.h"

/* How many deleted keys an index remembers, at most. */
#define GONE_MOST 1024u

struct world {
	struct lister_fixture *fx;
	struct informer_path *users;
	_Atomic unsigned calls;		/* of the function below */
};

/* Emits each user, split at commas, as the daemon's index byUser does. */
static void
by_user(void *context, const struct informer_object *object, informer_emit_value emit, void *emit_context)
{
	struct world *w = context;
	const char *data, *end;
	size_t length;

	atomic_fetch_add(&w->calls, 1);
	if (informer_get_string(object, w->users, &data, &length) < 0)
		return;
	for (end = data + length; data < end;) {
		const char *comma = memchr(data, ',', (size_t)(end - data));
		size_t n = comma ? (size_t)(comma - data) : (size_t)(end - data);

		emit(emit_context, data, n);
		data += n + 1;
	}
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->fx = lister_fixture_new(NULL);
	assert_int_equal(informer_path_compile(w->fx->inf, "metadata.annotations.users", 26, &w->users), 0);
	lister_fixture_pod(w->fx, "default", "one", "ernie,bert", "web");
	lister_fixture_pod(w->fx, "default", "two", "bert,oscar", "web");
	lister_fixture_pod(w->fx, "default", "tre", "ernie,elmo", "job");
	assert_int_equal(informer_add_index(w->fx->pods, "users", by_user, w), 0);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	informer_path_free(w->users);
	lister_fixture_free(w->fx);
	free(w);
	return 0;
}

static void
begin(struct world *w, struct informer_snapshot *snapshot)
{
	assert_int_equal(informer_begin(w->fx->inf, snapshot), 0);
}

#define assert_users(w, value, expected)                                                                     \
	assert_string_equal(lister_ask((w)->fx, NULL, "users=" value), expected)

/* How often the function was called since the last call of calls(). */
static unsigned
calls(struct world *w)
{
	return atomic_exchange(&w->calls, 0);
}

#define TEST(f) TEST_CASE_OF(struct world *w, set_up, tear_down, f)

/* [MultiIndexKeys, TestThreadSafeStoreAddIndexersWithItems] */
TEST(an_index_added_to_a_filled_store_knows_what_is_there)
{
	assert_users(w, "ernie", "default/one default/tre");
	assert_users(w, "bert", "default/one default/two");
	assert_users(w, "elmo", "default/tre");
	assert_users(w, "oscar", "default/two");
	assert_users(w, "elmo1", "");
	assert_string_equal(lister_ask(w->fx, NULL, "users"), "bert elmo ernie oscar");
	assert_int_equal(calls(w), 3);
}

/* The index follows adds, updates and deletions; a value without objects disappears. [MultiIndexKeys] */
TEST(an_index_follows_what_changes)
{
	assert_users(w, "ernie", "default/one default/tre");
	lister_fixture_delete(w->fx, "default", "tre");
	assert_users(w, "elmo", "");
	assert_users(w, "ernie", "default/one");
	assert_string_equal(lister_ask(w->fx, NULL, "users"), "bert ernie oscar");
	lister_fixture_pod(w->fx, "default", "two", "oscar,elmo", "web");
	assert_users(w, "bert", "default/one");
	assert_users(w, "elmo", "default/two");
	lister_fixture_pod(w->fx, "default", "two", NULL, "web");
	assert_users(w, "oscar", "");
	lister_fixture_pod(w->fx, "jobs", "new", "bert", NULL);
	assert_users(w, "bert", "default/one jobs/new");
	lister_fixture_delete(w->fx, "jobs", "new");
	lister_fixture_pod(w->fx, "jobs", "new", "elmo", NULL);
	assert_users(w, "bert", "default/one");
	assert_users(w, "elmo", "jobs/new");
}

/* A use of the index calls the function once for each object changed since the last use. */
TEST(a_use_costs_what_changed_since_the_last)
{
	assert_users(w, "bert", "default/one default/two");
	assert_int_equal(calls(w), 3);
	assert_users(w, "oscar", "default/two");
	assert_string_equal(lister_ask(w->fx, NULL, "users"), "bert elmo ernie oscar");
	assert_int_equal(calls(w), 0);
	lister_fixture_pod(w->fx, "default", "one", "oscar", "web");
	lister_fixture_pod(w->fx, "default", "one", "oscar,bert", "web");
	lister_fixture_delete(w->fx, "default", "tre");
	assert_int_equal(calls(w), 0);
	assert_users(w, "oscar", "default/one default/two");
	assert_int_equal(calls(w), 1);
}

/* A value emitted twice counts once; objects that share a value come once each. */
TEST(a_value_that_is_emitted_twice_counts_once)
{
	struct informer_snapshot snapshot;
	struct informer_object object;
	struct word_list list = {0};

	lister_fixture_pod(w->fx, "default", "one", "bert,bert,ernie,,bert,ernie", "web");
	assert_users(w, "bert", "default/one default/two");
	assert_users(w, "", "default/one");
	lister_fixture_pod(w->fx, "default", "one", "bert,ernie", "web");
	assert_users(w, "", "");
	begin(w, &snapshot);
	assert_int_equal(informer_lister_get_z(w->fx->pods, &snapshot, "default", "one", &object), 0);
	assert_int_equal(
		informer_lister_index(w->fx->pods, &snapshot, "users", &object, word_list_add_key, &list), 0);
	informer_end(&snapshot);
	word_list_join(&list, false, w->fx->text, sizeof(w->fx->text));
	assert_string_equal(w->fx->text, "default/one default/tre default/two");
}

/* An older snapshot is answered as it is; the cost is what changed since. */
TEST(an_older_snapshot_is_answered_as_it_is)
{
	struct informer_snapshot old, older;

	begin(w, &older);
	assert_users(w, "bert", "default/one default/two");
	lister_fixture_delete(w->fx, "default", "one");
	lister_fixture_pod(w->fx, "default", "two", "elmo", "web");
	begin(w, &old);
	lister_fixture_pod(w->fx, "default", "one", "oscar", "web");
	lister_fixture_pod(w->fx, "jobs", "new", "bert", NULL);
	assert_users(w, "bert", "jobs/new");
	calls(w);
	assert_string_equal(lister_ask(w->fx, &old, "users=bert"), "");
	assert_string_equal(lister_ask(w->fx, &old, "users=elmo"), "default/tre default/two");
	assert_int_equal(calls(w), 0);
	assert_string_equal(lister_ask(w->fx, &older, "users=bert"), "default/one default/two");
	assert_string_equal(lister_ask(w->fx, &older, "users=elmo"), "default/tre");
	assert_string_equal(lister_ask(w->fx, &older, "users"), "bert elmo ernie oscar");
	assert_string_equal(lister_ask(w->fx, &old, "users"), "elmo ernie");
	/* the newest snapshot is answered as before, without further calls */
	calls(w);
	assert_users(w, "bert", "jobs/new");
	assert_users(w, "oscar", "default/one");
	assert_int_equal(calls(w), 0);
	informer_end(&old);
	informer_end(&older);
}

/* When the daemon has forgotten a deletion the index is rebuilt. */
TEST(a_forgotten_deletion_rebuilds_the_index)
{
	assert_users(w, "bert", "default/one default/two");
	broker_fixture_remember(w->fx->writer, 0);
	lister_fixture_delete(w->fx, "default", "one");
	calls(w);
	assert_users(w, "bert", "default/two");
	assert_users(w, "ernie", "default/tre");
	assert_int_equal(calls(w), 2);
}

/* Another lineage rebuilds the index, even if its seq is higher. */
TEST(another_lineage_rebuilds_the_index)
{
	assert_users(w, "bert", "default/one default/two");
	broker_fixture_replace(w->fx->writer, true);
	for (int i = 0; i < 20; i++)
		broker_fixture_pod(w->fx->writer, "y");
	broker_fixture_put(w->fx->writer,
			   (const char *const[]){"{\"metadata\":{\"name\":\"x\",\"namespace\":\"default\","
						 "\"annotations\":{\"users\":\"bert\"}}}",
						 NULL});
	for (;;) {
		struct informer_status status = {.size = sizeof(status)};

		assert_int_equal(informer_status(w->fx->inf, &status), 0);
		if (status.attaches > 1)
			break;
		assert_true(informer_dispatch(w->fx->inf) >= 0);
	}
	assert_users(w, "bert", "default/x");
	assert_users(w, "ernie", "");
}

/* The index remembers a bounded number of deletions, and answers for older snapshots all the same. */
TEST(deleted_keys_do_not_accumulate)
{
	struct informer_snapshot old;
	char name[32];

	begin(w, &old);
	assert_users(w, "many", "");
	for (unsigned i = 0; i < 3 * GONE_MOST; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		lister_fixture_pod(w->fx, "default", name, "many", NULL);
		if (i % 64 == 0)
			(void)lister_ask(w->fx, NULL, "users");
		lister_fixture_delete(w->fx, "default", name);
		assert_in_range(w->fx->pods->indexes->absent, 0, GONE_MOST);
	}
	lister_fixture_pod(w->fx, "default", "one", "oscar", "web");
	assert_users(w, "many", "");
	assert_users(w, "oscar", "default/one default/two");
	assert_string_equal(lister_ask(w->fx, &old, "users=bert"), "default/one default/two");
	assert_string_equal(lister_ask(w->fx, &old, "users=many"), "");
	assert_users(w, "bert", "default/two");
	informer_end(&old);
}

/* A second index of one name is refused, also if the daemon has the first; the first stays unchanged. */
TEST(an_index_name_is_unique)
{
	assert_int_equal(informer_add_index(w->fx->pods, "users", by_user, w), -EEXIST);
	assert_error_text(-EEXIST, "there is an index of the name 'users' already");
	assert_int_equal(informer_add_index(w->fx->pods, "byUser", by_user, w), -EEXIST);
	assert_error_text(-EEXIST, "informerd has an index of the name 'byUser' already");
	assert_int_equal(informer_add_index(w->fx->pods, "users2", by_user, w), 0);
	assert_int_equal(informer_add_index(w->fx->pods, "", by_user, w), -EINVAL);
	assert_int_equal(informer_add_index(w->fx->pods, NULL, by_user, w), -EINVAL);
	assert_int_equal(informer_add_index(w->fx->pods, "x", NULL, w), -EINVAL);
	assert_int_equal(informer_add_index(NULL, "x", by_user, w), -EINVAL);
	assert_users(w, "bert", "default/one default/two");
	assert_string_equal(lister_ask(w->fx, NULL, "users2=bert"), "default/one default/two");
}

static void
by_fields(void *context, const struct informer_object *object, informer_emit_value emit, void *emit_context)
{
	char text[1024];
	size_t length;

	(void)context;
	if (informer_object_json(object, text, sizeof(text), &length) == 0)
		emit(emit_context, text, length);
}

/* The function gets transformed objects, and only those that the selectors match. */
TEST(the_function_sees_what_the_informer_shows)
{
	const char *drop[] = {"metadata.annotations", "metadata.labels", "metadata.uid", "spec"};
	struct informer_tweak tweak = {.resource = "pods", .label_selector = "app=web"};
	struct informer_factory_options o = {.size = sizeof(o),
					     .namespace_ = "default",
					     .tweaks = &tweak,
					     .n_tweaks = 1,
					     .drop = drop,
					     .n_drop = 4};

	lister_fixture_pod(w->fx, "jobs", "web", "bert", "web");
	lister_fixture_renew(w->fx, &o);
	assert_int_equal(informer_add_index(w->fx->pods, "fields", by_fields, w), 0);
	assert_string_equal(lister_ask(w->fx, NULL, "fields"),
			    "{\"metadata\":{\"name\":\"one\",\"namespace\":\"default\",\"uid\":\"uid-default-"
			    "one\"},\"status\":{\"phase\":\"Running\"}} "
			    "{\"metadata\":{\"name\":\"two\",\"namespace\":\"default\",\"uid\":\"uid-default-"
			    "two\"},\"status\":{\"phase\":\"Running\"}}");
	/* an update that leaves the selector removes the object, one that enters it adds the object */
	lister_fixture_pod(w->fx, "default", "one", NULL, "job");
	lister_fixture_pod(w->fx, "default", "tre", NULL, "web");
	assert_string_equal(lister_ask(w->fx, NULL, "fields"),
			    "{\"metadata\":{\"name\":\"tre\",\"namespace\":\"default\",\"uid\":\"uid-default-"
			    "tre\"},\"status\":{\"phase\":\"Running\"}} "
			    "{\"metadata\":{\"name\":\"two\",\"namespace\":\"default\",\"uid\":\"uid-default-"
			    "two\"},\"status\":{\"phase\":\"Running\"}}");
}

/* ---- memory ---- */

/* After a failed allocation the use says so, and the next use is right. All memory is given back. */
TEST(a_use_without_memory_says_so_and_the_next_is_right)
{
	struct purse purse = PURSE;
	struct informer *inf = w->fx->inf;
	struct informer_factory *factory;
	struct informer_shared *shared;
	struct informer_lister *pods = w->fx->pods;
	unsigned failures = 0, round = 0;

	w->fx->inf = purse_attach(&purse, w->fx->writer->socket);
	broker_fixture_wait_answer(w->fx->inf);
	assert_int_equal(informer_factory_new(w->fx->inf, NULL, &factory), 0);
	assert_int_equal(informer_factory_for(factory, "pods", &shared), 0);
	w->fx->pods = informer_shared_lister(shared);
	assert_int_equal(informer_add_index(w->fx->pods, "users", by_user, w), 0);
	(void)lister_ask(w->fx, NULL, "list");
	for (bool failed = true; failed; round++) {
		lister_fixture_pod(w->fx, "default", "one", round % 2 ? "ernie,bert" : "bert,x", "web");
		purse.left = round;
		failed = strcmp(lister_ask(w->fx, NULL, "users=bert"), "error ENOMEM") == 0;
		purse.left = SIZE_MAX;
		failures += failed;
		assert_users(w, "bert", "default/one default/two");
		assert_users(w, "x", round % 2 ? "" : "default/one");
	}
	assert_true(failures > 5);
	informer_factory_shutdown(factory);
	informer_detach(w->fx->inf);
	w->fx->inf = inf;
	w->fx->pods = pods;
	assert_int_equal(purse.out, 0);
}

/* ---- compared with a plain scan ---- */

static const char *const words[] = {"ernie", "bert", "oscar", "elmo"};

/* A plain scan: asks every object whether it has the value. */
struct scan {
	struct world *w;
	const char *value;
	struct word_list list;
};

struct seen {
	const char *value;
	bool has;
};

static void
see(void *context, const char *value, size_t length)
{
	struct seen *s = context;

	s->has |= strlen(s->value) == length && memcmp(value, s->value, length) == 0;
}

static int
scan_one(void *context, const struct informer_object *object)
{
	struct scan *scan = context;
	struct seen seen = {scan->value, false};

	by_user(scan->w, object, see, &seen);
	if (seen.has)
		word_list_add_key(&scan->list, object);
	return 0;
}

static void
assert_as_scanned(struct world *w, const struct informer_snapshot *snapshot, const char *value)
{
	struct scan scan = {.w = w, .value = value};
	char expected[4096], question[64];

	assert_int_equal(informer_lister_list(w->fx->pods, snapshot, NULL, NULL, scan_one, &scan), 0);
	word_list_join(&scan.list, true, expected, sizeof(expected));
	snprintf(question, sizeof(question), "users=%s", value);
	assert_string_equal(lister_ask(w->fx, snapshot, question), expected);
}

static void
random_change(struct world *w)
{
	const char *ns = rand() % 3 ? "default" : "jobs";
	char name[16], users[64] = "";

	snprintf(name, sizeof(name), "p%d", rand() % 12);
	for (int i = rand() % 3; i > 0; i--)
		snprintf(users + strlen(users), sizeof(users) - strlen(users), "%s,", words[rand() % 4]);
	if (rand() % 3 == 0)
		lister_fixture_delete(w->fx, ns, name);
	else
		lister_fixture_pod(w->fx, ns, name, rand() % 8 ? users : NULL, NULL);
}

/* After random changes, the index answers for snapshots of any age as a scan does. */
TEST(the_index_answers_for_any_snapshot_as_a_scan_does)
{
	struct informer_snapshot snapshots[6];
	bool open[6] = {false};
	unsigned seed = (unsigned)test_seed(1);

	print_message("seed %u\n", seed);
	srand(seed);
	for (int step = 0; step < 1500; step++) {
		unsigned i = (unsigned)rand() % 6;

		random_change(w);
		if (step == 1000)
			broker_fixture_remember(w->fx->writer, 0);
		if (rand() % 8 == 0) {
			if (open[i])
				informer_end(&snapshots[i]);
			begin(w, &snapshots[i]);
			open[i] = true;
		}
		i = (unsigned)rand() % 6;
		if (open[i] && rand() % 3 == 0)
			assert_as_scanned(w, &snapshots[i], words[rand() % 4]);
	}
	for (unsigned i = 0; i < 6; i++) {
		if (open[i])
			informer_end(&snapshots[i]);
	}
}

/* ---- threads ---- */

struct asker {
	struct world *w;
	pthread_t thread;
	atomic_bool *over;
	unsigned answers, wrong;
};

static int
count_object(void *context, const struct informer_object *object)
{
	(void)object;
	++*(unsigned *)context;
	return 0;
}

/* In every snapshot exactly one of "pair-a" and "pair-b" has the user "token". */
static void *
ask(void *context)
{
	struct asker *a = context;

	while (!atomic_load(a->over)) {
		struct informer_snapshot snapshot;
		unsigned n = 0;

		if (informer_begin(a->w->fx->inf, &snapshot) < 0)
			continue;
		if (informer_lister_by_index(a->w->fx->pods, &snapshot, "users", "token", 5, count_object,
					     &n) < 0 ||
		    n != 1)
			a->wrong++;
		a->answers++;
		informer_end(&snapshot);
	}
	return NULL;
}

static void
swap(struct broker_fixture *writer, void *context)
{
	int which = *(int *)context;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			store_fixture_putf(writer->store,
					   "{\"metadata\":{\"name\":\"pair-%c\",\"namespace\":\"default\","
					   "\"annotations\":{\"users\":\"%s\"}}}",
					   'a' + i, which == i ? "token" : "none"),
			0);
	}
	assert_int_equal(store_commit(writer->store->store), 0);
}

/* Several threads use one index while the store changes; each gets the answer for its snapshot. */
TEST(threads_get_what_their_snapshots_have)
{
	struct asker askers[3];
	atomic_bool over = false;
	int which = 0;

	broker_fixture_do(w->fx->writer, swap, &which);
	for (unsigned i = 0; i < 3; i++) {
		askers[i] = (struct asker){.w = w, .over = &over};
		assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
	}
	for (int i = 0; i < 500; i++) {
		which = i % 2;
		broker_fixture_do(w->fx->writer, swap, &which);
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(askers[i].thread, NULL);
		assert_int_equal(askers[i].wrong, 0);
	}
}
