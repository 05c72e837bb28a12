/* SPDX-License-Identifier: Apache-2.0 */
/* Parked keys: each is answered once, with its object, its last state, or its deadline. */
#include <poll.h>
#include <stdatomic.h>

#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/purse.h"

/* What was answered, one word each: "KEY=ns/name", "KEY=-ns/name" for a deleted object, "KEY=E_NAME". */
struct lot {
	struct broker_fixture *fx;
	struct informer *inf;
	struct informer_handler *handler;
	pthread_mutex_t lock;
	char text[4096];
	_Atomic unsigned answers, dones;
	void (*each)(struct lot *lot);
};

static void
on_answer(void *context, void *parked, int result, const struct informer_object *object)
{
	struct lot *lot = context;
	char key[300];
	size_t length;

	pthread_mutex_lock(&lot->lock);
	length = strlen(lot->text);
	if (result == 0 && informer_object_key(object, key, sizeof(key), NULL) == 0)
		snprintf(lot->text + length, sizeof(lot->text) - length, "%s=%s%s ", (const char *)parked,
			 informer_object_deleted(object, NULL) ? "-" : "", key);
	else
		snprintf(lot->text + length, sizeof(lot->text) - length, "%s=%s ", (const char *)parked,
			 informer_error_name(result));
	pthread_mutex_unlock(&lot->lock);
	if (lot->each)
		lot->each(lot);
	atomic_fetch_add(&lot->answers, 1);
}

static void
on_done(void *context)
{
	struct lot *lot = context;

	atomic_fetch_add(&lot->dones, 1);
}

static void
open_lot(struct lot *lot, enum informer_by by, const char *resource)
{
	struct informer_parking_options o = {.size = sizeof(o),
					     .resource = resource,
					     .by = by,
					     .context = lot,
					     .on_answer = on_answer,
					     .on_done = on_done};

	assert_int_equal(informer_add_parking(lot->inf, &o, &lot->handler), 0);
}

/* The pods n/a with UID u-a and address 10.0.0.1, and n/b, are there; keys are parked by UID. */
static int
set_up(void **state)
{
	static struct lot lot; /* a handler may outlast a test that failed */

	lot = (struct lot){.fx = broker_fixture_new(), .lock = PTHREAD_MUTEX_INITIALIZER};
	*state = &lot;
	broker_fixture_keep_generations(lot.fx);
	broker_fixture_start(lot.fx);
	broker_fixture_put(
		lot.fx, (const char *const[]){
				"{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u-a\"},"
				"\"status\":{\"podIPs\":[{\"ip\":\"10.0.0.1\"}]}}",
				"{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\",\"uid\":\"u-b\"}}", NULL});
	lot.inf = broker_fixture_attach(lot.fx, 0);
	open_lot(&lot, INFORMER_BY_UID, "pods");
	return 0;
}

static int
tear_down(void **state)
{
	struct lot *lot = *state;

	informer_detach(lot->inf);
	broker_fixture_free(lot->fx);
	return 0;
}

static void
put(struct lot *lot, const char *name, const char *address)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"u-%s\"},"
		 "\"status\":{\"podIPs\":[{\"ip\":\"%s\"}]}}",
		 name, name, address);
	broker_fixture_put(lot->fx, (const char *const[]){text, NULL});
}

static void
park(struct lot *lot, const char *key, int timeout_ms)
{
	assert_int_equal(informer_park(lot->handler, key, strlen(key), timeout_ms, (void *)(uintptr_t)key),
			 0);
}

/* Dispatch until this many answers came in all, and compare what they were since the last call. */
static void
expect(struct lot *lot, unsigned answers, const char *expected)
{
	char text[sizeof(lot->text)];

	DISPATCH_UNTIL(lot->inf, atomic_load(&lot->answers) >= answers);
	dispatch_all(lot->inf);
	pthread_mutex_lock(&lot->lock);
	memcpy(text, lot->text, sizeof(text));
	lot->text[0] = '\0';
	pthread_mutex_unlock(&lot->lock);
	assert_string_equal(text, expected);
	assert_int_equal(atomic_load(&lot->answers), answers);
}

