/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that are dead though nobody says so, over HTTP/1.1 and HTTP/2; with a second for each half
 * minute.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tests/support/transport_world.h"

static const struct http_route routes[] = {
	{.path = "/watch", .status = 200, .stream = true},
	{.path = "/list", .status = 200, .body = "{}"},
	{.path = "/livez", .status = 200, .body = "ok"},
	{0},
};
static const struct http_route closed_routes[] = {
	{.path = "/watch", .status = 200, .stream = true},
	{.path = "/livez", .status = 401, .body = "who?"},
	{0},
};

static int
setup(void **state)
{
	setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1", 1);
	setenv("HTTP2_PING_TIMEOUT_SECONDS", "1", 1);
	return transport_world_setup(state);
}

static int
teardown(void **state)
{
	unsetenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS");
	unsetenv("HTTP2_PING_TIMEOUT_SECONDS");
	return transport_world_teardown(state);
}

static void
serve(struct world *w, const struct http_route *its)
{
	w->server = http_fixture_new(its, NULL, NULL);
	assert_non_null(w->server);
	connect_to(w, http_fixture_url(w->server));
}

static void
begin_watch(struct world *w, struct seen *seen)
{
	get(w, "/watch", TRANSPORT_WATCH, seen);
	http_fixture_send(w->server, "one\n");
	run_until(w, seen->bytes);
}

/*
 * A watch that has nothing to tell goes on as long as its server answers questions, and is not asked about
 * more often than it must.
 */
static void
a_silent_watch_of_a_server_that_answers_goes_on(void **state)
{
	struct world *w = *state;
	struct seen seen = {0};

	serve(w, routes);
	begin_watch(w, &seen);
	run_for(w, 4500);
	assert_int_equal(seen.n_done, 0);
	assert_in_range(http_fixture_count(w->server, "/livez"), 2, 4);
}

/* Whatever is answered is an answer. */
static void
a_refusal_is_an_answer(void **state)
{
	struct world *w = *state;
	struct seen seen = {0};

	serve(w, closed_routes);
	begin_watch(w, &seen);
	run_until(w, http_fixture_count(w->server, "/livez") >= 2);
	run_for(w, 500);
	assert_int_equal(seen.n_done, 0);
}

/*
 * Beside a plugin whose first credentials have expired, and that then does `again`. What is at hand is shown,
 * and refused.
 */
static void
ask_beside_a_plugin(struct world *w, const char *again)
{
	struct seen seen = {0};
	char text[1024];

	snprintf(text, sizeof(text),
		 "#!/bin/sh\ncd %s\n[ ! -e ran ] || %s\necho x >ran\n"
		 "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
		 "\"status\":{\"expirationTimestamp\":\"2001-01-01T00:00:00Z\",\"token\":\"old\"}}'\n",
		 w->dir, again);
	chmod(temp_file(w->dir, "plugin", text), 0755);
	w->config.exec.command = strdup(temp_path(w->dir, "plugin"));
	w->config.exec.api_version = strdup("client.authentication.k8s.io/v1");
	serve(w, closed_routes);
	begin_watch(w, &seen);
	run_until(w, http_fixture_count(w->server, "/livez") >= 2);
	run_for(w, 500);
	assert_int_equal(seen.n_done, 0);
}

static void
the_question_waits_for_no_plugin(void **state)
{
	ask_beside_a_plugin(*state, "exec sleep 1000");
}

static void
the_question_is_asked_though_a_plugin_fails(void **state)
{
	ask_beside_a_plugin(*state, "exit 1");
}

/* While bytes come nobody is asked. */
static void
a_watch_that_speaks_is_not_asked_about(void **state)
{
	struct world *w = *state;
	struct seen seen = {0};

	serve(w, routes);
	begin_watch(w, &seen);
	for (int i = 0; i < 15; i++) {
		http_fixture_send(w->server, "x");
		run_for(w, 200);
	}
	assert_int_equal(http_fixture_count(w->server, "/livez"), 0);
}

