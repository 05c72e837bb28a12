/* SPDX-License-Identifier: Apache-2.0 */
/* Finding objects that are present or were recently deleted. */
#include <time.h>

#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/reader_world.h"

/* Like pods, with every index that finds deleted ones. All container IDs here begin with "c-u-". */
static const char workers_descriptor[] =
	"{\"group\":\"example.org\",\"version\":\"v1\",\"resource\":\"workers\",\"kind\":\"Worker\","
	"\"singular\":\"worker\","
	"\"shortNames\":[],\"namespaced\":true,\"indexes\":["
	"{\"name\":\"uid\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]},"
	"{\"name\":\"podIP\",\"rules\":[{\"path\":\"status.podIPs[*].ip\",\"as\":\"string\"}]},"
	"{\"name\":\"containerID\",\"prefix\":4,\"rules\":[{\"path\":\"status.containerStatuses[*]."
	"containerID\",\"as\":\"scheme\"}]}]}";

static void
add_workers(struct broker_fixture *fx, void *context)
{
	uint8_t fingerprint[32] = "workers";

	(void)context;
	assert_int_equal(
		store_add_resource(fx->store->store, workers_descriptor, fingerprint, &fx->store->pods), 0);
}

static int
set_up(void **state)
{
	struct broker_fixture *fx = broker_fixture_new();

	broker_fixture_do(fx, add_workers, NULL);
	broker_fixture_commit(fx);
	broker_fixture_start(fx);
	*state = reader_world_over(fx, "workers", 0);
	return 0;
}

/* A worker in this phase with this uid and address, and the container "c-UID". */
static void
put(struct reader_world *w, const char *name, const char *uid, const char *ip, const char *phase,
    bool host_network)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\",\"labels\":{\"app\":\"%"
		 "s\"}},\"spec\":{\"hostNetwork\":%s},"
		 "\"status\":{\"phase\":\"%s\",\"podIPs\":[{\"ip\":\"%s\"}],\"containerStatuses\":[{"
		 "\"containerID\":\"containerd://c-%s\"}]}}",
		 name, uid, name, host_network ? "true" : "false", phase, ip, uid);
	broker_fixture_put(w->fx, (const char *const[]){text, NULL});
}

static void
run(struct reader_world *w, const char *name, const char *uid, const char *ip)
{
	put(w, name, uid, ip, "Running", false);
}

static void
forget(struct reader_world *w, const char *name)
{
	broker_fixture_delete(w->fx, "n", name);
}

/* Find in a new snapshot: 0 present, 1 deleted, or an error. */
static int
find(struct reader_world *w, enum informer_by by, const char *value)
{
	bool deleted = true;
	int r;

	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	memset(&w->pod, 0, sizeof(w->pod));
	r = informer_find(&w->snap, w->pods, by, value, strlen(value), &w->pod, &deleted);
	return r == 0 ? deleted : r;
}

