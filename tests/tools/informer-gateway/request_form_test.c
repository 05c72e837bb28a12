/* SPDX-License-Identifier: Apache-2.0 */
/* The form of requests: an ambiguous one is refused, and its connection is closed. */
#include "gateway_fixture.h"
#include "tools/informer-gateway/http/request_form.h"

static void
count(struct gw_exchange *x, void *ctx)
{
	++*(unsigned *)ctx;
	gw_reply_text(x, 200, "text/plain", "served\n");
}

#define HOST "Host: g\r\n"

/* Each ambiguous request gets 400 and reaches no handler, nor does a request hidden after it. */
GATEWAY_TEST(ambiguous_requests_are_refused)
{
	static const char *const requests[] = {
		"POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
		"POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
		"POST / HTTP/1.1\r\n" HOST "Content-Length: +4\r\n\r\nabcd",
		"POST / HTTP/1.1\r\n" HOST "Content-Length: 4, 4\r\n\r\nabcd",
		"POST / HTTP/1.1\r\n" HOST "Content-Length : 4\r\n\r\nabcd",
		"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\n" HOST
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
		"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST HOST "\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET http://other/ HTTP/1.1\r\n" HOST "\r\n",
		"GET * HTTP/1.1\r\n" HOST "\r\n",
		"GET /%zz HTTP/1.1\r\n" HOST "\r\n",
		"GET /% HTTP/1.1\r\n" HOST "\r\n",
		"GET /a?b=%4 HTTP/1.1\r\n" HOST "\r\n",
		"GET /a%00b HTTP/1.1\r\n" HOST "\r\n",
		"GET /a?b=%00 HTTP/1.1\r\n" HOST "\r\n",
		"GET /a%0ab HTTP/1.1\r\n" HOST "\r\n",
		"GET /a/../b HTTP/1.1\r\n" HOST "\r\n",
		"GET /a/%2e%2e/b HTTP/1.1\r\n" HOST "\r\n",
		"GET /a/./b HTTP/1.1\r\n" HOST "\r\n",
		"GET /a#b HTTP/1.1\r\n" HOST "\r\n",
		"GET /a\x7f HTTP/1.1\r\n" HOST "\r\n",
		"GET /a\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n",
		"GET /a b HTTP/1.1\r\n" HOST "\r\n",
		"GET / HTTP/1.1\r\n" HOST "Na me: x\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Name: a\x01"
		"b\r\n\r\n",
		"G(T / HTTP/1.1\r\n" HOST "\r\n",
	};
	unsigned served = 0;

	gateway_listen(g, (struct gw_listener_options){0}, count, &served);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct caller *c = asks(g, requests[i]);

		say(c, GET("/hidden"));
		gateway_until(g, has_ended(c));
		if (served > 0 || (c->heard.len > 0 && !has_heard(c, "HTTP/1.1 400 ")))
			fail_msg("%s: %s", requests[i], c->heard.data);
		hang_up(c);
	}
}

/* A head with a zero byte, a folded header line or a bare LF is refused. */
GATEWAY_TEST(heads_with_hidden_bytes_are_refused)
{
#define ROW(text)                                                                                            \
	{                                                                                                    \
		text, sizeof(text) - 1                                                                       \
	}
	static const struct {
		const char *text;
		size_t length;
	} requests[] = {
		ROW("GET /a\0b HTTP/1.1\r\n" HOST "\r\n"),
		ROW("GET /a HTTP/1.1\r\n" HOST "X-A: one\0two\r\n\r\n"),
		ROW("GET /a HTTP/1.1\r\n" HOST "X-A: one\0\0\0\0two\r\n\r\n"),
		ROW("GET /a HTTP/1.1\r\n" HOST "X-A: one\r\n two\r\n\r\n"),
		ROW("GET /a HTTP/1.1\r\n" HOST "X-A: one\n\r\n"),
	};
	unsigned served = 0;

	gateway_listen(g, (struct gw_listener_options){0}, count, &served);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct caller *c = call_tcp(g);

		say_bytes(c, requests[i].text, requests[i].length);
		gateway_until(g, has_ended(c));
		if (served > 0 || (i > 0 && !has_heard(c, "HTTP/1.1 400 ")))
			fail_msg("request %zu: %s", i, c->heard.data);
	}
}

/* Ordinary requests are served: selectors in escapes, empty segments, HTTP/1.0. */
GATEWAY_TEST(ordinary_requests_are_served)
{
	static const char *const requests[] = {
		GET("/api/v1/pods?labelSelector=app%3Dweb%2Ctier+in+%28a%2Cb%29&limit=500"),
		GET("/apis/apps/v1//deployments"),
		GET("/api/v1/namespaces/kube-system/pods/a.b-c:d"),
		"GET /version HTTP/1.0\r\n\r\n",
		"HEAD /healthz HTTP/1.1\r\n" HOST "\r\n",
		"GET / HTTP/1.1\r\n" HOST "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,*/*\r\n\r\n",
	};
	unsigned served = 0;

	gateway_listen(g, (struct gw_listener_options){0}, count, &served);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		hang_up(hears(g, requests[i], "200 OK"));
	assert_int_equal(served, sizeof(requests) / sizeof(*requests));
}

static bool
is_bearer(const char *header, const char *token)
{
	size_t length;
	const char *got = gw_bearer_token(header, &length);

	return token ? got && length == strlen(token) && memcmp(got, token, length) == 0 : !got;
}

/* A bearer token is one word of token characters, and not too long. */
TEST_CASE(bearers_are_one_word)
{
	char *longest = calloc(1, GW_TOKEN_MAX + 16);

	assert_true(is_bearer("Bearer abc", "abc"));
	assert_true(is_bearer("bearer  a.b-c_~+/=  ", "a.b-c_~+/="));
	assert_true(is_bearer(NULL, NULL));
	assert_true(is_bearer("", NULL));
	assert_true(is_bearer("Bearer", NULL));
	assert_true(is_bearer("Bearer ", NULL));
	assert_true(is_bearer("Bearerabc", NULL));
	assert_true(is_bearer("Basic abc", NULL));
	assert_true(is_bearer("Bearer a b", NULL));
	assert_true(is_bearer("Bearer a,b", NULL));
	assert_true(is_bearer("Bearer a\"b", NULL));
	strcpy(longest, "Bearer ");
	memset(longest + 7, 'x', GW_TOKEN_MAX);
	assert_true(is_bearer(longest, longest + 7));
	longest[7 + GW_TOKEN_MAX] = 'x';
	assert_true(is_bearer(longest, NULL));
	free(longest);
}