/* Dispatch until all commits so far were looked at. */
static void
expect_nothing(struct lot *lot)
{
	while (dispatch_turn(lot->inf))
		;
	assert_string_equal(lot->text, "");
}

static unsigned
parked_keys(struct lot *lot)
{
	struct informer_handler_stats stats = {.size = sizeof(stats)};

	assert_int_equal(informer_handler_stats(lot->handler, &stats), 0);
	return (unsigned)stats.keys;
}

#define TEST(name) TEST_CASE_OF(struct lot *lot, set_up, tear_down, name)

/* A present object is the answer at the next turn, never from within informer_park(); an absent one later. */
TEST(a_parked_key_is_answered_when_its_object_is_there)
{
	park(lot, "u-a", -1);
	park(lot, "u-c", -1);
	assert_string_equal(lot->text, "");
	assert_int_equal(parked_keys(lot), 2);
	expect(lot, 1, "u-a=n/a ");
	put(lot, "d", "10.0.0.9");
	expect_nothing(lot);
	put(lot, "c", "10.0.0.3");
	expect(lot, 2, "u-c=n/c ");
	assert_int_equal(parked_keys(lot), 0);
	put(lot, "c", "10.0.0.4");
	expect_nothing(lot);
}

TEST(a_deleted_object_is_the_answer_too)
{
	park(lot, "u-x", -1);
	expect_nothing(lot);
	broker_fixture_delete(lot->fx, "n", "a");
	park(lot, "u-a", -1);
	expect(lot, 1, "u-a=-n/a ");
}

/* Several callers of a key are answered in turn, each once; the first one's deadline is its own. */
TEST(each_caller_of_a_key_is_answered_once)
{
	park(lot, "u-c", 1000);
	park(lot, "u-c", -1);
	park(lot, "u-c", 60000);
	expect_nothing(lot);
	test_clock_move(1000);
	expect(lot, 1, "u-c=ETIMEDOUT ");
	assert_int_equal(parked_keys(lot), 2);
	put(lot, "c", "10.0.0.3");
	expect(lot, 3, "u-c=n/c u-c=n/c ");
}

/* 0: one look. The object goes before a deadline that has come. Deadlines come in their order. */
TEST(a_deadline_is_an_answer)
{
	park(lot, "u-x", 0);
	park(lot, "u-a", 0);
	expect(lot, 2, "u-a=n/a u-x=ETIMEDOUT ");
	park(lot, "u-late", 3000);
	park(lot, "u-soon", 2000);
	park(lot, "u-c", 1000);
	expect_nothing(lot);
	put(lot, "c", "10.0.0.3");
	test_clock_move(2000);
	expect(lot, 4, "u-c=n/c u-soon=ETIMEDOUT ");
	test_clock_move(1000);
	expect(lot, 5, "u-late=ETIMEDOUT ");
}

/* A deadline comes also while no daemon is there, or the resource is not cached. */
TEST(a_deadline_needs_no_daemon)
{
	open_lot(lot, INFORMER_BY_UID, "widgets");
	park(lot, "u-w", 1000);
	expect_nothing(lot);
	test_clock_move(1000);
	expect(lot, 1, "u-w=ETIMEDOUT ");
	broker_fixture_stop(lot->fx);
	dispatch_until_connected(lot->inf, false);
	park(lot, "u-v", 1000);
	test_clock_move(1000);
	expect(lot, 2, "u-v=ETIMEDOUT ");
}

