/* SPDX-License-Identifier: Apache-2.0 */
/* The transport, against a small HTTP server of the test, plain and with TLS. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <zlib.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tests/support/transport_world.h"
#include "writer/base/message.h"
#include "writer/kube/transport_setup.h"

#define BIG	    (32u << 20)

#define UNPACKED 600000u /* size of make_gzip()'s input */
static char gzip_body[4096], damaged_body[4096];
static struct http_route routes[] = {
	{.path = "/packed", .status = 200, .body = gzip_body, .encoding = "gzip"},
	{.path = "/damaged", .status = 200, .body = damaged_body, .encoding = "gzip"},
	{.path = "/api/v1/pods", .status = 200, .body = "{\"kind\":\"PodList\"}"},
	{.path = "/busy", .status = 429, .body = "{\"kind\":\"Status\",\"code\":429}", .retry_after = "7"},
	{.path = "/gone", .status = 410, .body = "{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}"},
	{.path = "/401", .status = 401, .body = "no"},
	{.path = "/moved", .status = 302, .body = "elsewhere"},
	{.path = "/text", .status = 200, .body = "x", .content_type = "text/plain"},
	{.path = "/empty", .status = 200},
	{.path = "/big", .status = 200, .generated = BIG},
	{.path = "/cut", .status = 200, .body = "half", .cut = true},
	{.path = "/watch", .status = 200, .stream = true},
	{0},
};

static void
make_gzip(void)
{
	z_stream z = {.next_out = (Bytef *)gzip_body, .avail_out = sizeof(gzip_body)};
	uint8_t *data = malloc(UNPACKED);

	assert_non_null(data);
	memset(data, 'p', UNPACKED);
	z.next_in = data;
	z.avail_in = UNPACKED;
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	routes[0].length = routes[1].length = sizeof(gzip_body) - z.avail_out;
	deflateEnd(&z);
	free(data);
	memcpy(damaged_body, gzip_body, sizeof(gzip_body));
	damaged_body[20] ^= 0x55;
}

static int
setup_plain(void **state)
{
	make_gzip();
	if (transport_world_setup(state) < 0)
		return -1;
	serve(*state, routes);
	return 0;
}

#define BARE(name) TEST_CASE_OF(struct world *w, transport_world_setup, transport_world_teardown, name)
#define PLAIN(name) TEST_CASE_OF(struct world *w, setup_plain, transport_world_teardown, name)

/* Header, bytes and end are reported in order. The request has a User-Agent. */
PLAIN(a_whole_answer_ends_with_zero)
{
	struct seen seen = fetch(w, "/api/v1/pods?limit=500&labelSelector=a%20in%20(b)", 0);

	assert_int_equal(seen.status, 200);
	assert_string_equal(seen.content_type, "application/json");
	assert_string_equal(seen.text, "{\"kind\":\"PodList\"}");
	assert_int_equal(seen.result, 0);
	assert_string_equal(seen.message, "");
	assert_int_equal(seen.n_responses, 1);
	assert_string_equal(http_fixture_query(w->server), "limit=500&labelSelector=a in (b)");
	assert_string_equal(http_fixture_header(w->server, "User-Agent"), "informerd/" INFORMER_VERSION);
	assert_string_equal(http_fixture_header(w->server, "Authorization"), "");
	assert_int_equal(fetch(w, "/empty", 0).n_responses, 1);
}

/* Status, Retry-After and body of an error are passed on, and the result is 0. */
PLAIN(an_error_answer_is_an_answer)
{
	struct seen busy = {0}, gone = {0}, moved = {0};

	get(w, "/busy", 0, &busy);
	get(w, "/gone", TRANSPORT_WATCH, &gone);
	get(w, "/moved", 0, &moved);
	run_until(w, busy.n_done && gone.n_done && moved.n_done);
	assert_int_equal(busy.status, 429);
	assert_int_equal(busy.retry_after, 7);
	assert_int_equal(busy.result, 0);
	assert_int_equal(gone.status, 410);
	assert_non_null(strstr(gone.text, "Expired"));
	assert_int_equal(moved.status, 302); /* redirects are not followed */
}