/* informer_find() must return this result (0 present, 1 deleted) and this uid's state. */
static void
expect(struct reader_world *w, enum informer_by by, const char *value, int result, const char *uid)
{
	const char *data;
	size_t length;
	int r = find(w, by, value);

	if (r != result)
		fail_msg("%d '%s': %d", (int)by, value, r);
	assert_int_equal(informer_object_uid(&w->pod, &data, &length), 0);
	if (length != strlen(uid) || memcmp(data, uid, length) != 0)
		fail_msg("%d '%s': %.*s", (int)by, value, (int)length, data);
	assert_int_equal(informer_object_deleted(&w->pod, NULL), result == 1);
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

TEST(a_present_object_is_found_by_each_name)
{
	run(w, "a", "u-a", "10.0.0.1");
	expect(w, INFORMER_BY_KEY, "n/a", 0, "u-a");
	expect(w, INFORMER_BY_UID, "u-a", 0, "u-a");
	expect(w, INFORMER_BY_IP, "10.0.0.1", 0, "u-a");
	expect(w, INFORMER_BY_CONTAINER_ID, "c-u-a", 0, "u-a");
	expect(w, INFORMER_BY_CONTAINER_ID, "containerd://c-u-a", 0, "u-a");
}

/* A deleted object is found by each of its names, in its last state, with the time of its deletion. */
TEST(a_deleted_object_is_found_by_each_name)
{
	uint64_t before, after, when = 0;
	struct informer_path *path;
	const char *data;
	size_t length;

	run(w, "a", "u-a", "10.0.0.1");
	put(w, "a", "u-a", "10.0.0.1", "Succeeded", false);
	run(w, "b", "u-b", "10.0.0.2");
	before = time_ns(CLOCK_REALTIME);
	forget(w, "a");
	after = time_ns(CLOCK_REALTIME);
	expect(w, INFORMER_BY_UID, "u-a", 1, "u-a");
	expect(w, INFORMER_BY_IP, "10.0.0.1", 1, "u-a");
	expect(w, INFORMER_BY_CONTAINER_ID, "c-u-a", 1, "u-a");
	expect(w, INFORMER_BY_CONTAINER_ID, "cri-o://c-u-a", 1, "u-a");
	expect(w, INFORMER_BY_KEY, "n/a", 1, "u-a");
	assert_true(informer_object_deleted(&w->pod, &when));
	assert_true(when >= before && when <= after);
	assert_int_equal(informer_path_compile(w->inf, "status.phase", 12, &path), 0);
	assert_int_equal(informer_get_string(&w->pod, path, &data, &length), 0);
	assert_int_equal(length, 9);
	assert_memory_equal(data, "Succeeded", 9);
	informer_path_free(path);
	/* other lookups do not find it */
	assert_int_equal(informer_get_z(&w->snap, w->pods, "n", "a", &w->pod), INFORMER_E_NOT_FOUND);
}

/* Of containers whose IDs begin alike, present or deleted, each is found by its own. */
TEST(containers_that_begin_alike_are_told_apart)
{
	run(w, "a", "u-a", "10.0.0.1");
	run(w, "b", "u-b", "10.0.0.2");
	run(w, "c", "u-c", "10.0.0.3");
	run(w, "d", "u-d", "10.0.0.4");
	for (int round = 0; round < 2; round++) {
		expect(w, INFORMER_BY_CONTAINER_ID, "c-u-a", round, "u-a");
		expect(w, INFORMER_BY_CONTAINER_ID, "c-u-b", round, "u-b");
		expect(w, INFORMER_BY_CONTAINER_ID, "c-u-c", 0, "u-c");
		expect(w, INFORMER_BY_CONTAINER_ID, "c-u-d", 0, "u-d");
		assert_int_equal(find(w, INFORMER_BY_CONTAINER_ID, "c-u-"), INFORMER_E_NOT_FOUND);
		assert_int_equal(find(w, INFORMER_BY_CONTAINER_ID, "c-u-e"), INFORMER_E_NOT_FOUND);
		assert_int_equal(find(w, INFORMER_BY_CONTAINER_ID, "c-u"), INFORMER_E_NOT_FOUND);
		if (round == 0) {
			forget(w, "a");
			forget(w, "b");
		}
	}
}

/* A reused name leads to the new object; the old one is found by its own uid, address and container. */
TEST(a_re_created_name_is_the_new_one)
{
	run(w, "a", "u-1", "10.0.0.1");
	forget(w, "a");
	run(w, "a", "u-2", "10.0.0.2");
	expect(w, INFORMER_BY_KEY, "n/a", 0, "u-2");
	expect(w, INFORMER_BY_UID, "u-1", 1, "u-1");
	expect(w, INFORMER_BY_IP, "10.0.0.1", 1, "u-1");
	expect(w, INFORMER_BY_CONTAINER_ID, "c-u-1", 1, "u-1");
	expect(w, INFORMER_BY_IP, "10.0.0.2", 0, "u-2");
}

/* Of several objects deleted under one name the last one is found. */
TEST(of_several_deleted_the_last_is_found)
{
	run(w, "a", "u-1", "10.0.0.1");
	run(w, "b", "u-2", "10.0.0.1");
	forget(w, "b");
	forget(w, "a");
	expect(w, INFORMER_BY_IP, "10.0.0.1", 1, "u-1");
	run(w, "a", "u-3", "10.0.0.3");
	forget(w, "a");
	run(w, "a", "u-4", "10.0.0.4");
	forget(w, "a");
	expect(w, INFORMER_BY_KEY, "n/a", 1, "u-4");
	expect(w, INFORMER_BY_IP, "10.0.0.3", 1, "u-3");
}

/* An address leads to the pod that runs, finished last, or was deleted last; not on the host's network. */
TEST(an_address_leads_to_the_last_pod_that_had_it)
{
	put(w, "host", "u-h", "10.0.0.1", "Running", true);
	assert_int_equal(find(w, INFORMER_BY_IP, "10.0.0.1"), INFORMER_E_NOT_FOUND);
	forget(w, "host");
	assert_int_equal(find(w, INFORMER_BY_IP, "10.0.0.1"), INFORMER_E_NOT_FOUND);
	run(w, "gone", "u-g", "10.0.0.1");
	forget(w, "gone");
	expect(w, INFORMER_BY_IP, "10.0.0.1", 1, "u-g");
	put(w, "job-1", "u-1", "10.0.0.1", "Succeeded", false);
	expect(w, INFORMER_BY_IP, "10.0.0.1", 0, "u-1");
	put(w, "job-2", "u-2", "10.0.0.1", "Failed", false);
	expect(w, INFORMER_BY_IP, "10.0.0.1", 0, "u-2");
	put(w, "job-1", "u-1", "10.0.0.1", "Failed", false);
	expect(w, INFORMER_BY_IP, "10.0.0.1", 0, "u-2");
	run(w, "web", "u-w", "10.0.0.1");
	expect(w, INFORMER_BY_IP, "10.0.0.1", 0, "u-w");
	/* the newer deletion is on the host's network */
	forget(w, "web");
	forget(w, "job-1");
	forget(w, "job-2");
	put(w, "host", "u-h", "10.0.0.1", "Running", true);
	forget(w, "host");
	expect(w, INFORMER_BY_IP, "10.0.0.1", 1, "u-2");
}

static void
add_second_entry(struct broker_fixture *fx, void *context)
{
	const uint8_t fingerprint[32] = "workers of another namespace";
	char descriptor[1024];

	snprintf(descriptor, sizeof(descriptor), "{\"namespace\":\"other\",%s", workers_descriptor + 1);
	assert_int_equal(store_add_resource(fx->store->store, descriptor, fingerprint, context), 0);
}

static void
use_entry(struct broker_fixture *fx, void *context)
{
	fx->store->pods = *(unsigned *)context;
}

/* If two entries cache a resource, the last deletion is found in either. */
TEST(two_entries_are_searched_as_one)
{
	unsigned entries[2] = {w->fx->store->pods};

	broker_fixture_do(w->fx, add_second_entry, &entries[1]);
	for (int i = 0; i < 2; i++) {
		const char *ip = i ? "10.0.0.2" : "10.0.0.1";

		broker_fixture_do(w->fx, use_entry, &entries[i]);
		run(w, "a", "u-a", ip);
		forget(w, "a");
		broker_fixture_do(w->fx, use_entry, &entries[1 - i]);
		run(w, "b", "u-b", ip);
		forget(w, "b");
		expect(w, INFORMER_BY_IP, ip, 1, "u-b");
		assert_true(informer_object_position(&w->pod) == entries[1 - i]);
	}
}

/* Absent, impossible and invalid names. */
TEST(an_absent_object_is_not_found)
{
	struct informer_resource *pods, *none;
	char longest[5000];

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	run(w, "a", "u-a", "10.0.0.1");
	forget(w, "a");
	broker_fixture_put(w->fx,
			   (const char *const[]){"{\"metadata\":{\"name\":\"alone\",\"uid\":\"u\"}}", NULL});
	assert_int_equal(find(w, INFORMER_BY_KEY, "n/b"), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, INFORMER_BY_KEY, "a"), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, INFORMER_BY_KEY, ""), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, INFORMER_BY_KEY, "alone"), 0);
	assert_int_equal(find(w, INFORMER_BY_KEY, "/alone"), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, INFORMER_BY_KEY, longest), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, INFORMER_BY_UID, "n/a"), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, INFORMER_BY_UID, longest), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, INFORMER_BY_IP, "u-a"), INFORMER_E_NOT_FOUND);
	assert_int_equal(find(w, (enum informer_by)9, "u-a"), -EINVAL);
	assert_int_equal(informer_find(&w->snap, w->pods, INFORMER_BY_UID, NULL, 0, &w->pod, NULL), -EINVAL);
	assert_int_equal(informer_find(&w->snap, w->pods, INFORMER_BY_UID, "x", 1, NULL, NULL), -EINVAL);
	assert_int_equal(informer_find(NULL, w->pods, INFORMER_BY_UID, "x", 1, &w->pod, NULL), -EINVAL);
	/* the fixture's pods have no index of containers */
	assert_int_equal(informer_resource_open(w->inf, "pods", &pods), 0);
	assert_int_equal(informer_find(&w->snap, pods, INFORMER_BY_CONTAINER_ID, "x", 1, &w->pod, NULL),
			 INFORMER_E_NO_INDEX);
	assert_int_equal(informer_find(&w->snap, pods, INFORMER_BY_UID, "u-a", 3, &w->pod, NULL),
			 INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_resource_open(w->inf, "nothing", &none), 0);
	assert_int_equal(informer_find(&w->snap, none, INFORMER_BY_KEY, "x", 1, &w->pod, NULL),
			 INFORMER_E_NO_RESOURCE);
	assert_false(informer_object_deleted(NULL, NULL));
	assert_false(informer_object_deleted(&(struct informer_object){0}, NULL));
}

