/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of each exchange, on real sockets: who is admitted, how refusals read, and what is logged. */
#include "gateway_fixture.h"

#include "tests/tools/informer-gateway/access_world.h"
#include "tools/informer-gateway/gate/gatekeeper.h"
#include "writer/base/file.h"

static struct api_resource pods = {.group = "", .version = "v1", .plural = "pods", .namespaced = true};

struct gate {
	struct gateway g;
	struct access_world w;
	struct gw_gatekeeper *keeper;
	struct gw_audit_log *audit;
	char log[256];
	unsigned served, over;
	bool streaming, ended;       /* a watch */
	struct gw_exchange *kept[4]; /* with "?keep": the test answers them */
	unsigned kept_count;
};

static ssize_t
read_stream(void *ctx, char *out, size_t max)
{
	struct gate *gate = ctx;

	(void)out;
	(void)max;
	return gate->ended ? GW_STREAM_END : 0;
}

static void
end_stream(void *ctx)
{
	((struct gate *)ctx)->ended = true;
}

static void
stream_closed(void *ctx)
{
	((struct gate *)ctx)->streaming = false;
}

static const struct gw_stream_ops stream = {read_stream, end_stream, stream_closed};
static struct gate the_gate; /* gw_next() gets no context but the exchange */

static void
serve(struct gw_exchange *x)
{
	struct gate *gate = &the_gate;

	gate->served++;
	if (api_request_is_watch(&x->api)) {
		gate->streaming = true;
		gw_reply_stream(x, 200, "text/plain", &stream, gate);
	} else if (api_request_query(&x->api, "keep")) {
		assert_true(gate->kept_count < 4);
		gate->kept[gate->kept_count++] = x;
		gw_on_gone(x, stream_closed, gate);
	} else {
		x->rv = 40;
		gw_reply_text(x, 200, "text/plain", x->passes ? "passed, not served\n" : "served\n");
	}
}

/* Plays the router: pods are a cached resource, other paths are not. The path is freed after all tests. */
static void
handle(struct gw_exchange *x, void *ctx)
{
	static const char all[] = "/api/v1/pods", web[] = "/api/v1/namespaces/web/pods";
	struct gate *gate = ctx;
	struct api_path *path = calloc(1, sizeof(*path));

	api_path_parse(x->api.url, path);
	x->api.path = path;
	if (strcmp(x->api.url, all) == 0 || strcmp(x->api.url, web) == 0)
		x->api.resource = &pods;
	if (strcmp(x->api.url, web) == 0)
		x->api.namespace_ = "web";
	if (api_request_has(&x->api, "ofNode"))
		x->node = "n1";
	gw_gatekeeper_check(gate->keeper, x, serve);
}

static void
over(struct gw_exchange *x, void *ctx)
{
	struct gate *gate = ctx;
	struct api_path *path = (struct api_path *)(uintptr_t)x->api.path;

	gw_gatekeeper_over(x, gate->keeper);
	if (path)
		api_path_done(path);
	free(path);
	gate->over++;
}

static int
set_up(void **state)
{
	struct gate *gate = &the_gate;

	gateway_begin(&gate->g);
	access_world_open(&gate->w);
	snprintf(gate->log, sizeof(gate->log), "%s", temp_path(gate->g.dir, "audit"));
	assert_int_equal(gw_audit_log_open(gate->log, &gate->audit, NULL), 0);
	gate->keeper = gw_gatekeeper_new(&(struct gw_gatekeeper_options){
		.access = gate->w.access,
		.limits = &(struct gw_limits_config){.requests_by_identity = 2, .watches_by_identity = 1},
		.audit = gate->audit});
	gateway_front(&gate->g, (struct gw_front_options){.over = over, .ctx = gate});
	*state = gate;
	return 0;
}

static struct gw_listener_config *
open_gate(struct gate *gate, enum gw_profile profile, const char *rule)
{
	struct gw_listener_config *l = access_world_listener(&gate->w, profile, rule);

	gateway_listen(
		&gate->g,
		(struct gw_listener_options){
			.profile = l, .address = profile == GW_PROFILE_UNIX ? gate->g.unix_address : NULL},
		handle, gate);
	return l;
}