/* Answers are counted by code and duration; a watch only by its code. */
PLAIN(answers_are_counted)
{
	struct seen busy = {0}, pods = {0}, watch = {0};
	const struct request_stats *stats = transport_requests(w->transport);

	get(w, "/busy", 0, &busy);
	get(w, "/api/v1/pods", 0, &pods);
	get(w, "/watch", TRANSPORT_WATCH, &watch);
	http_fixture_send(w->server, "one\n");
	run_until(w, busy.n_done && pods.n_done && strcmp(watch.text, "one\n") == 0);
	http_fixture_end(w->server);
	run_until(w, watch.n_done);
	assert_int_equal(stats->codes[429], 1);
	assert_int_equal(stats->codes[200], 2);
	assert_int_equal(stats->codes[0], 0);
	assert_int_equal(stats->count, 2);
}

/* A watch's bytes are passed on when they arrive, not at the end of the answer. */
PLAIN(a_stream_is_delivered_as_it_arrives)
{
	struct seen seen = {0};

	get(w, "/watch", TRANSPORT_WATCH, &seen);
	http_fixture_send(w->server, "one\n");
	run_until(w, strcmp(seen.text, "one\n") == 0);
	assert_int_equal(seen.status, 200);
	assert_int_equal(seen.n_done, 0);
	http_fixture_send(w->server, "two\n");
	run_until(w, strcmp(seen.text, "one\ntwo\n") == 0);
	http_fixture_end(w->server);
	run_until(w, seen.n_done);
	assert_int_equal(seen.result, 0);
}

/* Accept names metadata alone, JSON, protobuf before JSON, or objects without managedFields. */
PLAIN(accept_names_the_wanted_form)
{
#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define LIST_OF ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define ONE_OF ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define DROP ";drop=metadata.managedFields"
	static const struct { unsigned flags; const char *accept;
	} cases[] = {
		{0, "application/json"},
		{TRANSPORT_WATCH, "application/json"},
		{TRANSPORT_AT_HAND, "application/json"},
		{TRANSPORT_METADATA, "application/json" LIST_OF},
		{TRANSPORT_METADATA | TRANSPORT_WATCH, "application/json" ONE_OF},
		{TRANSPORT_METADATA | TRANSPORT_ELSE_WHOLE, "application/json" LIST_OF ",application/json"},
		{TRANSPORT_PROTOBUF, PROTOBUF ",application/json"},
		{TRANSPORT_PROTOBUF | TRANSPORT_WATCH, PROTOBUF ",application/json"},
		{TRANSPORT_PROTOBUF | TRANSPORT_METADATA, PROTOBUF LIST_OF ",application/json" LIST_OF},
		{TRANSPORT_PROTOBUF | TRANSPORT_METADATA | TRANSPORT_WATCH,
		 PROTOBUF ONE_OF ",application/json" ONE_OF},
		{TRANSPORT_DROP_MANAGED, "application/json" DROP},
		{TRANSPORT_DROP_MANAGED | TRANSPORT_PROTOBUF, PROTOBUF DROP ",application/json" DROP},
		{TRANSPORT_DROP_MANAGED | TRANSPORT_PROTOBUF | TRANSPORT_METADATA | TRANSPORT_WATCH,
		 PROTOBUF ONE_OF DROP ",application/json" ONE_OF DROP},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fetch(w, "/empty", cases[i].flags);
		assert_string_equal(http_fixture_header(w->server, "Accept"), cases[i].accept);
	}
}

/* A request that does not trust open connections makes a new one. */
PLAIN(a_fresh_connection_is_made_where_it_is_asked_for)
{
	fetch(w, "/api/v1/pods", 0);
	fetch(w, "/api/v1/pods", 0);
	assert_int_equal(stats_of(w).connections, 1);
	fetch(w, "/api/v1/pods", TRANSPORT_FRESH);
	assert_int_equal(stats_of(w).connections, 2);
}

/* on_data ends a request with the number that it returns. */
PLAIN(on_data_aborts_with_its_number)
{
	struct seen seen = {.answer = -EBADMSG};

	get(w, "/big", 0, &seen);
	run_until(w, seen.n_done);
	assert_int_equal(seen.result, -EBADMSG);
	assert_true(seen.bytes < BIG);
}