static void
remember_no_deletions(struct broker_fixture *fx, void *context)
{
	(void)context;
	store_set_tombstone_limits(fx->store->store, fx->store->pods, (struct tombstone_limits){0, 0, 0});
	store_expire_tombstones(fx->store->store, UINT64_MAX);
	assert_int_equal(store_commit(fx->store->store), 0);
}

/* A snapshot still shows a deletion that is forgotten meanwhile; a copy keeps the time of its deletion. */
TEST(a_forgotten_deletion_stays_in_its_snapshot_and_copies)
{
	struct informer_object copy, second;
	uint64_t when = 0, again = 0;

	run(w, "a", "u-a", "10.0.0.1");
	forget(w, "a");
	assert_int_equal(find(w, INFORMER_BY_UID, "u-a"), 1);
	broker_fixture_do(w->fx, remember_no_deletions, NULL);
	run(w, "b", "u-b", "10.0.0.2");
	assert_true(informer_object_deleted(&w->pod, &when));
	assert_true(when > 0);
	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	assert_int_equal(find(w, INFORMER_BY_UID, "u-a"), INFORMER_E_NOT_FOUND);
	assert_true(informer_object_deleted(&copy, &again));
	assert_true(again == when);
	assert_int_equal(informer_object_copy(w->inf, &copy, &second), 0);
	informer_object_free(&copy);
	again = 0;
	assert_true(informer_object_deleted(&second, &again));
	assert_true(again == when);
	informer_object_free(&second);
}

