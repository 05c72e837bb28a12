/* SPDX-License-Identifier: Apache-2.0 */
/* Finds dead connections over HTTP/1.1 and HTTP/2 though no packet reports them. */
#include "tests/room.h"
#include "tests/support/raw_server.h"
#include "tests/support/temp_dir.h"
#include "tests/support/transport_world.h"
#include "writer/kube/transport_ping.h"

#define IDLE_MS (TRANSPORT_PING_IDLE_S * 1000ull)
#define WAIT_MS (TRANSPORT_PING_WAIT_S * 1000u)
#define LAST_LOOK_MS 200u

static const struct http_route routes[] = {
	{.path = "/watch", .status = 200, .stream = true},
	{.path = "/list", .status = 200, .body = "{}"},
	{.path = TRANSPORT_PING_PATH, .status = 200, .body = "ok"},
	{0},
};
static const struct http_route closed_routes[] = {
	{.path = "/watch", .status = 200, .stream = true},
	{.path = TRANSPORT_PING_PATH, .status = 401, .body = "who?"},
	{0},
};

static void
begin_watch(struct world *w, const struct http_route *its, struct seen *seen)
{
	serve(w, its);
	get(w, "/watch", TRANSPORT_WATCH, seen);
	http_fixture_send(w->server, "one\n");
	run_until(w, seen->bytes);
}

/* The question is asked after 30 s of silence, and no earlier. Its answer is read. */
static void
ask_and_hear(struct world *w, unsigned watches)
{
	unsigned long before = stats_of(w).requests_started;

	test_clock_pass(&w->loop, IDLE_MS - 1);
	assert_int_equal(stats_of(w).requests_started, before);
	assert_int_equal(transport_silent_ms(w->transport), IDLE_MS - 1);
	test_clock_pass(&w->loop, 1);
	run_until(w, stats_of(w).requests_started == before + 1);
	run_until(w, stats_of(w).requests_active == watches);
	assert_int_equal(transport_silent_ms(w->transport), 0);
}

static void
goes_on(struct world *w, const struct http_route *its)
{
	struct seen seen = {0};

	begin_watch(w, its, &seen);
	for (unsigned i = 1; i <= 3; i++) {
		ask_and_hear(w, 1);
		assert_int_equal(http_fixture_count(w->server, TRANSPORT_PING_PATH), i);
	}
	assert_int_equal(stats_of(w).dead_connections, 0);
	assert_int_equal(seen.n_done, 0);
}

#define TEST(name) TEST_CASE_OF(struct world *w, transport_world_setup, transport_world_teardown, name)

/* A silent watch goes on while its server answers a question each 30 s. */
TEST(a_silent_watch_of_a_server_that_answers_goes_on)
{
	goes_on(w, routes);
}

/* A 401 is an answer, too. */
TEST(a_refusal_is_an_answer)
{
	goes_on(w, closed_routes);
}

/* A plugin's credentials have expired; its second run does `again`. */
static void
goes_on_beside_a_plugin(struct world *w, const char *again)
{
	char text[1024];

	snprintf(text, sizeof(text), "cd $D\n[ ! -e ran ] || %s\necho x >ran\n%s", again,
		 EXEC_ANSWER("\"expirationTimestamp\":\"2001-01-01T00:00:00Z\",\"token\":\"old\""));
	use_plugin(w, text);
	goes_on(w, closed_routes);
}

TEST(the_question_waits_for_no_plugin)
{
	goes_on_beside_a_plugin(w, "exec sleep 1000");
}

TEST(the_question_is_asked_though_a_plugin_fails)
{
	goes_on_beside_a_plugin(w, "exit 1");
}

/* No question is asked while bytes come, while the watch is paused, or if the environment sets 0 seconds. */
TEST(a_watch_that_speaks_is_not_asked_about)
{
	struct seen seen = {0};

	begin_watch(w, routes, &seen);
	for (size_t before = seen.bytes; before < 10; before = seen.bytes) {
		test_clock_pass(&w->loop, IDLE_MS - 1);
		http_fixture_send(w->server, "x");
		run_until(w, seen.bytes > before);
	}
	assert_int_equal(stats_of(w).requests_started, 1);
}

static void
asks_nothing(struct world *w, struct seen *seen)
{
	begin_watch(w, routes, seen);
	test_clock_pass(&w->loop, 10 * IDLE_MS);
	assert_int_equal(stats_of(w).requests_started, 1);
	assert_int_equal(seen->n_done, 0);
}

TEST(a_paused_watch_is_not_asked_about)
{
	asks_nothing(w, &(struct seen){.pause = true});
}

TEST(zero_seconds_turn_questions_off)
{
	setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "0", 1);
	asks_nothing(w, &(struct seen){0});
}

TEST(an_idle_transport_asks_nothing)
{
	serve(w, routes);
	fetch(w, "/list", 0);
	test_clock_pass(&w->loop, 10 * IDLE_MS);
	assert_int_equal(stats_of(w).requests_started, 1);
}

/* ---- a server that answers the watch, and the question when the test decides ---- */

