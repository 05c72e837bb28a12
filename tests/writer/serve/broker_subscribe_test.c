/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues handed out by the broker: to whom, whom a commit wakes, and what becomes of them.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"
#include "writer/base/log.h"
#include "writer/base/log.h"

static uint64_t
head(const struct queue *q)
{
	return atomic_load(&((struct queue *)(uintptr_t)q)->head);
}

static bool
is_readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN);
}

static void
clear(int fd)
{
	uint64_t count;

	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
}

static void
held_bytes(struct broker_fixture *fx, void *context)
{
	store_release_held(fx->store->store);
	*(uint64_t *)context = store_held_bytes(fx->store->store, fx->store->pods, 0);
}

static uint64_t
held(struct broker_fixture *fx)
{
	uint64_t bytes;

	broker_fixture_do(fx, held_bytes, &bytes);
	return bytes;
}

/* The report's readers, parsed; cJSON_Delete() it. */
static void
take_report(struct broker_fixture *fx, void *context)
{
	*(cJSON **)context = broker_readers_json(fx->broker);
}

static cJSON *
report(struct broker_fixture *fx)
{
	cJSON *readers = NULL;

	broker_fixture_do(fx, take_report, (void *)&readers);
	assert_non_null(readers);
	return readers;
}

static unsigned
queues_of(struct broker_fixture *fx)
{
	cJSON *readers = report(fx), *r;
	int n = 0;

	cJSON_ArrayForEach(r, readers)
		n += cJSON_GetArraySize(cJSON_GetObjectItem(r, "queues"));
	cJSON_Delete(readers);
	return (unsigned)n;
}

/* Wait until what was sent without an answer has been heard. */
static void
wait_queues(struct broker_fixture *fx, unsigned queues)
{
	broker_fixture_until(fx, queues_of(fx) == queues);
}

/* ---- what is handed out ---- */

#define RUNNING(name)                                                                                        \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up_running, broker_fixture_tear_down, name)
#define TEST(name)                                                                                           \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

/* All queues may be asked for before an answer is taken, and asked for again. */
RUNNING(answers_may_wait)
{
	struct raw_reader *r;
	unsigned refused = 0;

	r = raw_reader_new(fx);
	for (uint32_t i = 0; i < SLOT_QUEUES; i++)
		raw_subscribe(r->fd, i, "pods", NULL, NULL);
	wait_queues(fx, SLOT_QUEUES);
	for (uint32_t i = 0; i < SLOT_QUEUES; i++) {
		raw_hear(r->fd, &r->answer);
		assert_int_equal(r->answer.u.head.type, MESSAGE_SUBSCRIBED);
		raw_close(&r->answer);
	}
	for (uint32_t i = 0; i < SLOT_QUEUES; i++)
		raw_subscribe(r->fd, i, "no such name", NULL, NULL);
	wait_queues(fx, 0);
	for (uint32_t i = 0; i < SLOT_QUEUES; i++) {
		raw_hear(r->fd, &r->answer);
		refused += r->answer.u.head.type == MESSAGE_UNSUBSCRIBED;
	}
	assert_int_equal(refused, SLOT_QUEUES);
	raw_reader_free(r);
}

/* A reader that subscribes gets a queue complete from the published seq on, and each change after it. */
RUNNING(a_subscriber_gets_each_change)
{
	struct raw_reader *r;
	const struct queue *q;

	broker_fixture_pod(fx, "a");
	r = raw_reader_new(fx);
	atomic_store(&r->slot->queues[5].consumed, 77);
	atomic_store(&r->slot->queues[5].acknowledged, 78);
	q = raw_reader_subscribe(r, 5, "pods", NULL, NULL);
	assert_int_equal(atomic_load(&r->slot->queues[5].consumed), 0);
	assert_int_equal(atomic_load(&r->slot->queues[5].acknowledged), 0);
	assert_int_equal(r->answer.u.subscribed.base, 1);
	assert_int_equal(r->answer.u.subscribed.has_cursor, 0);
	assert_int_equal(q->capacity, QUEUE_ENTRIES_DEFAULT);
	assert_int_equal(head(q), 0);
	broker_fixture_pod(fx, "b");
	assert_int_equal(head(q), 1);
	assert_int_equal(queue_ring(q)[0].seq, 2);
	assert_int_equal(queue_ring(q)[0].kind, QUEUE_ADDED);
	raw_unmap_queue(q);
	raw_reader_free(r);
}

/*
 * A number that is in use is given up for the new queue; UNSUBSCRIBE gives one up; a foreign number is
 * nothing.
 */