/* Close everything but the folder. Returns the audit log's text. */
static const char *
close_gate(struct gate *gate)
{
	static char *text;
	size_t length;

	gateway_shut(&gate->g);
	gw_gatekeeper_free(gate->keeper);
	gw_audit_log_close(gate->audit);
	gate->audit = NULL;
	assert_int_equal(file_read(gate->log, 1 << 20, &text, &length, NULL), 0);
	return text;
}

static void
end(struct gate *gate)
{
	if (gate->audit)
		close_gate(gate);
	access_world_close(&gate->w);
	gateway_close(&gate->g);
}

TEAR_DOWN(tear_down, end)
#define TEST(name) TEST_CASE_OF(struct gate *gate, set_up, tear_down, name)

/* Send a request, let the API server answer the review, and expect this reply. */
static void
review(struct gate *gate, struct caller *c, const char *request, const char *answer)
{
	unsigned before = gate->over;

	say(c, request);
	gateway_until(&gate->g, (review_server_answer(&gate->w.server), gate->over > before));
	hear(c, answer);
	forget_heard(c);
}

#define WITH(token, method, path)                                                                            \
	method " " path " HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " token "\r\n\r\n"

#define AS(token, path)                                                                                      \
	"GET " path " HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " token "\r\nimpersonate-USER: "          \
	"eve\r\n\r\n"

/* Each verdict has its message, its code and its audit line. None of them contains a token. */
TEST(each_verdict_has_its_message_and_line)
{
	struct caller *c;
	const char *log;

	open_gate(gate, GW_PROFILE_TOKENS, NULL);
	c = call_tcp(&gate->g);
	review(gate, c, WITH("t-viewer", "GET", "/api/v1/namespaces/web/pods?resourceVersion=12"), "served");
	review(gate, c, WITH("t-viewer", "GET", "/api/v1/pods"),
	       "pods is forbidden: User \\\"viewer\\\" cannot list resource \\\"pods\\\" in API group "
	       "\\\"\\\" at the cluster scope");
	/* a viewer does not learn that the resource is missing */
	review(gate, c, WITH("t-viewer", "GET", "/apis/x.io/v1/namespaces/web/gadgets/a"),
	       "gadgets.x.io \\\"a\\\" is forbidden: User \\\"viewer\\\" cannot get resource \\\"gadgets\\\" "
	       "in API group \\\"x.io\\\" in the namespace \\\"web\\\"");
	review(gate, c, WITH("t-viewer", "GET", "/metrics"), "cannot get path \\\"/metrics\\\"");
	review(gate, c, WITH("t-nobody", "GET", "/api/v1/pods"), "HTTP/1.1 401 ");
	review(gate, c, GET("/api/v1/pods"), "\"reason\":\"Unauthorized\"");
	gate->w.server.code = 500;
	review(gate, c, WITH("t-admin", "GET", "/api/v1/pods"), "HTTP/1.1 503 ");
	assert_int_equal(gate->served, 1);
	log = close_gate(gate);
	assert_non_null(strstr(
		log, "\"user\":\"viewer\",\"verb\":\"list\",\"resource\":\"pods\",\"namespace\":\"web\","
		     "\"rvAsked\":\"12\",\"rv\":\"40\",\"decision\":\"allowed\",\"code\":200,\"bytes\":7,"));
	assert_non_null(strstr(
		log, "\"user\":\"viewer\",\"verb\":\"list\",\"resource\":\"pods\",\"decision\":\"forbidden\","
		     "\"code\":403,"));
	assert_non_null(strstr(log, "\"decision\":\"unauthenticated\""));
	assert_non_null(strstr(log, "\"decision\":\"unknown\""));
	assert_null(strstr(log, "t-viewer"));
	assert_null(strstr(log, "t-nobody"));
}

