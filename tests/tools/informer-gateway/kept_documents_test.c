/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery that is kept: asked each time while upstream is there, and shown from memory to whom it was
 * shown. */
#include <stdatomic.h>

#include "forward_world.h"
#include "tools/informer-gateway/kept_documents.h"

#define ASK(target, bearer)                                                                                  \
	"GET " target " HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " bearer                                \
	"\r\nAccept: application/json\r\nConnection: close\r\n"

static _Atomic int mode; /* of upstream */
enum { WELL, ILL, SILENT, NEWER };

static bool
respond(struct raw_server *s, struct duplex *d, const struct raw_request *request, void *ctx)
{
	static const char document[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: \"one\"\r\n"
		"Content-Length: 12\r\n\r\n{\"kind\":\"A\"}";
	static const char newer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: \"two\"\r\n"
				    "Content-Length: 12\r\n\r\n{\"kind\":\"B\"}";
	const char *has = raw_header(request, "If-None-Match");
	const char *text = atomic_load(&mode) == NEWER ? newer : document;

	(void)ctx;
	if (atomic_load(&mode) == SILENT) {
		test_clock_move(GW_KEPT_WAIT_MS);
		return raw_server_wait(s);
	}
	if (atomic_load(&mode) == ILL)
		return raw_write_json(d, 503, "{}");
	if (strstr(request->head, "Bearer stranger"))
		return raw_write_json(d, 403, "{\"code\":403}");
	if (has && strcmp(has, "\"one\"") == 0 && atomic_load(&mode) == WELL)
		return duplex_write(d, "HTTP/1.1 304 Not Modified\r\nETag: \"one\"\r\n\r\n", 42);
	return duplex_write(d, text, strlen(text));
}

static void
start(struct forward_world *f)
{
	atomic_store(&mode, WELL);
	upstream_world_start(f->u, false, respond, NULL);
	forward_world_start(f, NULL, false);
	f->kept = gw_kept_documents_new(f->u->upstream);
}

static void
expect_both(struct forward_world *f, const char *request, const char *a, const char *b)
{
	assert_heard(expect(f, request, a), b);
}

/* While upstream is there each request asks it, from the second on by the ETag; its news are ours. */
FORWARD_TEST(what_is_kept_is_asked_for_by_its_etag)
{
	start(f);
	expect_both(f, ASK("/apis", "a") "\r\n", "HTTP/1.1 200", "{\"kind\":\"A\"}");
	assert_null(raw_header(raw_server_request(f->u->server, 0), "If-None-Match"));
	assert_string_equal(raw_header(raw_server_request(f->u->server, 0), "Authorization"), "Bearer a");
	expect_both(f, ASK("/apis", "a") "\r\n", "HTTP/1.1 200", "{\"kind\":\"A\"}");
	assert_string_equal(raw_header(raw_server_request(f->u->server, 1), "If-None-Match"), "\"one\"");
	assert_int_equal(gw_kept_documents_counters(f->kept)->unchanged, 1);
	expect_both(f, ASK("/apis", "a") "If-None-Match: \"one\"\r\n\r\n", "HTTP/1.1 304", "ETag: \"one\"");
	atomic_store(&mode, NEWER);
	expect_both(f, ASK("/apis", "a") "\r\n", "HTTP/1.1 200", "{\"kind\":\"B\"}");
	assert_int_equal(gw_kept_documents_counters(f->kept)->documents, 1);
}

/* Upstream is away, or says nothing: what it said is shown, with a warning, to whom it had shown it; to
 * nobody else. */
FORWARD_TEST(an_absent_server_is_stood_in_for)
{
	start(f);
	expect_both(f, ASK("/version", "a") "\r\n", "HTTP/1.1 200", "{\"kind\":\"A\"}");
	atomic_store(&mode, ILL);
	expect_both(f, ASK("/version", "a") "\r\n", "Warning: 299 - \"the API server", "{\"kind\":\"A\"}");
	expect_both(f, ASK("/version", "b") "\r\n", "HTTP/1.1 503", "ServiceUnavailable");
	expect_both(f, ASK("/version", "a") "Impersonate-User: root\r\n\r\n", "HTTP/1.1 503",
		    "ServiceUnavailable");
	expect_both(f, ASK("/api", "a") "\r\n", "HTTP/1.1 503", "ServiceUnavailable");
	atomic_store(&mode, SILENT);
	expect_both(f, ASK("/version", "a") "\r\n", "Warning: 299 - \"the API server", "{\"kind\":\"A\"}");
}

/* Whom upstream refuses it is refused here, and is not shown it later. */
FORWARD_TEST(a_refusal_is_upstreams)
{
	start(f);
	expect_both(f, ASK("/apis/apps/v1", "a") "\r\n", "HTTP/1.1 200", "{\"kind\":\"A\"}");
	expect_both(f, ASK("/apis/apps/v1", "stranger") "\r\n", "HTTP/1.1 403", "{\"code\":403}");
	atomic_store(&mode, ILL);
	expect_both(f, ASK("/apis/apps/v1", "stranger") "\r\n", "HTTP/1.1 503", "ServiceUnavailable");
}

/* Which paths are discovery's. */
TEST_CASE(discovery_is_known_by_its_path)
{
	static const char *const yes[] = {"/api",     "/api/",       "/api/v1",
					  "/apis",    "/apis/apps",  "/apis/apps/v1",
					  "/version", "/openapi/v3", "/openapi/v3/apis/apps/v1?hash=1",
					  "/apis?a=b"};
	static const char *const no[] = {
		"/",        "/api/v1/pods", "/apis/apps/v1/deployments", "/apiserver", "/versions",
		"/openapi", "/healthz",     "/api/v1/pods?watch=true"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(gw_is_discovery(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(gw_is_discovery(no[i]));
}
