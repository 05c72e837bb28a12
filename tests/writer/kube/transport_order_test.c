/* SPDX-License-Identifier: Apache-2.0 */
/* Requests with method, headers and body: the bytes that the server gets, and the reported answer. */
#include "tests/room.h"
#include "tests/support/raw_server.h"
#include "tests/support/transport_world.h"

static struct raw_server *server;
static char told[4096]; /* the answer's headers, as "name=value;" */

static void
note_headers(void *ctx, const struct transport_response *response)
{
	struct transport_header h = {0};

	told[0] = '\0';
	while (transport_header_next(response, &h)) {
		size_t at = strlen(told);

		snprintf(told + at, sizeof(told) - at, "%s=%s;", h.name, h.value);
	}
	seen_callbacks.on_response(ctx, response);
}

static int
give_bytes(void *ctx, const void *data, size_t len)
{
	return seen_callbacks.on_data(ctx, data, len);
}

static void
give_end(void *ctx, int result, const char *message)
{
	seen_callbacks.on_done(ctx, result, message);
}

static const struct transport_callbacks callbacks = {note_headers, give_bytes, give_end};

static bool
answer(struct raw_server *s, struct duplex *d, const struct raw_request *request, void *ctx)
{
	static const char packed[] = "HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Encoding: gzip\r\n"
				     "X-One: 2\r\nContent-Length: 4\r\n\r\nabcd";
	char line[1100];

	(void)s;
	(void)ctx;
	if (strstr(request->head, " /packed "))
		return duplex_write(d, packed, strlen(packed));
	if (strstr(request->head, " /endless ")) {
		memset(line, 'x', sizeof(line));
		memcpy(line, "X-Big: ", 7);
		memcpy(line + 1022, "\r\n", 2);
		duplex_write(d, "HTTP/1.1 200 OK\r\n", 17);
		for (int i = 0; i < 10240; i++)
			if (!duplex_write(d, line, 1024))
				return false;
		return duplex_write(d, "\r\n", 2);
	}
	return raw_write_json(d, 201, "{}");
}

static int
setup(void **state)
{
	char url[64];

	if (transport_world_setup(state) < 0)
		return -1;
	server = raw_server_new(NULL, NULL, answer, NULL);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", raw_server_port(server));
	connect_to(*state, url);
	return 0;
}

static int
teardown(void **state)
{
	int r = transport_world_teardown(state);

	raw_server_free(server);
	return r;
}

static void
send_order(struct world *w, const struct transport_order *order, struct seen *seen)
{
	seen->world = w;
	assert_int_equal(transport_send(w->transport, order, &callbacks, seen, &seen->request), 0);
	run_until(w, seen->n_done);
}

#define TEST(name) TEST_CASE_OF(struct world *w, setup, teardown, name)

/* A POST arrives with the order's headers, our credentials, and no header of libcurl. */
TEST(a_post_arrives_unchanged)
{
	const char *headers[] = {"Content-Type: application/json", "X-Empty:", NULL};
	struct transport_order order = {.method = "POST",
					.path_and_query = "/a?b=c",
					.headers = headers,
					.body = "{\"x\":1}",
					.body_length = 7};
	struct seen seen = {0};
	const struct raw_request *r;

	send_order(w, &order, &seen);
	assert_int_equal(seen.status, 201);
	r = raw_server_request(server, 0);
	assert_ptr_equal(strstr(r->head, "POST /a?b=c HTTP/1.1\r\n"), r->head);
	assert_string_equal(r->body, "{\"x\":1}");
	assert_string_equal(raw_header(r, "Content-Type"), "application/json");
	assert_string_equal(raw_header(r, "Content-Length"), "7");
	assert_string_equal(raw_header(r, "X-Empty"), "");
	assert_string_equal(raw_header(r, "Accept"), "application/json");
	assert_null(raw_header(r, "Expect"));
}