/* GET /pods is reviewed and refused as by the kubelet, and never passed on. */
TEST(pods_of_the_node_are_reviewed_as_by_the_kubelet)
{
	struct gw_listener_config *l;
	struct caller *c;
	const char *log;

	l = open_gate(gate, GW_PROFILE_TOKENS, NULL);
	c = call_tcp(&gate->g);
	review(gate, c, WITH("t-viewer", "GET", "/api/v1/pods?ofNode"), "served");
	review(gate, c, WITH("t-monitor", "GET", "/api/v1/pods?ofNode"), "served");
	/* permission to list the node's pods is not enough, as at the kubelet */
	gate->w.server.reason = "no rule has it";
	review(gate, c, WITH("t-node", "GET", "/api/v1/pods?ofNode&fieldSelector=spec.nodeName%3Dn1"),
	       "Forbidden (user=system:node:n1, verb=get, resource=nodes, subresource(s)=[pods proxy]): no "
	       "rule has it");
	l->pass_through = true;
	review(gate, c, AS("t-admin", "/api/v1/pods?ofNode"), "impersonation is the API server's to decide");
	log = close_gate(gate);
	assert_non_null(strstr(log, "\"user\":\"monitor\",\"verb\":\"list\",\"resource\":\"pods\","));
}

/* Where no token is reviewed, the scope decides on GET /pods as on other lists of pods. */
TEST(pods_of_the_node_need_pods_in_the_scope)
{
	struct gw_listener_config *l = open_gate(gate, GW_PROFILE_UNIX, "pods?namespaces=web");
	struct caller *c = call_unix(&gate->g);

	assert_int_equal(refs_push(&l->uids, (uint32_t)getuid()), 0);
	review(gate, c, GET("/api/v1/pods?ofNode"), "at the cluster scope: it is not in the scope of");
	assert_int_equal(gw_take_rule(&l->scope, "pods", NULL), 0);
	review(gate, c, GET("/api/v1/pods?ofNode"), "served");
}

/* A request that impersonates is never answered from the arena. It is passed on where that is configured. */
TEST(impersonation_is_never_answered_from_the_arena)
{
	struct gw_listener_config *l;
	struct caller *c;

	l = open_gate(gate, GW_PROFILE_TOKENS, NULL);
	c = call_tcp(&gate->g);
	review(gate, c, AS("t-admin", "/api/v1/pods"), "HTTP/1.1 403 ");
	review(gate, c, AS("t-admin", "/version"), "impersonation is the API server's to decide");
	assert_int_equal(gate->served, 0);
	l->pass_through = true;
	review(gate, c, AS("t-viewer", "/api/v1/pods"), "passed");
	review(gate, c, AS("t-viewer", "/version"), "passed");
	assert_int_equal(gate->w.server.token_reviews, 0);
	review(gate, c, WITH("t-admin", "GET", "/api/v1/pods"), "served");
}

/* The kernel names the peer of a Unix socket. A listed id is admitted, another is refused. */
TEST(a_unix_socket_admits_its_ids)
{
	struct gw_listener_config *l;
	struct caller *c;
	char who[64];
	const char *log;

	l = open_gate(gate, GW_PROFILE_UNIX, "pods?namespaces=web");
	snprintf(who, sizeof(who), "User \\\"uid:%lu\\\" cannot list", (unsigned long)getuid());
	c = call_unix(&gate->g);
	review(gate, c, GET("/api/v1/namespaces/web/pods"), who); /* no id is in the list */
	assert_int_equal(refs_push(&l->uids, (uint32_t)getuid()), 0);
	review(gate, c, GET("/api/v1/namespaces/web/pods"), "served");
	review(gate, c, GET("/api/v1/pods"), "it is not in the scope of this listener");
	review(gate, c, GET("/version"), "served");
	hang_up(c);
	assert_int_equal(gate->w.server.token_reviews, 0);
	log = close_gate(gate);
	assert_non_null(strstr(log, "this listener is not for it"));
}

/* A write is passed on with its caller's token, where that is configured. Without a token it is refused. */
TEST(writes_are_passed_on_with_their_own_token)
{
	struct gw_listener_config *l;
	struct caller *c;

	l = open_gate(gate, GW_PROFILE_TOKENS, NULL);
	c = call_tcp(&gate->g);
	review(gate, c, WITH("t-viewer", "DELETE", "/api/v1/pods"), "cannot deletecollection resource");
	l->pass_through = true;
	review(gate, c, WITH("t-viewer", "DELETE", "/api/v1/pods"), "served"); /* the router's `elsewhere` */
	review(gate, c, WITH("t-viewer", "GET", "/api/v1/namespaces/web/gadgets"), "served");
	review(gate, c, "DELETE /api/v1/pods HTTP/1.1\r\nHost: g\r\n\r\n", "HTTP/1.1 401 ");
	/* such a listener never serves cached resources */
	review(gate, c, WITH("t-viewer", "GET", "/api/v1/pods"), "HTTP/1.1 403 ");
	assert_int_equal(gate->served, 2);
	assert_int_equal(gate->w.server.access_reviews, 2);
}