RUNNING(a_number_names_one_queue)
{
	struct message_unsubscribe end = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_UNSUBSCRIBE, sizeof(end), 0}};
	const struct queue *first, *second;
	struct raw_reader *r;

	r = raw_reader_new(fx);
	first = raw_reader_subscribe(r, 0, "pods", NULL, NULL);
	second = raw_reader_subscribe(r, 0, "pods", NULL, NULL);
	assert_int_equal(queues_of(fx), 1);
	broker_fixture_pod(fx, "a");
	assert_int_equal(head(first), 0);
	assert_int_equal(head(second), 2); /* the first commit says that it is synced */
	end.number = 63;
	assert_int_equal(send(r->fd, &end, sizeof(end), 0), sizeof(end));
	end.number = UINT32_MAX;
	assert_int_equal(send(r->fd, &end, sizeof(end), 0), sizeof(end));
	end.number = 0;
	assert_int_equal(send(r->fd, &end, sizeof(end), 0), sizeof(end));
	wait_queues(fx, 0);
	broker_fixture_pod(fx, "b");
	assert_int_equal(head(second), 2);
	raw_unmap_queue(first);
	raw_unmap_queue(second);
	raw_reader_free(r);
}

/* ---- who is woken ---- */

/*
 * A reader that sleeps for its queue is woken when something is in it, and not by other commits; one that
 * sleeps for commits by each.
 */
RUNNING(readers_are_woken_for_what_they_wait_for)
{
	struct raw_reader *queue, *commits, *other;
	const struct queue *q, *none;

	broker_fixture_commit(fx);
	queue = raw_reader_new(fx);
	commits = raw_reader_new(fx);
	other = raw_reader_new(fx);
	q = raw_reader_subscribe(queue, 0, "pods", "default", NULL);
	none = raw_reader_subscribe(other, 0, "services", NULL, NULL);
	atomic_store(&queue->slot->armed, ARMED_QUEUE);
	atomic_store(&other->slot->armed, ARMED_QUEUE);
	atomic_store(&commits->slot->armed, ARMED_COMMIT);
	broker_fixture_put(
		fx,
		(const char *const[]){
			"{\"metadata\":{\"name\":\"x\",\"namespace\":\"elsewhere\",\"uid\":\"1\"}}", NULL});
	assert_true(is_readable(commits->eventfd, 10000));
	clear(commits->eventfd);
	assert_false(is_readable(queue->eventfd, 0));
	assert_int_equal(atomic_load(&queue->slot->armed), ARMED_QUEUE);
	broker_fixture_pod(fx, "a");
	assert_true(is_readable(queue->eventfd, 10000));
	clear(queue->eventfd);
	assert_int_equal(atomic_load(&queue->slot->armed), 0);
	assert_false(is_readable(commits->eventfd, 0));
	/* who does not sleep is not signalled */
	broker_fixture_pod(fx, "b");
	assert_false(is_readable(queue->eventfd, 0));
	assert_false(is_readable(other->eventfd, 0));
	assert_int_equal(atomic_load(&other->slot->armed), ARMED_QUEUE);
	assert_int_equal(head(q), 2);
	assert_int_equal(head(none), 0);
	assert_int_equal(broker_fixture_stats(fx).wakeups, 2);
	raw_unmap_queue(q);
	raw_unmap_queue(none);
	raw_reader_free(queue);
	raw_reader_free(commits);
	raw_reader_free(other);
}

/* A sleeper is woken while its queue is overflowed, too. */
TEST(an_overflowed_reader_is_woken)
{
	struct raw_reader *r;
	const struct queue *q;

	broker_fixture_limit_queues(fx, (struct fan_out_limits){64, 64, 1 << 20, 60ull * 1000000000u});
	broker_fixture_start(fx);
	r = raw_reader_new(fx);
	q = raw_reader_subscribe(r, 0, "pods", NULL, NULL);
	assert_int_equal(q->capacity, 64);
	for (int i = 0; i < 70; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		broker_fixture_pod(fx, name);
	}
	assert_int_equal(q->state, QUEUE_OVERFLOWED);
	atomic_store(&r->slot->armed, ARMED_QUEUE);
	broker_fixture_pod(fx, "x");
	assert_true(is_readable(r->eventfd, 10000));
	raw_unmap_queue(q);
	raw_reader_free(r);
}