/* What is paused here is silent for a reason of ours. */
static void
a_paused_watch_is_not_asked_about(void **state)
{
	struct world *w = *state;
	struct seen seen = {.pause = true};

	serve(w, routes);
	begin_watch(w, &seen);
	run_for(w, 2500);
	assert_int_equal(http_fixture_count(w->server, "/livez"), 0);
	assert_int_equal(seen.n_done, 0);
}

/* Nothing under way, nothing to ask about. */
static void
an_idle_transport_asks_nothing(void **state)
{
	struct world *w = *state;
	struct seen seen = {0};

	serve(w, routes);
	get(w, "/list", 0, &seen);
	run_until(w, seen.n_done);
	run_for(w, 2500);
	assert_int_equal(http_fixture_count(w->server, "/livez"), 0);
}

/* As for client-go, 0 in the environment means never. */
static void
zero_seconds_turn_it_off(void **state)
{
	struct world *w = *state;
	struct seen seen = {0};

	setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "0", 1);
	serve(w, routes);
	begin_watch(w, &seen);
	run_for(w, 2500);
	assert_int_equal(http_fixture_count(w->server, "/livez"), 0);
	assert_int_equal(seen.n_done, 0);
}

/* A time that this process did not run is not the peer's silence: what arrived meanwhile counts. */
static void
an_answer_that_arrived_while_we_slept_counts(void **state)
{
	struct world *w = *state;
	struct seen seen = {0};

	serve(w, routes);
	begin_watch(w, &seen);
	/* is asked, and the answer not read yet, perhaps */
	run_until(w, http_fixture_count(w->server, "/livez") == 1);
	sleep(3);
	run_for(w, 700);
	assert_int_equal(seen.n_done, 0);
}

/* ---- servers that are frozen: the kernel takes connections, and nobody answers -------------- */

static int
accept_one(int listener, const char *answer)
{
	int peer = accept(listener, NULL, NULL);
	char request[4096];

	assert_true(peer >= 0);
	assert_true(recv(peer, request, sizeof(request), 0) > 0);
	assert_int_equal(send(peer, answer, strlen(answer), 0), strlen(answer));
	return peer;
}