struct seen {
	char names[64];
	int stop_after;
};

static int
see(void *context, const struct informer_object *object)
{
	struct seen *seen = context;
	uint64_t when = 0;
	const char *data;
	size_t length;

	assert_true(informer_object_deleted(object, &when));
	assert_true(when > 0);
	assert_int_equal(informer_object_uid(object, &data, &length), 0);
	strncat(seen->names, data, length);
	return --seen->stop_after == 0 ? 7 : 0;
}

/* Deleted objects are listed by the time of their deletion; present ones are skipped. */
TEST(the_deleted_are_listed_oldest_first)
{
	struct seen seen = {"", 0};

	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	assert_int_equal(informer_each_deleted(&w->snap, w->pods, see, &seen), 0);
	informer_end(&w->snap);
	run(w, "a", "1", "10.0.0.1");
	run(w, "b", "2", "10.0.0.1");
	run(w, "c", "3", "10.0.0.1");
	forget(w, "b");
	forget(w, "a");
	run(w, "b", "4", "10.0.0.1");
	forget(w, "b");
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	assert_int_equal(informer_each_deleted(&w->snap, w->pods, see, &seen), 0);
	assert_string_equal(seen.names, "214");
	seen = (struct seen){"", 2};
	assert_int_equal(informer_each_deleted(&w->snap, w->pods, see, &seen), 7);
	assert_string_equal(seen.names, "21");
	assert_int_equal(informer_each_deleted(&w->snap, w->pods, NULL, &seen), -EINVAL);
	assert_int_equal(informer_each_deleted(NULL, w->pods, see, &seen), -EINVAL);
}