/* By address: the pod is there before it has one. By key. */
TEST(a_key_may_be_an_address_or_a_name)
{
	open_lot(lot, INFORMER_BY_IP, "pods");
	park(lot, "10.0.0.7", -1);
	expect_nothing(lot);
	put(lot, "b", "10.0.0.7");
	expect(lot, 1, "10.0.0.7=n/b ");
	open_lot(lot, INFORMER_BY_KEY, "pods");
	park(lot, "n/e", -1);
	expect_nothing(lot);
	put(lot, "e", "10.0.0.8");
	expect(lot, 2, "n/e=n/e ");
}

/* Not every resource has every index; where one is missing, the caller is told. */
TEST(a_container_id_may_have_its_scheme)
{
	static const struct kind_fixture workers = {
		.group = "example.org",
		.resource = "workers",
		.kind = "Worker",
		.indexes = "{\"name\":\"containerID\",\"rules\":["
			   "{\"path\":\"status.containerStatuses[*].containerID\",\"as\":\"scheme\"}]}",
		.objects = {"{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"},\"status\":{"
			    "\"containerStatuses\":[{\"containerID\":\"cri-o://0123\"}]}}"},
	};

	open_lot(lot, INFORMER_BY_CONTAINER_ID, "pods");
	park(lot, "0123", -1);
	expect(lot, 1, "0123=INFORMER_E_NO_INDEX ");
	open_lot(lot, INFORMER_BY_CONTAINER_ID, "workers");
	park(lot, "cri-o://0123", -1);
	expect_nothing(lot);
	kind_fixture_add(lot->fx, &workers);
	expect(lot, 2, "cri-o://0123=n/w ");
	park(lot, "4567", -1);
	expect_nothing(lot);
	broker_fixture_put(lot->fx,
			   (const char *const[]){"{\"metadata\":{\"name\":\"v\",\"namespace\":\"n\"},"
						 "\"status\":{\"containerStatuses\":[{"
						 "\"containerID\":\"cri-o://4567\"}]}}",
						 NULL});
	expect(lot, 3, "4567=n/v ");
}

static uint64_t
newest_seq(struct lot *lot)
{
	struct informer_moment moment = {0};
	struct informer_snapshot snap;

	assert_int_equal(informer_begin(lot->inf, &snap), 0);
	assert_int_equal(informer_snapshot_moment(&snap, &moment), 0);
	informer_end(&snap);
	return moment.seq;
}

/* A key stays parked over the end of informerd, and over a store that was built anew and counts as far. */
TEST(parked_keys_outlive_the_daemon)
{
	uint64_t walked;

	park(lot, "u-c", -1);
	park(lot, "u-d", -1);
	expect_nothing(lot);
	broker_fixture_adopt(lot->fx);
	put(lot, "c", "10.0.0.3");
	expect(lot, 1, "u-c=n/c ");
	walked = newest_seq(lot);
	broker_fixture_replace(lot->fx, true);
	put(lot, "d", "10.0.0.4");
	while (store_seq(lot->fx->store->store) <= walked)
		put(lot, "e", "10.0.0.5");
	expect(lot, 2, "u-d=n/d ");
}

TEST(a_removed_handler_answers_all_keys)
{
	park(lot, "u-c", -1);
	park(lot, "u-c", 5000);
	expect_nothing(lot);
	park(lot, "u-a", -1);
	informer_remove_handler(lot->handler);
	assert_string_equal(lot->text, "u-a=ECANCELED u-c=ECANCELED u-c=ECANCELED ");
	assert_int_equal(atomic_load(&lot->dones), 1);
	assert_int_equal(informer_park(lot->handler, "x", 1, 0, NULL), INFORMER_E_STOPPED);
}

static void
remove_within(struct lot *lot)
{
	informer_remove_handler(lot->handler);
	lot->each = NULL;
}

TEST(a_handler_may_be_removed_by_an_answer)
{
	park(lot, "u-a", -1);
	park(lot, "u-a", -1);
	park(lot, "u-b", -1);
	lot->each = remove_within;
	expect(lot, 3, "u-a=n/a u-a=ECANCELED u-b=ECANCELED ");
	assert_int_equal(atomic_load(&lot->dones), 1);
}

