/* SPDX-License-Identifier: Apache-2.0 */
/* The two connections to the API server: the credentials of each, and how reviews end. */
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

/* The server: no answer to "/hang", too long a one to "/long", else 201 {}. */
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

static void *
review(struct upstream_world *u, const char *path, const char *document, struct answer *answer)
{
	struct gw_review_way way = gw_upstream_reviews(u->upstream);
	void *call = way.post(way.ctx, path, document, note, answer);

	assert_non_null(call);
	return call;
}

#define TEST(name) TEST_CASE_OF(struct upstream_world *u, upstream_world_setup, upstream_world_teardown, name)

/* A review is sent with our token and certificate, and its document is unchanged. */
TEST(a_review_is_asked_with_our_credentials)
{
	struct answer a = {.u = u};
	const struct raw_request *r;

	upstream_world_start(u, true, respond, NULL);
	review(u, "/apis/authentication.k8s.io/v1/tokenreviews", "{\"a\":1}", &a);
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

/* A cancelled review calls nobody back. The other reviews go on. */
TEST(a_cancelled_review_is_not_reported)
{
	struct answer cancelled = {.u = u}, after = {.u = u};
	void *call;

	upstream_world_start(u, false, respond, NULL);
	call = review(u, "/hang", "{}", &cancelled);
	gw_upstream_reviews(u->upstream).cancel(call);
	review(u, "/x", "{}", &after);
	test_loop_until(&u->w->loop, after.n);
	assert_int_equal(after.code, 201);
	assert_int_equal(cancelled.n, 0);
}

/* An answer without an end is reported once, as too long. */
TEST(an_answer_without_an_end_is_too_long)
{
	struct answer longer = {.u = u};

	upstream_world_start(u, false, respond, NULL);
	review(u, "/long", "{}", &longer);
	test_loop_until(&u->w->loop, longer.n);
	assert_int_equal(longer.code, -EMSGSIZE);
	assert_true(longer.length <= GW_UPSTREAM_BODY_MAX);
	assert_int_equal(raw_server_count(u->server), 1);
}

TEST(an_absent_server_is_reported_at_once)
{
	struct answer a = {.u = u};

	upstream_world_start_nowhere(u);
	review(u, "/x", "{}", &a);
	test_loop_until(&u->w->loop, a.n);
	assert_int_equal(a.code, -ECONNREFUSED);
	assert_non_null(strstr(a.error, "127.0.0.1"));
}