/* Whatever stands in armed, cursors and cells, the daemon goes on and the others get theirs. */
TEST(nonsense_in_a_slot_hurts_its_reader_only)
{
	struct raw_reader *bad, *good;
	const struct queue *bad_queue, *good_queue;

	broker_fixture_limit_queues(fx, (struct fan_out_limits){256, 256, 1 << 16, 60ull * 1000000000u});
	broker_fixture_start(fx);
	bad = raw_reader_new(fx);
	good = raw_reader_new(fx);
	bad_queue = raw_reader_subscribe(bad, 0, "pods", NULL, "mine");
	good_queue = raw_reader_subscribe(good, 0, "pods", NULL, "its");
	srand(11);
	for (unsigned i = 0; i < 500; i++) {
		uint32_t *words = (uint32_t *)(void *)bad->slot;

		for (size_t k = 0; k < SLOT_BYTES / sizeof(*words); k += i % 7 + 1)
			words[k] = i % 3 ? (uint32_t)rand() * 2654435761u : UINT32_MAX;
		atomic_store(&good->slot->armed, ARMED_QUEUE);
		broker_fixture_pod(fx, i % 2 ? "a" : "b");
		assert_true(is_readable(good->eventfd, 10000));
		clear(good->eventfd);
		assert_true(head(good_queue) > atomic_load(&good->slot->queues[0].consumed));
		atomic_store(&good->slot->queues[0].consumed, head(good_queue));
	}
	assert_int_equal(good_queue->state, QUEUE_OPEN);
	memset(bad->slot, 0, SLOT_BYTES);
	assert_int_equal(store_fixture_verify(fx->store), 0);
	raw_unmap_queue(bad_queue);
	raw_unmap_queue(good_queue);
	raw_reader_free(bad);
	raw_reader_free(good);
}

/* ---- readers that go ---- */

/* A reader that is killed with unread entries gives its queues up, and what they held. */
RUNNING(a_killed_reader_lets_go_of_what_it_held)
{
	int ready[2], status;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct raw_reader *r = raw_reader_new(fx);

		raw_reader_subscribe(r, 0, "pods", NULL, "c");
		raw_reader_subscribe(r, 1, "pods", NULL, NULL);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &status, 1), 1);
	for (int i = 0; i < 20; i++)
		broker_fixture_put(
			fx, (const char *const[]){i % 2 ? "{\"metadata\":{\"name\":\"a\",\"namespace\":\"x\","
							  "\"uid\":\"1\"},\"spec\":1}"
							: "{\"metadata\":{\"name\":\"a\",\"namespace\":\"x\","
							  "\"uid\":\"1\"},\"spec\":2}",
						  NULL});
	assert_true(held(fx) > 0);
	assert_int_equal(queues_of(fx), 2);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	broker_fixture_wait_readers(fx, 0);
	assert_int_equal(held(fx), 0);
	close(ready[0]);
	close(ready[1]);
}

/* ---- consumers ---- */

/* Two readers do not sit as one consumer; when the first goes, the second gets where it had got to. */
RUNNING(a_consumer_is_one_reader)
{
	struct raw_reader *first, *second;

	broker_fixture_pod(fx, "a");
	broker_fixture_pod(fx, "b");
	first = raw_reader_new(fx);
	second = raw_reader_new(fx);
	raw_unmap_queue(raw_reader_subscribe(first, 3, "pods", NULL, "agent"));
	assert_int_equal(first->answer.u.subscribed.has_cursor, 0);
	raw_reader_is_refused(second, 0, "pods", "agent", REFUSED_CONSUMER, "another reader");
	raw_reader_is_refused(first, 4, "pods", "agent", REFUSED_CONSUMER, "another reader");
	atomic_store(&first->slot->queues[3].acknowledged, 2);
	raw_reader_free(first);
	broker_fixture_wait_readers(fx, 1);
	raw_unmap_queue(raw_reader_subscribe(second, 0, "pods", NULL, "agent"));
	assert_int_equal(second->answer.u.subscribed.has_cursor, 1);
	assert_int_equal(second->answer.u.subscribed.seq, 2);
	assert_memory_equal(second->answer.u.subscribed.lineage, root_at(&fx->store->arena->view,
			    atomic_load(&fx->store->arena->header->root))->lineage, 16);
	raw_reader_free(second);
}

/* ---- what is refused ---- */