static bool
answer_late(struct raw_server *server, struct duplex *d, const struct raw_request *request, void *ctx)
{
	static const char header[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
				     "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n";

	(void)ctx;
	if (strstr(request->head, " /watch "))
		return duplex_write(d, header, strlen(header));
	return raw_server_wait(server) && raw_write_json(d, 200, "{}");
}

/* The question has reached the server. */
static struct raw_server *
ask_late(struct world *w, struct seen *watch)
{
	struct raw_server *server = raw_server_new(NULL, NULL, answer_late, NULL);
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", raw_server_port(server));
	connect_to(w, url);
	get(w, "/watch", TRANSPORT_WATCH, watch);
	run_until(w, watch->bytes);
	test_clock_pass(&w->loop, IDLE_MS);
	run_until(w, raw_server_count(server) == 2);
	return server;
}

/* Time in which this process did not run does not count as silence: bytes that arrived count. */
TEST(an_answer_that_arrived_while_we_slept_counts)
{
	struct seen watch = {0};
	struct raw_server *server = ask_late(w, &watch);

	raw_server_go(server);
	test_clock_move(20000);
	run_until(w, stats_of(w).requests_active == 1);
	test_clock_pass(&w->loop, LAST_LOOK_MS);
	assert_int_equal(stats_of(w).dead_connections, 0);
	assert_int_equal(watch.n_done, 0);
	raw_server_free(server);
}

/* 15 s after the question, and 200 ms for bytes that arrived, the silent connection is cut, no earlier. */
static void
hear_nothing(struct world *w)
{
	test_clock_pass(&w->loop, WAIT_MS + LAST_LOOK_MS - 1);
	assert_int_equal(stats_of(w).dead_connections, 0);
	test_clock_pass(&w->loop, 1);
	assert_int_equal(stats_of(w).dead_connections, 1);
}

/* HTTP/1.1: the question finds the server frozen. The watch ends with the reason. */
TEST(a_watch_of_a_frozen_server_fails)
{
	struct seen watch = {0};
	struct raw_server *server;

	w->config.request_timeout_ms = 200;
	server = ask_late(w, &watch);
	hear_nothing(w);
	run_until(w, watch.n_done);
	assert_int_equal(watch.result, -ETIMEDOUT);
	assert_non_null(strstr(watch.message, "taken for dead"));
	assert_int_equal(raw_server_request(server, 1)->connection, 2);
	raw_server_free(server);
}

static pid_t
start_h2(struct world *w, unsigned watches, FILE **ret_out)
{
	char command[1024], line[64] = "", url[64];
	int ends[2];
	pid_t pid;

	start_tls(w, routes);
	snprintf(command, sizeof(command), "exec python3 tests/support/h2_server.py %s %s %u",
		 temp_path(w->dir, "s.crt"), temp_path(w->dir, "s.key"), watches);
	if (system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null") != 0) {
		print_message("SKIP python3 (3.8 or newer) is missing\n");
		skip();
	}
	assert_return_code(pipe(ends), errno);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	*ret_out = fdopen(ends[0], "r");
	assert_non_null(fgets(line, sizeof(line), *ret_out));
	snprintf(url, sizeof(url), "https://127.0.0.1:%d", atoi(line + strlen("READY ")));
	w->config.ca.file = strdup(temp_path(w->dir, "ca.crt"));
	connect_to(w, url);
	return pid;
}

/* A server with two watches on one connection. */
static pid_t
watch_over_h2(struct world *w, struct seen *one, struct seen *two, FILE **ret_out)
{
	pid_t pid = start_h2(w, 2, ret_out);

	get(w, "/one", TRANSPORT_WATCH, one);
	get(w, "/two", TRANSPORT_WATCH, two);
	run_until(w, one->n_responses && two->n_responses);
	return pid;
}

static void
expect_line(FILE *out, const char *expected)
{
	char line[64] = "";

	assert_non_null(fgets(line, sizeof(line), out));
	assert_string_equal(line, expected);
}

static void
stop_h2(pid_t pid, FILE *out)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	fclose(out);
}

/* HTTP/2: the question uses the silent connection. Its answer keeps all watches on it. */
TEST(over_http2_the_question_goes_over_the_same_connection)
{
	struct seen one = {0}, two = {0};
	FILE *out;
	pid_t pid = watch_over_h2(w, &one, &two, &out);

	ask_and_hear(w, 2);
	ask_and_hear(w, 2);
	assert_int_equal(one.n_done + two.n_done, 0);
	assert_int_equal(stats_of(w).connections, 1);
	assert_int_equal(stats_of(w).dead_connections, 0);
	for (const char *line[] = {"1 1\n", "1 2\n", "1 3\n", "1 4\n", NULL}, **l = line; *l; l++)
		expect_line(out, *l);
	stop_h2(pid, out);
}

/* HTTP/2: all watches of a frozen server fail together. The next watch opens a new connection. */
TEST(over_http2_all_watches_of_a_frozen_server_fail)
{
	struct seen one = {0}, two = {0}, next = {0};
	FILE *out;
	pid_t pid = watch_over_h2(w, &one, &two, &out);

	kill(pid, SIGSTOP);
	test_clock_pass(&w->loop, IDLE_MS);
	hear_nothing(w);
	run_until(w, one.n_done && two.n_done);
	assert_int_equal(one.result, -ETIMEDOUT);
	assert_int_equal(two.result, -ETIMEDOUT);
	assert_non_null(strstr(two.message, "silent for 45 s"));
	kill(pid, SIGCONT);
	get(w, "/one", TRANSPORT_WATCH, &next);
	run_until(w, next.n_responses);
	expect_line(out, "1 1\n");
	expect_line(out, "1 2\n");
	for (char line[64]; fgets(line, sizeof(line), out) && strcmp(line, "2 1\n") != 0;)
		/* the question, which the server reads when it resumes */
		assert_memory_equal(line, "1 ", 2);
	stop_h2(pid, out);
}