#define EXEC(token)                                                                                          \
	"POST /api/v1/namespaces/db/pods/a/exec HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\n"              \
	"Upgrade: SPDY/3.1\r\nContent-Length: 0\r\nAuthorization: Bearer " token "\r\n\r\n"

/* An upgrade to another protocol is never passed on. It is refused after a review has admitted the caller. */
TEST(an_upgrade_is_reviewed_and_refused)
{
	struct gw_listener_config *l;
	struct caller *c;

	l = open_gate(gate, GW_PROFILE_TOKENS, "nodes"); /* which does not limit what is passed on */
	l->pass_through = true;
	c = call_tcp(&gate->g);
	review(gate, c, EXEC("t-nobody"), "HTTP/1.1 401 ");
	review(gate, c, EXEC("t-viewer"), "HTTP/1.1 403 ");
	assert_int_equal(gate->served, 0);
	review(gate, c, EXEC("t-admin"), "served"); /* the router's `elsewhere` */
}

static unsigned
under_way(const struct gate *gate)
{
	unsigned all = 0;

	for (int kind = 0; kind < GW_LIMIT_KINDS; kind++)
		all += gw_gatekeeper_under_way(gate->keeper, (enum gw_limit)kind);
	return all;
}

/* Requests of one identity are limited over all its connections. An ended request makes room. */
TEST(requests_are_counted_by_identity)
{
	struct caller *c[4];

	open_gate(gate, GW_PROFILE_TOKENS, NULL);
	for (int i = 0; i < 4; i++)
		c[i] = call_tcp(&gate->g);
	for (unsigned i = 0; i < 2; i++) {
		say(c[i], WITH("t-admin", "GET", "/api/v1/pods?keep=1"));
		gateway_until(&gate->g, (review_server_answer(&gate->w.server), gate->served == i + 1));
	}
	assert_int_equal(under_way(gate), 2);
	review(gate, c[2], WITH("t-admin", "GET", "/api/v1/pods"), "HTTP/1.1 429 ");
	/* running lists do not hinder a get */
	review(gate, c[2], WITH("t-admin", "GET", "/api/v1/namespaces/web/pods/a"), "served");
	review(gate, c[3], WITH("t-viewer", "GET", "/api/v1/namespaces/web/pods"), "served");
	gw_reply_text(gate->kept[1], 200, "text/plain", "late\n");
	hear(c[1], "late");
	gateway_until(&gate->g, gate->over == 4);
	review(gate, c[2], WITH("t-admin", "GET", "/api/v1/pods"), "served");
	for (int i = 0; i < 4; i++)
		hang_up(c[i]);
	gateway_until(&gate->g, under_way(gate) == 0);
}

/* Ask from a new process. Returns true if it is served. */
static bool
another_process_is_served(struct gate *gate, const char *request)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct caller *c = call_unix(&gate->g);
		char answer[1024] = "";

		(void)!write(c->fd, request, strlen(request));
		fcntl(c->fd, F_SETFL, 0);
		(void)!read(c->fd, answer, sizeof(answer) - 1);
		_exit(strstr(answer, "HTTP/1.1 200 ") ? 0 : 1);
	}
	gateway_until(&gate->g, waitpid(child, &status, WNOHANG) == child);
	return status == 0;
}

/* Processes of one user are counted separately. */
TEST(processes_of_one_user_are_counted_separately)
{
	struct gw_listener_config *l = open_gate(gate, GW_PROFILE_UNIX, "pods");
	struct caller *c;

	assert_int_equal(refs_push(&l->uids, (uint32_t)getuid()), 0);
	for (unsigned i = 0; i < 2; i++) {
		say(call_unix(&gate->g), GET("/api/v1/pods?keep=1"));
		gateway_until(&gate->g, gate->served == i + 1);
	}
	c = call_unix(&gate->g);
	review(gate, c, GET("/api/v1/pods"), "HTTP/1.1 429 ");
	assert_true(another_process_is_served(gate, GET("/api/v1/pods")));
	gw_reply_text(gate->kept[0], 200, "text/plain", "late\n");
	gw_reply_text(gate->kept[1], 200, "text/plain", "late\n");
}

