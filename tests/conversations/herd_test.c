/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fifty writers share an API server that goes away and comes back. The tests count, in virtual time, when the
 * writers send requests and which. Each test runs in JSON and in protobuf.
 */
#include "tests/conversations/settle.h"
#include "tests/room.h"
#include "writer/base/log.h"

#define WRITERS  50u
#define STEP_MS  20u
#define LIVED_MS 1000u
#define DOWN_MS  60000u
#define BACK_MS  60000u
#define WINDOW_MS 100u
#define TRIES_MAX 800u

struct herd {
	uv_loop_t loop;
	enum talk_wire wire;
	struct talk_server *server;
	struct talk_client *writers[WRITERS];
	struct settling settling;
	uint64_t tries[TRIES_MAX];	/* when, after the server went away */
	size_t try_count;
};

static void
serve(struct herd *h, const char *words)
{
	char *text = strdup(words), *error = NULL;

	if (talk_server_do(h->server, text, &error) < 0)
		fail_msg("%s", error);
	free(text);
}

static int
set_up(void **state, enum talk_wire wire)
{
	struct herd *h = calloc(1, sizeof(*h));
	char *error = NULL;

	h->wire = wire;
	log_open(LOG_LEVEL_ERROR, 2);
	uv_loop_init(&h->loop);
	h->server = talk_server_new(false);
	h->settling = (struct settling){ &h->loop, h->server, h->writers, WRITERS, 0, 0 };
	for (unsigned i = 0; i < WRITERS; i++) {
		struct talk_client_options options = {
			&h->loop, talk_server_port(h->server), "pods?watchList=false", TALK_DRAWN, 1000 + i,
			h->wire};

		if (talk_client_new(&options, &h->writers[i], &error) < 0)
			fail_msg("%s", error);
	}
	*state = h;
	return 0;
}

static int
in_json(void **state)
{
	return set_up(state, TALK_JSON);
}

static int
in_protobuf(void **state)
{
	return set_up(state, TALK_PROTOBUF);
}

static int
tear_down(void **state)
{
	struct herd *h = *state;
	int r;

	for (unsigned i = 0; i < WRITERS; i++)
		talk_client_free(h->writers[i]);
	uv_run(&h->loop, UV_RUN_DEFAULT);
	r = uv_loop_close(&h->loop);
	talk_server_free(h->server);
	log_open(LOG_LEVEL_INFO, 2);
	free(h);
	return r;
}

/* Advance all clocks by ms, and note each request. */
static void
pass(struct herd *h, uint64_t *now, uint64_t ms)
{
	for (uint64_t end = *now + ms; *now < end; *now += STEP_MS) {
		bool asked = false;

		for (unsigned i = 0; i < WRITERS; i++) {
			struct talk_client_wire before, after;

			talk_client_wire(h->writers[i], &before);
			virtual_clock_advance(talk_client_clock(h->writers[i]), STEP_MS);
			talk_client_wire(h->writers[i], &after);
			asked |= after.begun > before.begun;
			if (after.begun > before.begun && h->try_count < TRIES_MAX)
				h->tries[h->try_count++] = *now + STEP_MS;
		}
		if (asked)
			assert_int_equal(settle(&h->settling), 0);
	}
}

static uint64_t
requests_begun(const struct herd *h)
{
	struct talk_client_wire wire;
	uint64_t sum = 0;

	for (unsigned i = 0; i < WRITERS; i++) {
		talk_client_wire(h->writers[i], &wire);
		sum += wire.begun;
	}
	return sum;
}

/* The most tries within any WINDOW_MS after `from`. */
static size_t
densest(const struct herd *h, uint64_t from)
{
	size_t most = 0;

	for (size_t i = 0; i < h->try_count; i++) {
		size_t count = 0;

		if (h->tries[i] < from)
			continue;
		for (size_t j = i; j < h->try_count && h->tries[j] < h->tries[i] + WINDOW_MS; j++)
			count++;
		most = count > most ? count : most;
	}
	return most;
}

static size_t
count_lines(struct herd *h, const char *begin)
{
	char *log = talk_server_log(h->server, 0), *rest = log, *line;
	size_t count = 0;

	while ((line = strsep(&rest, "\n")))
		count += strncmp(line, begin, strlen(begin)) == 0 && strstr(line, "-> 200") != NULL;
	free(log);
	return count;
}

