/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials of the transport: renewal, plugins, impersonation. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tests/support/transport_world.h"

static const struct http_route routes[] = {
	{.path = "/open", .status = 200, .body = "{}"},
	{.path = "/new", .status = 200, .body = "welcome", .bearer = "new"},
	{.path = "/2", .status = 200, .body = "{}", .bearer = "token-2"},
	{.path = "/never", .status = 200, .body = "{}", .bearer = "nobody has this"},
	{.path = "/watch", .status = 200, .stream = true, .bearer = "new"},
	{0},
};

/* A plugin whose Nth run gives token-N. */
#define COUNT "cd $D\necho x >>runs\nN=$(grep -c x runs)\n"
#define TOKEN_N "\"token\":\"'token-$N'\""

static size_t
runs(const struct world *w)
{
	return strlen(read_file(w, "runs")) / 2;
}

#define TEST(name) TEST_CASE_OF(struct world *w, transport_world_setup, transport_world_teardown, name)

/* After a 401 the transport reads the token file and asks once more, without a callback. */
TEST(a_401_renews_the_token_and_asks_again)
{
	struct seen second = {0}, watch = {0};

	w->config.token_file = strdup(temp_file(w->dir, "token", "old"));
	serve(w, routes);
	fetch(w, "/open", 0);
	temp_file(w->dir, "token", "new");
	get(w, "/new", TRANSPORT_PROTOBUF | TRANSPORT_DROP_MANAGED, &second); /* as for lists */
	run_until(w, second.n_done);
	assert_int_equal(second.n_responses, 1);
	assert_int_equal(second.status, 200);
	assert_string_equal(second.text, "welcome");
	assert_int_equal(http_fixture_count(w->server, "/new"), 2);
	http_fixture_send(w->server, "event");
	get(w, "/watch", TRANSPORT_WATCH, &watch);
	run_until(w, watch.bytes);
	assert_string_equal(watch.text, "event");
	transport_cancel(watch.request);
	http_fixture_end(w->server);
}

/* A second 401 is the answer. A token that cannot change is sent once. */
TEST(a_second_401_is_the_answer)
{
	struct seen file, fixed;

	w->config.token_file = strdup(temp_file(w->dir, "token", "old"));
	serve(w, routes);
	file = fetch(w, "/never", 0);
	assert_int_equal(file.result, 0);
	assert_int_equal(file.status, 401);
	assert_non_null(strstr(file.text, "401"));
	assert_int_equal(http_fixture_count(w->server, "/never"), 2);
	transport_free(w->transport);

	free(w->config.token_file);
	w->config.token_file = NULL;
	w->config.token = strdup("fixed");
	connect_to(w, http_fixture_url(w->server));
	fixed = fetch(w, "/never", 0);
	assert_int_equal(fixed.status, 401);
	assert_int_equal(http_fixture_count(w->server, "/never"), 3);
}

/* Waiting requests share one run of the plugin. Its credentials serve until they expire. */
TEST(one_run_of_a_plugin_serves_many_requests)
{
	struct seen one = {0}, two = {0};

	use_plugin(w, COUNT EXEC_ANSWER("\"expirationTimestamp\":\"2200-01-01T00:00:00Z\"," TOKEN_N));
	serve(w, routes);
	get(w, "/open", 0, &one);
	get(w, "/open", 0, &two);
	run_until(w, one.n_done && two.n_done);
	assert_int_equal(two.status, 200);
	assert_string_equal(http_fixture_header(w->server, "Authorization"), "Bearer token-1");
	fetch(w, "/open", 0);
	assert_int_equal(runs(w), 1);
}