static void
pause_within(struct lot *lot)
{
	informer_pause_handler(lot->handler, true);
}

/* A pause ends the turn after the running call, between the callers of one key too. */
TEST(a_paused_handler_answers_later)
{
	park(lot, "u-a", -1);
	park(lot, "u-a", -1);
	lot->each = pause_within;
	expect(lot, 1, "u-a=n/a ");
	expect_nothing(lot);
	informer_pause_handler(lot->handler, false);
	expect(lot, 2, "u-a=n/a ");
	park(lot, "u-x", 1000);
	test_clock_move(1000);
	put(lot, "c", "10.0.0.3");
	expect_nothing(lot);
	informer_pause_handler(lot->handler, false);
	expect(lot, 3, "u-x=ETIMEDOUT ");
}

/* An event loop sleeps on the descriptor: a commit wakes it while a key is parked. */
TEST(a_commit_makes_the_descriptor_readable)
{
	struct pollfd news = {.fd = informer_fd(lot->inf), .events = POLLIN};

	park(lot, "u-c", -1);
	expect_nothing(lot);
	put(lot, "c", "10.0.0.3");
	assert_int_equal(poll(&news, 1, 10000), 1);
	expect(lot, 1, "u-c=n/c ");
}

static void
park_within(struct lot *lot)
{
	lot->each = NULL;
	park(lot, "u-c", -1);
}

TEST(an_answer_may_park)
{
	park(lot, "u-a", -1);
	lot->each = park_within;
	expect(lot, 1, "u-a=n/a ");
	put(lot, "c", "10.0.0.3");
	expect(lot, 2, "u-c=n/c ");
}

/* While no snapshot can be opened, the look is put off; it needs no commit. */
TEST(a_look_that_fails_is_made_up_for)
{
	struct informer_snapshot snaps[64];
	unsigned count = 0;

	while (informer_begin(lot->inf, &snaps[count]) == 0)
		count++;
	park(lot, "u-a", -1);
	dispatch_all(lot->inf);
	while (count > 0)
		informer_end(&snaps[--count]);
	DISPATCH_UNTIL(lot->inf, (test_clock_move(10), atomic_load(&lot->answers) == 1));
	expect(lot, 1, "u-a=n/a ");
}

static void
revoke_within(struct lot *lot)
{
	lot->each = NULL;
	broker_fixture_revoke_oldest(lot->fx);
}

/* The snapshot of an answer is revoked: the next caller gets the object of a new one. */
TEST(a_revoked_snapshot_ends_a_turn_and_no_key)
{
	park(lot, "u-a", -1);
	park(lot, "u-a", -1);
	lot->each = revoke_within;
	/* the reader attaches again after some time */
	DISPATCH_UNTIL(lot->inf, (test_clock_move(100), atomic_load(&lot->answers) >= 2));
	expect(lot, 2, "u-a=n/a u-a=n/a ");
}

/* More changes than keys, and more keys than changes, in any number. */
TEST(many_keys_and_many_changes_find_each_other)
{
	enum { KEYS = 5000 }; /* more than a turn does */
	static char names[KEYS][16];

	for (unsigned i = 0; i < KEYS; i++) {
		snprintf(names[i], sizeof(names[i]), "u-p%u", i);
		park(lot, names[i], -1);
	}
	expect_nothing(lot);
	assert_int_equal(parked_keys(lot), KEYS);
	for (unsigned at = 0, batch = 1; at < KEYS; batch = batch * 2 + 1) {
		for (unsigned i = 0; i < batch && at < KEYS; i++, at++)
			put(lot, names[at] + 2, "10.1.0.1");
		DISPATCH_UNTIL(lot->inf, atomic_load(&lot->answers) >= at);
		assert_int_equal(atomic_load(&lot->answers), at);
	}
	assert_int_equal(parked_keys(lot), 0);
}