/* The timeouts of watches are spread over [300, 600) s. */
static void
expect_uniform_timeouts(struct herd *h)
{
	char *log = talk_server_log(h->server, 0), *rest = log, *line;
	unsigned count = 0, below = 0, least = 600, most = 0, sum = 0, timeout;

	while ((line = strsep(&rest, "\n"))) {
		const char *at = strstr(line, " timeout=");

		if (!at || !strstr(line, "-> 200") || sscanf(at, " timeout=%u", &timeout) != 1)
			continue;
		count++;
		sum += timeout;
		below += timeout < 450;
		least = timeout < least ? timeout : least;
		most = timeout > most ? timeout : most;
	}
	free(log);
	assert_int_equal(count, 2 * WRITERS);
	assert_in_range(least, 300, 320);
	assert_in_range(most, 580, 599);
	assert_in_range(sum, 425 * 2 * WRITERS, 475 * 2 * WRITERS);
	assert_in_range(below, WRITERS * 3 / 4, WRITERS * 5 / 4);
}

static void
start_all(struct herd *h)
{
	serve(h, "pods a b at 20");
	for (unsigned i = 0; i < WRITERS; i++)
		talk_client_start(h->writers[i]);
	assert_int_equal(settle(&h->settling), 0);
	assert_int_equal(count_lines(h, "LIST"), WRITERS);
	assert_int_equal(count_lines(h, "WATCH"), WRITERS);
	for (unsigned i = 0; i < WRITERS && h->wire == TALK_PROTOBUF; i++)
		assert_true(talk_client_kept_to_protobuf(h->writers[i]));
}

/*
 * Each writer retries at once, as client-go does, and is refused. After that no tenth of a second sees more
 * than a quarter of the first retries, nor more than a sixth of later ones. All watch again; none lists.
 */
static void
many_writers_do_not_come_back_together(void **state)
{
	struct herd *h = *state;
	uint64_t now = 0, begun;

	start_all(h);
	pass(h, &now, LIVED_MS);
	assert_int_equal(h->try_count, 0);
	begun = requests_begun(h);
	serve(h, "down");
	assert_int_equal(settle(&h->settling), 0);
	assert_int_equal(requests_begun(h), begun + WRITERS); /* each once, without a wait */
	serve(h, "change a@25");
	pass(h, &now, 1600);
	assert_int_equal(h->try_count, WRITERS); /* each once more, after 0.8 to 1.6 s */
	assert_true(h->tries[0] >= LIVED_MS + 800);
	assert_in_range(densest(h, 0), 2, WRITERS / 4);
	pass(h, &now, DOWN_MS - 1600);
	assert_in_range(densest(h, LIVED_MS + 1600), 1, WRITERS / 6);
	serve(h, "up");
	h->try_count = 0;
	pass(h, &now, BACK_MS);
	assert_int_equal(h->try_count, WRITERS);
	assert_in_range(densest(h, 0), 1, WRITERS / 6);
	print_message("the last came %llu ms after the first, at most %zu within %u ms\n",
		      (unsigned long long)(h->tries[WRITERS - 1] - h->tries[0]), densest(h, 0), WINDOW_MS);

	assert_int_equal(count_lines(h, "LIST"), WRITERS);
	assert_int_equal(count_lines(h, "WATCH"), 2 * WRITERS);
	expect_uniform_timeouts(h);
	for (unsigned i = 0; i < WRITERS; i++) {
		char *store = talk_client_store(h->writers[i]);

		assert_string_equal(store, "a@25 b@2 at 25");
		free(store);
	}
}

/* The server forgets its history. The LISTs are spread over 0.8 s. Writers show their old content. */
static void
many_writers_do_not_list_together(void **state)
{
	struct herd *h = *state;
	char *error = NULL;
	uint64_t now = 0;

	start_all(h);
	if (talk_server_rule(h->server, "when WATCH idle then 410 times 50", &error) < 0)
		fail_msg("%s", error);
	assert_int_equal(settle(&h->settling), 0);
	pass(h, &now, 780);
	assert_int_equal(h->try_count, 0);
	pass(h, &now, 820);
	assert_int_equal(h->try_count, WRITERS);
	assert_in_range(densest(h, 0), 2, WRITERS / 4);
	assert_int_equal(count_lines(h, "LIST"), 2 * WRITERS);
	assert_int_equal(count_lines(h, "WATCH"), 2 * WRITERS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(many_writers_do_not_come_back_together, in_json, tear_down),
	cmocka_unit_test_setup_teardown(many_writers_do_not_list_together, in_json, tear_down),
	cmocka_unit_test_setup_teardown(many_writers_do_not_come_back_together, in_protobuf, tear_down),
	cmocka_unit_test_setup_teardown(many_writers_do_not_list_together, in_protobuf, tear_down),
};
TEST_GROUP(tests, NULL, NULL);