/* Expired credentials run the plugin again. */
TEST(expired_credentials_are_renewed)
{
	use_plugin(w, COUNT EXEC_ANSWER("\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"," TOKEN_N));
	serve(w, routes);
	fetch(w, "/open", 0);
	test_clock_pass(&w->loop, 999);
	fetch(w, "/open", 0);
	assert_int_equal(runs(w), 1); /* at most once a second */
	test_clock_pass(&w->loop, 1);
	fetch(w, "/open", 0);
	assert_int_equal(runs(w), 2);
	assert_string_equal(http_fixture_header(w->server, "Authorization"), "Bearer token-2");
}

/* A 401 runs the plugin again, whatever expiry it gave. */
TEST(a_401_runs_the_plugin_again)
{
	struct seen seen;

	use_plugin(w, COUNT EXEC_ANSWER(TOKEN_N));
	serve(w, routes);
	seen = fetch(w, "/2", 0);
	assert_int_equal(seen.status, 200);
	assert_int_equal(runs(w), 2);
}

/* A failed plugin ends all waiting requests, with its message. It does not run once for each. */
TEST(a_failing_plugin_ends_waiting_requests)
{
	struct seen one = {0}, two = {0}, three = {0};

	use_plugin(w, COUNT "echo 'login first; token=hunter2' >&2; exit 1");
	serve(w, routes);
	get(w, "/open", 0, &one);
	get(w, "/open", 0, &two);
	get(w, "/open", 0, &three);
	transport_cancel(three.request);
	run_until(w, one.n_done && two.n_done);
	assert_int_equal(one.result, -EACCES);
	assert_int_equal(two.result, -EACCES);
	assert_non_null(strstr(one.message, "failed with exit code 1: login first; token=[redacted]"));
	assert_int_equal(three.n_done, 0);
	assert_int_equal(runs(w), 1);
	assert_int_equal(http_fixture_count(w->server, NULL), 0);
}

TEST(a_freed_transport_ends_its_plugin)
{
	struct seen seen = {0};

	use_plugin(w, COUNT "sleep 1000");
	serve(w, routes);
	get(w, "/open", 0, &seen);
	while (runs(w) == 0)
		uv_run(&w->loop, UV_RUN_NOWAIT);
	transport_free(w->transport);
	w->transport = NULL;
	uv_run(&w->loop, UV_RUN_NOWAIT);
	assert_int_equal(seen.n_done, 0); /* teardown() waits for the loop's last handle */
}

/* Impersonation goes in headers, one for each group. Keys that cannot be in a header's name are escaped. */
TEST(impersonation_stands_in_headers)
{
	w->config.as.user = strdup("system:serviceaccount:web:shop");
	w->config.as.uid = strdup("123");
	kube_pairs_add(&w->config.as.groups, NULL, "system:authenticated");
	kube_pairs_add(&w->config.as.groups, NULL, "dev team");
	kube_pairs_add(&w->config.as.extra, "example.com/scopes%", "view");
	kube_pairs_add(&w->config.as.extra, "example.com/scopes%", "list");
	serve(w, routes);
	fetch(w, "/open", 0);
	assert_string_equal(http_fixture_header(w->server, "Impersonate-User"),
			    "system:serviceaccount:web:shop");
	assert_string_equal(http_fixture_header(w->server, "Impersonate-Uid"), "123");
	assert_string_equal(http_fixture_header(w->server, "Impersonate-Group"),
			    "system:authenticated, dev team");
	assert_string_equal(http_fixture_header(w->server, "Impersonate-Extra-example.com%2Fscopes%25"),
			    "view, list");
}

/* Through a proxy without TLS no secret is sent; impersonation is, as by kubectl. */
TEST(no_secret_goes_without_tls)
{
	struct seen seen;

	w->server = http_fixture_new(routes, NULL, NULL); /* it is the proxy */
	w->config.proxy_url = strdup(http_fixture_url(w->server));
	w->config.token = strdup("hunter2");
	w->config.as.user = strdup("me");
	connect_to(w, "http://api.test:8080");
	seen = fetch(w, "/open", 0);
	assert_int_equal(seen.result, 0);
	assert_string_equal(http_fixture_header(w->server, "Authorization"), "");
	assert_string_equal(http_fixture_header(w->server, "Impersonate-User"), "me");
}

/* The request timeout ends an answer with an end, and no watch. */
TEST(the_request_timeout_is_for_answers_with_an_end)
{
	struct seen list = {0}, watch = {0};

	w->config.token = strdup("new");
	w->config.request_timeout_ms = 200;
	serve(w, routes);
	get(w, "/watch", TRANSPORT_WATCH, &watch);
	get(w, "/watch", 0, &list); /* a stream that does not end in time */
	run_until(w, http_fixture_count(w->server, "/watch") == 2);
	test_clock_pass(&w->loop, 200);
	run_until(w, list.n_done);
	assert_int_equal(list.result, -ETIMEDOUT);
	http_fixture_send(w->server, "event");
	run_until(w, watch.bytes);
	assert_int_equal(watch.n_done, 0);
}

/* The message about an unusable proxy has no password of its URL. */
TEST(a_proxys_password_is_in_no_message)
{
	struct seen seen;

	w->config.proxy_url = strdup("socks9://u:hunter2@proxy:1");
	connect_to(w, "https://api.test:6443");
	seen = fetch(w, "/open", 0);
	assert_true(seen.result < 0);
	assert_null(strstr(seen.message, "hunter2"));
}
