/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the broker: how they begin, which readers a commit wakes, and how they end. */
#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"
#include "writer/base/log.h"

static uint64_t
head(const struct queue *q)
{
	return atomic_load(&((struct queue *)(uintptr_t)q)->head);
}

/* The reader sends this packet. */
#define SAY(r, words) assert_int_equal(send((r)->fd, &(words), sizeof(words), MSG_NOSIGNAL), sizeof(words))

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

/* Parse the report's readers. cJSON_Delete() the result. */
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

/* The report shows the first reader's first queue with these fields; each is a piece of JSON. */
static void
assert_reported(struct broker_fixture *fx, const char *const *fields)
{
	cJSON *readers = report(fx);
	char *text = cJSON_PrintUnformatted(
		cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(readers, 0), "queues"), 0));

	assert_non_null(text);
	for (; *fields; fields++)
		if (!strstr(text, *fields))
			fail_msg("%s is not in %s", *fields, text);
	cJSON_free(text);
	cJSON_Delete(readers);
}
#define ASSERT_REPORTED(fx, ...) assert_reported(fx, (const char *const[]){__VA_ARGS__, NULL})

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

/* Wait until the broker has read packets that get no answer. */
static void
wait_queues(struct broker_fixture *fx, unsigned queues)
{
	broker_fixture_until(fx, queues_of(fx) == queues);
}

/* A reader may send all its SUBSCRIBEs before it reads an answer, and repeat them. */
RUNNING(a_reader_may_ask_again_before_it_reads)
{
	struct raw_reader *r = raw_reader_new(fx);
	unsigned refused = 0;

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

/* A new queue is complete from the published seq on, and gets each later change. */
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

/* A number in use moves to the new queue. UNSUBSCRIBE ends a queue; other numbers are ignored. */
RUNNING(a_number_in_use_moves_to_the_new_queue)
{
	struct message_unsubscribe end = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_UNSUBSCRIBE, sizeof(end), 0}};
	const struct queue *first, *second;
	struct raw_reader *r = raw_reader_new(fx);

	first = raw_reader_subscribe(r, 0, "pods", NULL, NULL);
	second = raw_reader_subscribe(r, 0, "pods", NULL, NULL);
	assert_int_equal(queues_of(fx), 1);
	broker_fixture_pod(fx, "a");
	assert_int_equal(head(first), 0);
	assert_int_equal(head(second), 2); /* the first commit adds SYNCED */
	end.number = 63;
	SAY(r, end);
	end.number = UINT32_MAX;
	SAY(r, end);
	end.number = 0;
	SAY(r, end);
	wait_queues(fx, 0);
	broker_fixture_pod(fx, "b");
	assert_int_equal(head(second), 2);
	raw_unmap_queue(first);
	raw_unmap_queue(second);
	raw_reader_free(r);
}

/* A reader is woken for its queue, and not for other commits, unless it waits for each commit. */
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
	assert_true(raw_reader_was_woken(commits));
	assert_false(raw_reader_was_woken(queue));
	assert_int_equal(atomic_load(&queue->slot->armed), ARMED_QUEUE);
	broker_fixture_pod(fx, "a");
	assert_true(raw_reader_was_woken(queue));
	assert_int_equal(atomic_load(&queue->slot->armed), 0);
	assert_false(raw_reader_was_woken(commits));
	/* a reader that does not sleep is not signalled */
	broker_fixture_pod(fx, "b");
	assert_false(raw_reader_was_woken(queue));
	assert_false(raw_reader_was_woken(other));
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

/* A consumer has one reader. After that reader has gone, the next one resumes at its acknowledgement. */
RUNNING(a_second_reader_of_a_consumer_is_refused)
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
	assert_memory_equal(second->answer.u.subscribed.lineage, store_fixture_root(fx->store)->lineage, 16);
	raw_reader_free(second);
}

/* An impossible request is refused with a sentence, and the reader stays. */
RUNNING(impossible_requests_are_answered)
{
	struct raw_reader *r = raw_reader_new(fx);

	raw_reader_is_refused(r, SLOT_QUEUES, "pods", NULL, REFUSED_PROTOCOL, "no queue of that number");
	raw_reader_is_refused(r, UINT32_MAX, "pods", NULL, REFUSED_PROTOCOL, "no queue of that number");
	raw_reader_is_refused(r, 0, "", NULL, REFUSED_PROTOCOL, "has a name");
	raw_reader_is_refused(r, 0, "po\nds", NULL, REFUSED_PROTOCOL, "control characters");
	raw_reader_is_refused(r, 0, "pods", "\x1b[31m", REFUSED_PROTOCOL, "control characters");
	assert_int_equal(queues_of(fx), 0);
	raw_unmap_queue(raw_reader_subscribe(r, 0, "pods", NULL, NULL));
	raw_reader_free(r);
}

/* An attached reader that sends anything else is dropped with all its queues. Other readers stay. */
RUNNING(garbage_from_an_attached_reader_drops_it)
{
	struct raw_reader *good = raw_reader_new(fx);
	union {
		struct message_head head;
		char bytes[2000];
	} noise;

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

/* A reader that subscribes again and again and reads no answer is dropped. */
RUNNING(a_reader_that_takes_no_answer_is_dropped)
{
	struct message_subscribe wish = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(wish), 0},
		.resource = "pods"};
	struct raw_reader *r = raw_reader_new(fx);

	while (send(r->fd, &wish, sizeof(wish), MSG_NOSIGNAL) > 0)
		;
	broker_fixture_wait_readers(fx, 0);
	raw_reader_free(r);
}