struct parker {
	struct lot *lot;
	unsigned number;
	pthread_t thread;
	char names[200][16];
};

static void *
park_many(void *context)
{
	struct parker *p = context;

	for (unsigned i = 0; i < 200; i++) {
		snprintf(p->names[i], sizeof(p->names[i]), "u-%u-%u", p->number, i);
		assert_int_equal(informer_park(p->lot->handler, p->names[i], strlen(p->names[i]),
					       i % 4 == 0 ? 1 : -1, p->names[i]),
				 0);
	}
	return NULL;
}

/* Threads park while another one answers, and the writer changes what they ask for. */
TEST(threads_may_park_while_another_answers)
{
	static struct parker parkers[3];

	assert_int_equal(informer_run(lot->inf), 0);
	for (unsigned t = 0; t < 3; t++) {
		parkers[t] = (struct parker){.lot = lot, .number = t};
		assert_int_equal(pthread_create(&parkers[t].thread, NULL, park_many, &parkers[t]), 0);
	}
	for (unsigned i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u-%u", i % 3, i);
		put(lot, name, "10.1.0.1");
	}
	for (unsigned t = 0; t < 3; t++)
		pthread_join(parkers[t].thread, NULL);
	test_clock_move(1);
	informer_stop(lot->inf);
	assert_int_equal(atomic_load(&lot->answers), 600);
	assert_int_equal(atomic_load(&lot->dones), 1);
}

TEST(bad_options_are_refused)
{
	struct informer_parking_options o = {.size = sizeof(o), .resource = "pods", .on_answer = on_answer};
	struct informer_handler *h;
	static char longest[5000];

	memset(longest, 'x', sizeof(longest));
	assert_int_equal(informer_park(lot->handler, longest, sizeof(longest), 0, NULL), -EINVAL);
	assert_int_equal(informer_park(lot->handler, "", 0, 0, NULL), -EINVAL);
	assert_int_equal(informer_park(NULL, "x", 1, 0, NULL), -EINVAL);
	assert_int_equal(informer_add_parking(lot->inf, &o, NULL), -EINVAL);
	o.on_answer = NULL;
	assert_int_equal(informer_add_parking(lot->inf, &o, &h), -EINVAL);
	o.on_answer = on_answer;
	o.resource = NULL;
	assert_int_equal(informer_add_parking(lot->inf, &o, &h), -EINVAL);
	o.resource = "pods";
	o.by = (enum informer_by)77;
	assert_int_equal(informer_add_parking(lot->inf, &o, &h), -EINVAL);
	informer_stop(lot->inf);
	o.by = INFORMER_BY_KEY;
	assert_int_equal(informer_add_parking(lot->inf, &o, &h), INFORMER_E_STOPPED);
}

/* Without memory no key is parked, and the keys that are parked stay. */
TEST(no_key_is_lost_without_memory)
{
	static struct purse purse = PURSE;
	struct lot poor = {.fx = lot->fx, .lock = PTHREAD_MUTEX_INITIALIZER};
	unsigned refused = 0;

	poor.inf = purse_attach(&purse, lot->fx->socket);
	broker_fixture_wait_answer(poor.inf);
	open_lot(&poor, INFORMER_BY_UID, "pods");
	park(&poor, "u-c", 60000);
	for (size_t left = 0; left < 4; left++) {
		atomic_store(&purse.left, left);
		atomic_store(&purse.fails, 1);
		refused += informer_park(poor.handler, "u-d", 3, 60000, (void *)(uintptr_t) "u-d") == -ENOMEM;
		atomic_store(&purse.left, SIZE_MAX);
	}
	assert_in_range(refused, 2, 3);
	put(lot, "c", "10.0.0.3");
	expect(&poor, 1, "u-c=n/c ");
	informer_detach(poor.inf);
	assert_int_equal(atomic_load(&purse.out), 0);
}