/* Send a request that is passed on and lasts until the test answers it. */
static void
begin_passing(struct gate *gate, struct caller *c, const char *request)
{
	unsigned before = gate->kept_count;

	say(c, request);
	gateway_until(&gate->g, gate->kept_count > before);
}

/*
 * Requests that are passed on are counted by token, and watches and followed logs have a limit of their own.
 * Tokens do not share limits.
 */
TEST(requests_passed_on_are_counted_by_token)
{
	struct caller *c[4];

	open_gate(gate, GW_PROFILE_TOKENS, NULL)->pass_through = true;
	for (int i = 0; i < 4; i++)
		c[i] = call_tcp(&gate->g);
	begin_passing(gate, c[0], WITH("t-admin", "GET", "/api/v1/gadgets?keep=1"));
	begin_passing(gate, c[1], WITH("t-admin", "GET", "/api/v1/gadgets?keep=1"));
	review(gate, c[3], WITH("t-admin", "GET", "/api/v1/gadgets"), "HTTP/1.1 429 ");
	review(gate, c[3], WITH("t-viewer", "GET", "/api/v1/gadgets"), "served");
	begin_passing(gate, c[2],
		      WITH("t-admin", "GET", "/api/v1/namespaces/web/pods/a/log?keep=1&follow=true"));
	review(gate, c[3], WITH("t-admin", "GET", "/api/v1/gadgets?watch=1"), "HTTP/1.1 429 ");
	gw_reply_text(gate->kept[0], 200, "text/plain", "over\n");
	hear(c[0], "over");
	review(gate, c[3], WITH("t-admin", "GET", "/api/v1/gadgets"), "served");
	gw_reply_text(gate->kept[1], 200, "text/plain", "over\n");
	gw_reply_text(gate->kept[2], 200, "text/plain", "over\n");
	for (int i = 0; i < 4; i++)
		hang_up(c[i]);
	gateway_until(&gate->g, under_way(gate) == 0);
}

/* A watch ends when its access is revoked, and its audit line says why. */
TEST(a_watch_ends_when_it_is_revoked)
{
	const char *log;

	open_gate(gate, GW_PROFILE_TOKENS, NULL);
	asks(&gate->g, WITH("t-admin", "GET", "/api/v1/pods?watch=1"));
	gateway_until(&gate->g, (review_server_answer(&gate->w.server), gate->streaming));
	virtual_clock_advance(&gate->w.clock, gate->w.config.keep_allowed_ms);
	review_server_answer(&gate->w.server);
	assert_false(gate->ended);
	gate->w.server.grants = NULL;
	virtual_clock_advance(&gate->w.clock, gate->w.config.keep_allowed_ms);
	review_server_answer(&gate->w.server);
	virtual_clock_advance(&gate->w.clock, 0);
	assert_true(gate->ended);
	gateway_until(&gate->g, gate->over == 1);
	log = close_gate(gate);
	assert_non_null(strstr(log, "\"verb\":\"watch\""));
	assert_non_null(strstr(log, "\"why\":\"it is not allowed any more\""));
}

/* A client that leaves while its review hangs leaves nothing behind. */
TEST(a_client_may_leave_before_the_review)
{
	struct caller *c;
	const char *log;

	open_gate(gate, GW_PROFILE_TOKENS, NULL);
	c = asks(&gate->g, WITH("t-admin", "GET", "/api/v1/pods"));
	gateway_until(&gate->g, review_server_waiting(&gate->w.server) == 1);
	hang_up(c);
	gateway_until(&gate->g, gate->over == 1);
	review_server_answer(&gate->w.server);
	assert_int_equal(gate->served, 0);
	log = close_gate(gate);
	assert_non_null(strstr(log, "\"decision\":\"none\",\"code\":0,"));
}