/* What cannot be is answered with a sentence, and the reader stays. */
RUNNING(impossible_wishes_are_answered)
{
	struct raw_reader *r;

	r = raw_reader_new(fx);
	raw_reader_is_refused(r, SLOT_QUEUES, "pods", NULL, REFUSED_PROTOCOL, "no queue of that number");
	raw_reader_is_refused(r, UINT32_MAX, "pods", NULL, REFUSED_PROTOCOL, "no queue of that number");
	raw_reader_is_refused(r, 0, "", NULL, REFUSED_PROTOCOL, "has a name");
	raw_reader_is_refused(r, 0, "po\nds", NULL, REFUSED_PROTOCOL, "control characters");
	raw_reader_is_refused(r, 0, "pods", "\x1b[31m", REFUSED_PROTOCOL, "control characters");
	assert_int_equal(queues_of(fx), 0);
	raw_unmap_queue(raw_reader_subscribe(r, 0, "pods", NULL, NULL));
	raw_reader_free(r);
}

/* An attached reader that sends anything else is dropped with all that it had; the others stay. */
RUNNING(garbage_from_an_attached_reader_ends_it)
{
	struct raw_reader *good;
	union {
		struct message_head head;
		char bytes[2000];
	} noise;

	good = raw_reader_new(fx);
	raw_unmap_queue(raw_reader_subscribe(good, 0, "pods", NULL, NULL));
	srand(5);
	for (int i = 0; i < 200; i++) {
		struct raw_reader *bad = raw_reader_new(fx);
		size_t n = (size_t)rand() % sizeof(noise) + 1;

		raw_unmap_queue(raw_reader_subscribe(bad, 1, "pods", NULL, NULL));
		for (size_t k = 0; k < n; k++)
			noise.bytes[k] = (char)rand();
		if (i % 2 && n >= sizeof(noise.head))
			noise.head = (struct message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION,
							   (uint16_t)(rand() % 12), (uint32_t)n, 0};
		if (n == sizeof(struct message_unsubscribe) || n == sizeof(struct message_subscribe))
			n--;
		assert_int_equal(send(bad->fd, &noise, n, MSG_NOSIGNAL), n);
		raw_hear(bad->fd, &bad->answer);
		assert_int_equal(bad->answer.length, 0);
		raw_reader_free(bad);
	}
	broker_fixture_wait_readers(fx, 1);
	assert_int_equal(queues_of(fx), 1);
	raw_reader_free(good);
}

/* A reader that asks for queues and never takes an answer is dropped. */
RUNNING(a_reader_that_takes_no_answer_is_dropped)
{
	struct message_subscribe wish = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(wish), 0},
		.resource = "pods"};
	struct raw_reader *r;

	r = raw_reader_new(fx);
	while (send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL) > 0)
		;
	broker_fixture_wait_readers(fx, 0);
	raw_reader_free(r);
}

/* The entries of one reader's queues are bounded, however much it asks for. */
RUNNING(entries_of_a_reader_are_bounded)
{
	struct message_subscribe wish = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(wish), 0},
		.resource = "pods",
		.entries = UINT32_MAX};
	struct raw_reader *r;
	uint64_t entries = 0;

	r = raw_reader_new(fx);
	for (wish.number = 0; wish.number < SLOT_QUEUES; wish.number++) {
		assert_int_equal(send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL), sizeof(wish));
		raw_hear(r->fd, &r->answer);
		assert_int_equal(r->answer.u.head.type, MESSAGE_SUBSCRIBED);
		entries += r->answer.u.subscribed.entries;
		raw_close(&r->answer);
	}
	assert_true(entries <= (uint64_t)SLOT_QUEUES * (QUEUE_ENTRIES_DEFAULT + QUEUE_ENTRIES_MIN));
	raw_reader_free(r);
}

/* ---- the report ---- */

/* The report shows each queue: what it is for, how full it is, what it holds back. */
RUNNING(the_report_shows_queues)
{
	struct raw_reader *r;
	cJSON *readers, *q;

	broker_fixture_commit(fx);
	r = raw_reader_new(fx);
	raw_unmap_queue(raw_reader_subscribe(r, 7, "pods", "default", "agent"));
	for (int i = 0; i < 3; i++)
		broker_fixture_pod(fx, "a");
	readers = report(fx);
	q = cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(readers, 0), "queues"), 0);
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(q, "number")), 7);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(q, "resource")), "pods");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(q, "namespace")), "default");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(q, "consumer")), "agent");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(q, "name")), "agent");
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(q, "capacity")), QUEUE_ENTRIES_DEFAULT);
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(q, "unread")), 3);
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(q, "held_bytes")) > 0);
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(q, "overflows")), 0);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(q, "open")));
	cJSON_Delete(readers);
	raw_reader_free(r);
}