static void
lose_one(struct broker_fixture *fx, void *context)
{
	assert_int_equal(store_fixture_lose(fx->store, "n", context), 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

static uint64_t
forgotten_seq(struct reader_world *w)
{
	struct informer_resource_info info = {.size = sizeof(info)};

	assert_int_equal(informer_resource_info(&w->snap, w->pods, &info), 0);
	return info.forgotten_seq;
}

/* A deletion has a seq and says whether it was seen; forgotten deletions end at forgotten_seq. */
TEST(a_deletion_has_a_seq_and_was_seen_or_not)
{
	struct informer_deletion a = {.size = sizeof(a)}, b = {.size = sizeof(b)},
				 cut = {.size = sizeof(size_t)};
	struct informer_object copy;

	run(w, "a", "u-a", "10.0.0.1");
	run(w, "b", "u-b", "10.0.0.2");
	run(w, "c", "u-c", "10.0.0.3");
	forget(w, "a");
	broker_fixture_do(w->fx, lose_one, (void *)(uintptr_t)"b");
	expect(w, INFORMER_BY_UID, "u-c", 0, "u-c");
	assert_int_equal(informer_object_deletion(&w->pod, &a), INFORMER_E_NOT_FOUND);
	expect(w, INFORMER_BY_UID, "u-a", 1, "u-a");
	assert_int_equal(informer_object_deletion(&w->pod, &a), 0);
	assert_true(a.seen);
	assert_true(a.seq > informer_object_seq(&w->pod));
	assert_true(a.wall_ns > 0);
	assert_int_equal(informer_object_deletion(&w->pod, &cut), 0);
	assert_int_equal(informer_object_deletion(&w->pod, NULL), -EINVAL);
	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	assert_int_equal(informer_object_deletion(&copy, &a), INFORMER_E_NOT_FOUND);
	informer_object_free(&copy);
	expect(w, INFORMER_BY_UID, "u-b", 1, "u-b");
	assert_int_equal(informer_object_deletion(&w->pod, &b), 0);
	assert_false(b.seen);
	assert_true(b.seq > a.seq);
	assert_true(forgotten_seq(w) < a.seq);
	broker_fixture_remember(w->fx, 1);
	broker_fixture_commit(w->fx);
	expect(w, INFORMER_BY_UID, "u-b", 1, "u-b");
	assert_int_equal(forgotten_seq(w), a.seq);
}