/* A plain request has the order's headers alone. The answer is passed on unchanged. */
TEST(a_plain_request_adds_no_header)
{
	const char *headers[] = {"User-Agent: theirs", "Authorization: Bearer theirs", NULL};
	struct transport_order order = {
		.path_and_query = "/packed", .flags = TRANSPORT_PLAIN, .headers = headers};
	struct seen seen = {0};
	char expected[256];

	send_order(w, &order, &seen);
	snprintf(expected, sizeof(expected),
		 "GET /packed HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUser-Agent: theirs\r\n"
		 "Authorization: Bearer theirs\r\n\r\n",
		 raw_server_port(server));
	assert_string_equal(raw_server_request(server, 0)->head, expected);
	assert_string_equal(seen.text, "abcd");
	assert_string_equal(told, "X-One=1;Content-Encoding=gzip;X-One=2;Content-Length=4;");
}

/* A write without a body has length 0. A DELETE may have a body. HEAD gets headers alone. */
TEST(every_method_has_its_length)
{
	struct transport_order put = {.method = "PUT", .path_and_query = "/put"};
	struct transport_order delete = {
		.method = "DELETE", .path_and_query = "/d", .body = "{}", .body_length = 2};
	struct seen seen[2] = {{0}, {0}};

	send_order(w, &put, &seen[0]);
	send_order(w, &delete, &seen[1]);
	assert_string_equal(raw_header(raw_server_request(server, 0), "Content-Length"), "0");
	assert_string_equal(raw_server_request(server, 1)->body, "{}");
	assert_int_equal(strncmp(raw_server_request(server, 1)->head, "DELETE /d ", 10), 0);
}

/* A header that would split the request, and an unknown method, are refused. */
TEST(headers_that_split_a_request_are_refused)
{
	static const char *const bad[] = {"Host: else",
					  "content-length: 1",
					  "Transfer-Encoding: chunked",
					  "Connection: close",
					  "X: a\r\nY: b",
					  "X: a\nY: b",
					  "no colon",
					  "X y: z",
					  ": z",
					  "Upgrade: h2c",
					  "TE: trailers"};
	struct seen seen = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *headers[] = {bad[i], NULL};
		struct transport_order order = {.path_and_query = "/", .headers = headers};

		assert_int_equal(transport_send(w->transport, &order, &callbacks, &seen, NULL), -EINVAL);
	}
	for (const char *const *m = (const char *const[]){"", "GET /x", "P\r\nST", "GET\t", NULL}; *m; m++) {
		struct transport_order order = {.method = *m, .path_and_query = "/"};

		assert_int_equal(transport_send(w->transport, &order, &callbacks, &seen, NULL), -EINVAL);
	}
	assert_int_equal(raw_server_count(server), 0);
}

/* Ten megabytes of headers fail the request. Other requests go on. */
TEST(an_endless_header_fails)
{
	struct transport_order endless = {.path_and_query = "/endless"}, after = {.path_and_query = "/after"};
	struct seen first = {0}, second = {0};

	send_order(w, &endless, &first);
	assert_int_equal(first.n_responses, 0);
	assert_int_equal(first.result, -EMSGSIZE);
	send_order(w, &after, &second);
	assert_int_equal(second.result, 0);
}

/* A copied route has no credentials. */
TEST(a_route_holds_no_identity)
{
	const struct kube_client_config from = {.server = "https://us:secret@host:6443/prefix",
						.token = "t",
						.token_file = "/f",
						.username = "u",
						.password = "p",
						.client_cert.file = "/c",
						.client_key.file = "/k",
						.exec.command = "/e",
						.as.user = "root",
						.ca.file = "/ca",
						.tls_server_name = "name"};
	struct kube_client_config to;

	(void)w;
	assert_int_equal(kube_client_config_copy_route(&from, &to), 0);
	assert_string_equal(to.server, "https://host:6443/prefix");
	assert_string_equal(to.ca.file, "/ca");
	assert_string_equal(to.tls_server_name, "name");
	assert_null(to.token);
	assert_null(to.token_file);
	assert_null(to.username);
	assert_null(to.password);
	assert_false(kube_pem_given(&to.client_cert) || kube_pem_given(&to.client_key));
	assert_null(to.exec.command);
	assert_null(to.as.user);
	kube_client_config_done(&to);
}