/* Subscribe, and assert what the report calls the handler. */
static void
assert_named(struct broker_fixture *fx, struct raw_reader *r, struct message_subscribe *wish,
	     const char *expected)
{
	cJSON *readers, *q;

	wish->head = (struct message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(*wish),
					   0};
	assert_int_equal(send(r->fd, wish, sizeof(*wish), MSG_NOSIGNAL), sizeof(*wish));
	raw_hear(r->fd, &r->answer);
	assert_int_equal(r->answer.u.head.type, MESSAGE_SUBSCRIBED);
	raw_close(&r->answer);
	readers = report(fx);
	q = cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(readers, 0), "queues"), 0);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(q, "name")), expected);
	cJSON_Delete(readers);
}

/* A handler is called as it says, whatever bytes these are, else as its consumer or its reader. */
TEST(a_handler_has_a_name)
{
	struct message_subscribe wish = {.resource = "pods", .name = "web hook"};
	char longest[sizeof(wish.name)];
	struct raw_reader *r;

	broker_fixture_start(fx);
	r = raw_reader_new(fx);
	assert_named(fx, r, &wish, "web hook");
	memcpy(wish.name, "a\n\x1b\xff\"", 6);
	assert_named(fx, r, &wish, "a???\"");
	memset(wish.name, 'x', sizeof(wish.name));
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_named(fx, r, &wish, longest);
	wish.name[0] = '\0';
	assert_named(fx, r, &wish, "raw ?[31m client");
	snprintf(wish.consumer, sizeof(wish.consumer), "agent");
	assert_named(fx, r, &wish, "agent");
	raw_reader_free(r);
}

static void
open_log(struct broker_fixture *fx, void *context)
{
	(void)fx;
	log_open(LOG_LEVEL_INFO, context ? fileno(context) : 2);
}

/* How often a text stands in the log. */
static unsigned
count_in(FILE *log, const char *text)
{
	char line[1024];
	unsigned count = 0;

	rewind(log);
	while (fgets(line, sizeof(line), log))
		count += strstr(line, text) != NULL;
	return count;
}

/* Who does not keep up is named in the log, once a minute at most. */
TEST(a_handler_that_is_behind_is_named_in_the_log)
{
	struct message_subscribe wish = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(wish), 0},
		.resource = "pods",
		.entries = QUEUE_ENTRIES_MIN,
		.name = "slow\nhook"};
	FILE *log = tmpfile();
	struct raw_reader *r;
	char name[16];

	assert_non_null(log);
	broker_fixture_start(fx);
	broker_fixture_do(fx, open_log, log);
	r = raw_reader_new(fx);
	for (wish.number = 0; wish.number < 2; wish.number++) {
		assert_int_equal(send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL), sizeof(wish));
		raw_hear(r->fd, &r->answer);
		raw_close(&r->answer);
	}
	for (unsigned i = 0; i < 2 * QUEUE_ENTRIES_MIN; i++) {
		if (i == QUEUE_ENTRIES_MIN / 2)
			assert_int_equal(count_in(log, "does not keep up"), 0);
		snprintf(name, sizeof(name), "p%u", i);
		broker_fixture_pod(fx, name);
	}
	assert_int_equal(count_in(log, "info pods: handler slow?hook of raw ?[31m client (pid "), 1);
	assert_int_equal(count_in(log, "does not keep up"), 1);
	broker_fixture_do(fx, open_log, NULL);
	raw_reader_free(r);
	fclose(log);
}

/* Who subscribes to a resource, or says that it looks at it, wants it; what cannot be a name is nobody's. */
RUNNING(what_readers_look_at_is_told)
{
	struct message_want wish = {.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_WANT, sizeof(wish), 0},
				    .resource = "a b"};
	struct raw_reader *r;
	char text[WANTED_MAX], expected[WANTED_MAX];

	r = raw_reader_new(fx);
	assert_int_equal(send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL), sizeof(wish));
	memset(wish.resource, 'x', sizeof(wish.resource)); /* fills its field, without a terminator */
	assert_int_equal(send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL), sizeof(wish));
	memset(wish.resource, 0, sizeof(wish.resource));
	assert_int_equal(send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL), sizeof(wish));
	snprintf(wish.resource, sizeof(wish.resource), "deployments.apps");
	assert_int_equal(send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL), sizeof(wish));
	raw_unmap_queue(raw_reader_subscribe(r, 0, "pods", NULL, NULL));
	broker_fixture_wanted(fx, text);
	memset(expected, 'x', sizeof(wish.resource));
	snprintf(expected + sizeof(wish.resource), 64, " deployments.apps pods ");
	assert_string_equal(text, expected);
	raw_reader_free(r);
}