/* After a cancel nothing is called back, and other requests go on. */
PLAIN(a_cancelled_request_is_silent)
{
	struct seen inside = {.cancel = true}, header = {.cancel_at_response = true}, early = {0},
		    other = {0};

	get(w, "/big", 0, &inside);
	get(w, "/big", 0, &header);
	get(w, "/api/v1/pods", 0, &early);
	transport_cancel(early.request);
	get(w, "/watch", TRANSPORT_WATCH, &other);
	http_fixture_send(w->server, "x");
	run_until(w, inside.bytes && header.n_responses && other.bytes);
	http_fixture_end(w->server);
	run_until(w, other.n_done);
	assert_int_equal(inside.n_done, 0);
	assert_int_equal(header.n_done, 0);
	assert_int_equal(header.bytes, 0);
	assert_int_equal(early.n_responses, 0);
	assert_int_equal(stats_of(w).requests_active, 0);
}

PLAIN(on_done_may_start_a_request)
{
	struct seen second = {0}, first = {.start = &second, .start_path = "/api/v1/pods"};

	get(w, "/empty", 0, &first);
	run_until(w, second.n_done);
	assert_int_equal(second.status, 200);
}

/* A paused request gets nothing while others go on, and everything after it is resumed. */
PLAIN(a_paused_request_waits_for_resume)
{
	struct seen big = {.pause = true};
	size_t at_pause;

	get(w, "/big", 0, &big);
	run_until(w, big.bytes);
	at_pause = big.bytes;
	for (int i = 0; i < 3; i++)
		fetch(w, "/api/v1/pods", 0);
	assert_int_equal(big.bytes, at_pause);
	transport_resume(big.request); /* pauses again at its next bytes */
	run_until(w, big.bytes > at_pause);
	big.pause = false;
	transport_resume(big.request);
	run_until(w, big.n_done);
	assert_int_equal(big.result, 0);
	assert_int_equal(big.bytes, BIG);
}

/* ---- gzip ---- */

static void
use_compression(struct world *w, enum kube_compression compression)
{
	w->config.compression = compression;
	transport_free(w->transport);
	connect_to(w, http_fixture_url(w->server));
}

