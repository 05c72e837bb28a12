/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways to the API server: who is seen to ask by each, and how small requests end. */
#include "tests/tools/informer-gateway/upstream_world.h"

struct answer {
	struct upstream_world *u;
	int code, n;
	size_t length;
	char body[64], error[256];
};

static void
note(void *ctx, int code, const char *body, size_t length, const char *error)
{
	struct answer *a = ctx;

	a->code = code;
	a->n++;
	a->length = length;
	assert_int_equal(strlen(body), length);
	snprintf(a->body, sizeof(a->body), "%s", body);
	snprintf(a->error, sizeof(a->error), "%s", error);
	uv_stop(&a->u->w->loop);
}

/* "/hang" is not answered, "/long" is more than anybody takes, the rest is 201 {}. */
static bool
respond(struct raw_server *s, struct duplex *d, const struct raw_request *request, void *ctx)
{
	static char kilobyte[1024];

	(void)ctx;
	if (strstr(request->head, " /hang "))
		return raw_server_wait(s);
	if (strstr(request->head, " /long ")) {
		duplex_write(d, "HTTP/1.1 200 OK\r\n\r\n", 19);
		memset(kilobyte, ' ', sizeof(kilobyte));
		while (duplex_write(d, kilobyte, sizeof(kilobyte)))
			;
		return false;
	}
	return raw_write_json(d, 201, "{}");
}

#define TEST(name) TEST_CASE_OF(struct upstream_world *u, upstream_world_setup, upstream_world_teardown, name)

/* A review goes by our own way: our token and certificate, the document as it is. */
TEST(a_review_is_asked_with_our_credentials)
{
	struct answer a = {.u = u};
	const struct raw_request *r;

	upstream_world_start(u, true, respond, NULL);
	gw_upstream_post_json(u->upstream, "/apis/authentication.k8s.io/v1/tokenreviews", "{\"a\":1}", 10000,
			      note, &a);
	assert_int_equal(a.n, 0);
	test_loop_until(&u->w->loop, a.n);
	assert_int_equal(a.code, 201);
	assert_string_equal(a.body, "{}");
	r = raw_server_request(u->server, 0);
	assert_string_equal(raw_header(r, "Authorization"), "Bearer " OWN_TOKEN);
	assert_string_equal(raw_header(r, "Content-Type"), "application/json");
	assert_string_equal(r->body, "{\"a\":1}");
	assert_true(r->certificate);
}

/* A review that hangs ends in its time, others go on; one that was cancelled is not told of. */
TEST(a_request_ends_in_its_time)
{
	struct answer late = {.u = u}, cancelled = {.u = u}, after = {.u = u};
	struct gw_ask *ask;

	upstream_world_start(u, false, respond, NULL);
	gw_upstream_post_json(u->upstream, "/hang", "{}", 100, note, &late);
	ask = gw_upstream_post_json(u->upstream, "/hang", "{}", 100, note, &cancelled);
	gw_ask_cancel(ask);
	test_clock_pass(&u->w->loop, 99);
	assert_int_equal(late.n, 0);
	test_clock_pass(&u->w->loop, 1);
	test_loop_until(&u->w->loop, late.n);
	assert_int_equal(late.code, -ETIMEDOUT);
	assert_string_not_equal(late.error, "");
	gw_upstream_post_json(u->upstream, "/x", "{}", 10000, note, &after);
	test_loop_until(&u->w->loop, after.n);
	assert_int_equal(after.code, 201);
	assert_int_equal(cancelled.n, 0);
}

/* An answer without an end is told once, as too long. */
TEST(an_answer_without_an_end_is_too_long)
{
	struct answer longer = {.u = u};

	upstream_world_start(u, false, respond, NULL);
	gw_upstream_post_json(u->upstream, "/long", "{}", 20000, note, &longer);
	test_loop_until(&u->w->loop, longer.n);
	assert_int_equal(longer.code, -EMSGSIZE);
	assert_true(longer.length <= GW_UPSTREAM_BODY_MAX);
	assert_int_equal(raw_server_count(u->server), 1);
}

/* Nobody listens: that is said at once. */
TEST(an_absent_server_is_said_to_be_absent)
{
	struct answer a = {.u = u};

	upstream_world_start_nowhere(u);
	gw_upstream_post_json(u->upstream, "/x", "{}", 10000, note, &a);
	test_loop_until(&u->w->loop, a.n);
	assert_int_equal(a.code, -ECONNREFUSED);
	assert_non_null(strstr(a.error, "127.0.0.1"));
}