static unsigned
waiting_connections(int listener)
{
	unsigned n = 0;

	for (int peer; (peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0; n++)
		close(peer);
	return n;
}

static void
watch_a_frozen_server(struct world *w)
{
	static const char header[] = "HTTP/1.1 200 OK\r\nContent-Type: "
				     "application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n";
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), peer;
	struct seen seen = {0};
	struct transport_stats stats;
	uint64_t began;
	char url[64];

	assert_return_code(bind(listener, (struct sockaddr *)&at, sizeof(at)), errno);
	assert_return_code(listen(listener, 16), errno);
	assert_return_code(getsockname(listener, (struct sockaddr *)&at, &len), errno);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(at.sin_port));
	connect_to(w, url);
	get(w, "/watch", TRANSPORT_WATCH, &seen);
	do {
		uv_run(&w->loop, UV_RUN_ONCE);
		transport_stats(w->transport, &stats);
	} while (stats.requests_started == 0);
	run_for(w, 100);
	peer = accept_one(listener, header);
	run_until(w, seen.bytes == 2);
	began = uv_now(&w->loop);
	run_until(w, seen.n_done);
	assert_int_equal(seen.result, -ETIMEDOUT);
	assert_non_null(strstr(seen.message, "taken for dead"));
	assert_true(uv_now(&w->loop) - began >= 1900);
	transport_stats(w->transport, &stats);
	assert_int_equal(stats.dead_connections, 2); /* its own, and the question's */
	assert_int_equal(fcntl(listener, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(waiting_connections(listener), 1); /* the question's */
	close(peer);
	close(listener);
}

/*
 * HTTP/1.1: a question over another connection finds the whole server frozen, and the watch ends with words
 * for it.
 */
static void
a_watch_of_a_frozen_server_fails(void **state)
{
	watch_a_frozen_server(*state);
}

/* A server that takes longer over an answer than lists may is not dead yet: the question has its own time. */
static void
a_request_timeout_is_not_for_the_question(void **state)
{
	struct world *w = *state;

	w->config.request_timeout_ms = 200;
	watch_a_frozen_server(w);
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

/* HTTP/2: the question goes over the silent connection; its answer keeps all watches on it. */
static void
over_http2_the_question_goes_over_the_same_connection(void **state)
{
	struct world *w = *state;
	struct seen one = {0}, two = {0};
	struct transport_stats stats;
	FILE *out;
	pid_t pid = start_h2(w, 2, &out);

	get(w, "/one", TRANSPORT_WATCH, &one);
	get(w, "/two", TRANSPORT_WATCH, &two);
	run_until(w, one.n_responses && two.n_responses);
	run_for(w, 3500);
	assert_int_equal(one.n_done + two.n_done, 0);
	transport_stats(w->transport, &stats);
	assert_int_equal(stats.connections, 1);
	assert_int_equal(stats.dead_connections, 0);
	for (const char *line[] = {"1 1\n", "1 2\n", "1 3\n", "1 4\n", NULL}, **l = line; *l; l++)
		expect_line(out, *l);
	stop_h2(pid, out);
}

/*
 * HTTP/2: of a frozen server all watches fail together, and what comes next goes over a connection of its
 * own.
 */
static void
over_http2_all_watches_of_a_frozen_server_fail(void **state)
{
	struct world *w = *state;
	struct seen one = {0}, two = {0}, next = {0};
	FILE *out;
	pid_t pid = start_h2(w, 2, &out);
	uint64_t began;

	get(w, "/one", TRANSPORT_WATCH, &one);
	get(w, "/two", TRANSPORT_WATCH, &two);
	run_until(w, one.n_responses && two.n_responses);
	kill(pid, SIGSTOP);
	began = uv_now(&w->loop);
	run_until(w, one.n_done && two.n_done);
	assert_in_range(uv_now(&w->loop) - began, 1900, 15000);
	assert_int_equal(one.result, -ETIMEDOUT);
	assert_int_equal(two.result, -ETIMEDOUT);
	assert_non_null(strstr(two.message, "silent for 2 s"));
	kill(pid, SIGCONT);
	get(w, "/one", TRANSPORT_WATCH, &next);
	run_until(w, next.n_responses);
	for (const char *line[] = {"1 1\n", "1 2\n"}, **l = line; l < line + 2; l++)
		expect_line(out, *l);
	for (char line[64]; fgets(line, sizeof(line), out) && strcmp(line, "2 1\n") != 0;)
		/* the question, which it finds when it is no longer frozen */
		assert_memory_equal(line, "1 ", 2);
	stop_h2(pid, out);
}

#define PING_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	PING_TEST(a_silent_watch_of_a_server_that_answers_goes_on),
	PING_TEST(a_refusal_is_an_answer),
	PING_TEST(the_question_waits_for_no_plugin),
	PING_TEST(the_question_is_asked_though_a_plugin_fails),
	PING_TEST(a_watch_that_speaks_is_not_asked_about),
	PING_TEST(a_paused_watch_is_not_asked_about),
	PING_TEST(an_idle_transport_asks_nothing),
	PING_TEST(zero_seconds_turn_it_off),
	PING_TEST(an_answer_that_arrived_while_we_slept_counts),
	PING_TEST(a_watch_of_a_frozen_server_fails),
	PING_TEST(a_request_timeout_is_not_for_the_question),
	PING_TEST(over_http2_the_question_goes_over_the_same_connection),
	PING_TEST(over_http2_all_watches_of_a_frozen_server_fail),
};
TEST_GROUP(tests, NULL, NULL);