/* Gzip is asked for if it pays, or if it is configured. */
PLAIN(gzip_is_asked_for_if_it_pays)
{
	static const struct {
		enum kube_compression compression;
		bool disable;
		unsigned flags;
		const char *encoding;
	} cases[] = {
		{KUBE_COMPRESSION_AUTO, false, 0, ""}, /* the server is on this machine */
		{KUBE_COMPRESSION_GZIP, false, 0, "gzip"},
		{KUBE_COMPRESSION_GZIP, false, TRANSPORT_PROTOBUF, "gzip"},
		{KUBE_COMPRESSION_GZIP, false, TRANSPORT_WATCH | TRANSPORT_PROTOBUF, ""},
		{KUBE_COMPRESSION_GZIP, true, 0, ""},
		{KUBE_COMPRESSION_NONE, false, 0, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		w->config.disable_compression = cases[i].disable;
		use_compression(w, cases[i].compression);
		fetch(w, "/empty", cases[i].flags);
		assert_string_equal(http_fixture_header(w->server, "Accept-Encoding"), cases[i].encoding);
	}
}

/* From another machine gzip is asked for lists in JSON alone. */
TEST_CASE(gzip_is_for_lists_in_json_from_afar)
{
	struct kube_client_config config = {.server = "https://192.0.2.1:6443"};
	struct transport_setup setup;
	char *error = NULL;

	assert_int_equal(transport_setup_init(&setup, &config, &error), 0);
	assert_true(transport_setup_asks_gzip(&setup, 0));
	assert_true(transport_setup_asks_gzip(&setup, TRANSPORT_METADATA));
	assert_false(transport_setup_asks_gzip(&setup, TRANSPORT_PROTOBUF));
	assert_false(transport_setup_asks_gzip(&setup, TRANSPORT_WATCH));
	config.compression = KUBE_COMPRESSION_NONE;
	assert_false(transport_setup_asks_gzip(&setup, 0));
	transport_setup_done(&setup);
}

/* During a pause within gzip, where few bytes become many, nothing comes; afterwards everything, once. */
PLAIN(a_pause_within_gzip_waits_for_resume)
{
	struct seen packed = {.pause = true};

	use_compression(w, KUBE_COMPRESSION_GZIP);
	get(w, "/packed", 0, &packed);
	run_until(w, packed.bytes);
	while (!packed.n_done) {
		size_t before = packed.bytes;
		fetch(w, "/api/v1/pods", 0);
		assert_int_equal(packed.bytes, before);
		transport_resume(packed.request);
		run_until(w, packed.bytes > before || packed.n_done);
	}
	assert_int_equal(packed.result, 0);
	assert_int_equal(packed.bytes, UNPACKED);
}

PLAIN(damaged_gzip_is_an_error)
{
	struct seen damaged = {0};

	use_compression(w, KUBE_COMPRESSION_GZIP);
	get(w, "/damaged", 0, &damaged);
	run_until(w, damaged.n_done);
	assert_int_equal(damaged.result, -EPROTO);
}

/* A request paused before it was sent waits, too. */
PLAIN(a_request_may_be_paused_at_once)
{
	struct seen first = {0};

	get(w, "/api/v1/pods", 0, &first);
	transport_pause(first.request);
	run_until(w, first.n_responses);
	fetch(w, "/empty", 0);
	assert_int_equal(first.bytes, 0);
	transport_resume(first.request);
	run_until(w, first.n_done);
	assert_int_equal(first.bytes, strlen("{\"kind\":\"PodList\"}"));
}

/* on_data that aborts on the bytes kept during a pause ends the request once. */
PLAIN(an_abort_after_resume_ends_once)
{
	struct seen big = {.pause = true};

	get(w, "/big", 0, &big);
	run_until(w, big.bytes);
	for (int i = 0; i < 20; i++) /* let libcurl meet the pause */
		uv_run(&w->loop, UV_RUN_NOWAIT);
	big.answer = -ECANCELED;
	transport_resume(big.request);
	run_until(w, big.n_done);
	for (int i = 0; i < 20; i++)
		uv_run(&w->loop, UV_RUN_NOWAIT);
	assert_int_equal(big.n_done, 1);
	assert_int_equal(big.result, -ECANCELED);
}

/* The transport may be freed in a callback. Nothing is called back afterwards. */
PLAIN(a_callback_may_free_the_transport)
{
	struct seen watch = {0}, freeing = {.free_transport = true};

	get(w, "/watch", TRANSPORT_WATCH, &watch);
	get(w, "/api/v1/pods", 0, &freeing);
	run_until(w, freeing.bytes);
	http_fixture_end(w->server);
	run_until(w, !uv_loop_alive(&w->loop));
	assert_int_equal(freeing.n_done, 0);
	assert_int_equal(watch.n_done, 0);
}

/* An answer that ends before its length is a connection error. */
PLAIN(a_cut_answer_is_an_error)
{
	struct seen seen = fetch(w, "/cut", 0);

	assert_string_equal(seen.text, "half");
	assert_int_equal(seen.result, -ECONNRESET);
	assert_non_null(strstr(seen.message, "ended before the answer did"));
}

/* Without a listener the result is -ECONNREFUSED, with the server's URL. */
BARE(no_listener_is_connection_refused)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	struct seen seen;
	char url[64];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	/* bound without listening, so no other program can take the port */
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	connect_to(w, url);
	seen = fetch(w, "/api", 0);
	close(fd);
	assert_int_equal(seen.result, -ECONNREFUSED);
	assert_int_equal(transport_requests(w->transport)->codes[0], 1); /* no answer */
	assert_int_equal(seen.n_responses, 0);
	assert_non_null(strstr(seen.message, url));
}

/* A path that would break the request line is refused at once. */
PLAIN(impossible_paths_are_refused)
{
	assert_int_equal(transport_get(w->transport, "api", 0, &seen_callbacks, w, NULL), -EINVAL);
	assert_int_equal(transport_get(w->transport, "/a b", 0, &seen_callbacks, w, NULL), -EINVAL);
	assert_int_equal(transport_get(w->transport, "/a\r\nX: y", 0, &seen_callbacks, w, NULL), -EINVAL);
}