/* All queues of a reader together have a limit of entries. */
RUNNING(entries_of_a_reader_are_bounded)
{
	struct message_subscribe wish = {.resource = "pods", .entries = UINT32_MAX};
	struct raw_reader *r = raw_reader_new(fx);
	uint64_t entries = 0;

	for (wish.number = 0; wish.number < SLOT_QUEUES; wish.number++) {
		raw_reader_wish(r, &wish);
		entries += r->answer.u.subscribed.entries;
	}
	assert_true(entries <= (uint64_t)SLOT_QUEUES * (QUEUE_ENTRIES_DEFAULT + QUEUE_ENTRIES_MIN));
	raw_reader_free(r);
}

/* The report shows a queue's resource, its fill level, and what it holds back. */
RUNNING(the_report_shows_queues)
{
	char held_back[64];
	struct raw_reader *r;
	const struct queue *q;

	broker_fixture_commit(fx);
	r = raw_reader_new(fx);
	q = raw_reader_subscribe(r, 7, "pods", "default", "agent");
	for (int i = 0; i < 3; i++)
		broker_fixture_pod(fx, "a");
	assert_int_equal(q->capacity, QUEUE_ENTRIES_DEFAULT);
	assert_true(held(fx) > 0);
	snprintf(held_back, sizeof(held_back), "\"held_bytes\":%llu,", (unsigned long long)held(fx));
	ASSERT_REPORTED(fx, held_back, "\"number\":7,", "\"resource\":\"pods\"", "\"namespace\":\"default\"",
			"\"consumer\":\"agent\"", "\"name\":\"agent\"", "\"capacity\":4096,", "\"unread\":3,",
			"\"overflows\":0", "\"open\":true");
	raw_unmap_queue(q);
	raw_reader_free(r);
}

/* A handler is reported by its own name, in any bytes, else by its consumer or its reader. */
RUNNING(a_handler_has_a_name)
{
	struct message_subscribe wish = {.resource = "pods", .name = "web hook"};
	struct raw_reader *r = raw_reader_new(fx);
	char longest[sizeof(wish.name) + 16];

	raw_reader_wish(r, &wish);
	ASSERT_REPORTED(fx, "\"name\":\"web hook\"");
	memcpy(wish.name, "a\n\x1b\xff\"", 6);
	raw_reader_wish(r, &wish);
	ASSERT_REPORTED(fx, "\"name\":\"a???\\\"\"");
	memset(wish.name, 'x', sizeof(wish.name));
	raw_reader_wish(r, &wish);
	snprintf(longest, sizeof(longest), "\"name\":\"%.*s\"", (int)sizeof(wish.name) - 1, wish.name);
	ASSERT_REPORTED(fx, longest);
	wish.name[0] = '\0';
	raw_reader_wish(r, &wish);
	ASSERT_REPORTED(fx, "\"name\":\"raw ?[31m client\"");
	snprintf(wish.consumer, sizeof(wish.consumer), "agent");
	raw_reader_wish(r, &wish);
	ASSERT_REPORTED(fx, "\"name\":\"agent\"");
	raw_reader_free(r);
}

static void
open_log(struct broker_fixture *fx, void *context)
{
	(void)fx;
	log_open(LOG_LEVEL_INFO, context ? fileno(context) : 2);
}

/* How often the log has this text. */
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

/* A handler that falls behind is named in the log, at most once a minute. */
RUNNING(a_handler_that_is_behind_is_named_in_the_log)
{
	struct message_subscribe wish = {
		.resource = "pods", .entries = QUEUE_ENTRIES_MIN, .name = "slow\nhook"};
	FILE *log = tmpfile();
	struct raw_reader *r;
	char name[16];

	assert_non_null(log);
	broker_fixture_do(fx, open_log, log);
	r = raw_reader_new(fx);
	for (wish.number = 0; wish.number < 2; wish.number++)
		raw_reader_wish(r, &wish);
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

/* A resource is wanted if a reader subscribes to it or reports its use. Impossible names are ignored. */
RUNNING(resources_in_use_are_reported)
{
	struct message_want wish = {.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_WANT, sizeof(wish), 0},
				    .resource = "a b"};
	struct raw_reader *r = raw_reader_new(fx);
	char text[WANTED_MAX], expected[WANTED_MAX];

	SAY(r, wish);
	memset(wish.resource, 'x', sizeof(wish.resource)); /* without a terminator */
	SAY(r, wish);
	memset(wish.resource, 0, sizeof(wish.resource));
	SAY(r, wish);
	snprintf(wish.resource, sizeof(wish.resource), "deployments.apps");
	SAY(r, wish);
	raw_unmap_queue(raw_reader_subscribe(r, 0, "pods", NULL, NULL));
	broker_fixture_wanted(fx, text);
	memset(expected, 'x', sizeof(wish.resource));
	snprintf(expected + sizeof(wish.resource), 64, " deployments.apps pods ");
	assert_string_equal(text, expected);
	raw_reader_free(r);
}