/* Without a readable token no request is sent. The message names the file and shows nothing of it. */
BARE(an_unreadable_token_fails_the_request)
{
	struct seen missing, bad;

	w->config.token_file = strdup(temp_path(w->dir, "token"));
	serve(w, routes);
	missing = fetch(w, "/api/v1/pods", 0);
	assert_int_equal(missing.result, -EACCES);
	assert_non_null(strstr(missing.message, w->config.token_file));
	temp_file(w->dir, "token", "se cret\n");
	bad = fetch(w, "/api/v1/pods", 0);
	assert_int_equal(bad.result, -EACCES);
	assert_null(strstr(bad.message, "cret"));
	assert_int_equal(http_fixture_count(w->server, NULL), 0);
}

BARE(a_password_is_sent_as_basic_authentication)
{
	w->config.username = strdup("u");
	w->config.password = strdup("p:w");
	serve(w, routes);
	fetch(w, "/api/v1/pods", 0);
	assert_string_equal(http_fixture_header(w->server, "Authorization"), "Basic dTpwOnc=");
}

/* ---- TLS ---------------------------------------------------------------------------------------- */

static void
connect_tls(struct world *w, const char *host)
{
	char url[64];

	snprintf(url, sizeof(url), "https://%s:%u", host, http_fixture_port(w->server));
	connect_to(w, url);
}

/* The certificate must be by the CA, in a file or inline, and for tls-server-name or the host. */
BARE(a_certificate_is_by_the_ca_and_for_the_name)
{
	static const struct {
		bool file, data;
		const char *name, *host;
		int result;
	} cases[] = {
		{true, false, NULL, "127.0.0.1", 0},
		{false, true, NULL, "127.0.0.1", 0},
		{false, false, NULL, "127.0.0.1", -EKEYREJECTED},
		{true, false, NULL, "localhost", -EKEYREJECTED},
		{true, false, "api.test", "localhost", 0},
		{true, false, "other.test", "127.0.0.1", -EKEYREJECTED},
	};
	char host[64];

	start_tls(w, routes);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kube_pem ca = {.file = (char *)(uintptr_t)temp_path(w->dir, "ca.crt")};
		struct seen seen;

		kube_client_config_done(&w->config);
		w->config = (struct kube_client_config){0};
		if (cases[i].data)
			assert_int_equal(kube_pem_read(&ca, &w->config.ca, NULL), 0);
		free(w->config.ca.file);
		w->config.ca.file = cases[i].file ? strdup(ca.file) : NULL;
		w->config.tls_server_name = cases[i].name ? strdup(cases[i].name) : NULL;
		connect_tls(w, cases[i].host);
		seen = fetch(w, "/api/v1/pods", 0);
		assert_int_equal(seen.result, cases[i].result);
		snprintf(host, sizeof(host), "%s:%u", cases[i].host, http_fixture_port(w->server));
		if (seen.result == 0)
			assert_string_equal(http_fixture_header(w->server, "Host"), host);
		else
			assert_non_null(strstr(seen.message, "certificate-authority"));
		transport_free(w->transport);
		w->transport = NULL;
	}
}

/* insecure-skip-tls-verify accepts any certificate. */
BARE(insecure_accepts_any_certificate)
{
	struct seen seen = {0};

	start_tls(w, routes);
	w->config.insecure_skip_tls_verify = true;
	connect_tls(w, "localhost");
	get(w, "/watch", TRANSPORT_WATCH, &seen);
	http_fixture_send(w->server, "event");
	run_until(w, seen.bytes);
	assert_string_equal(seen.text, "event");
}

/* Plain HTTP on a TLS port fails with a message, without a hang. */
BARE(a_server_that_speaks_no_tls_is_an_error)
{
	struct seen seen;

	w->server = http_fixture_new(routes, NULL, NULL);
	connect_tls(w, "127.0.0.1");
	seen = fetch(w, "/api/v1/pods", 0);
	assert_int_equal(seen.result, -EPROTO);
}
