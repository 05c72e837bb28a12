/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery against a small API server of the test's own. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/http_fixture.h"
#include "writer/kube/api_lists.h"
#include "writer/kube/discovery.h"
#include "writer/base/message.h"

#define WATCHDOG_MS 30000
#define ALL	    "\"verbs\":[\"get\",\"list\",\"watch\"]"
#define CORE                                                                                                 \
	"{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":["                              \
	"{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"Pod\"," ALL              \
	",\"shortNames\":[\"po\"]},"                                                                         \
	"{\"name\":\"pods/"                                                                                  \
	"log\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"Pod\",\"verbs\":[\"get\"]},"             \
	"{\"name\":\"nodes\",\"singularName\":\"\",\"namespaced\":false,\"kind\":\"Node\"," ALL              \
	",\"shortNames\":[\"no\"]},"                                                                         \
	"{\"name\":\"events\",\"singularName\":\"event\",\"namespaced\":true,\"kind\":\"Event\"," ALL "},"   \
	"{\"name\":\"bindings\",\"singularName\":\"binding\",\"namespaced\":true,\"kind\":\"Binding\","      \
	"\"verbs\":[\"create\"]}]}"
#define GROUPS                                                                                               \
	"{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":["                                      \
	"{\"name\":\"apps\",\"versions\":[{\"groupVersion\":\"apps/"                                         \
	"v1\",\"version\":\"v1\"},{\"groupVersion\":\"apps/v1beta1\","                                       \
	"\"version\":\"v1beta1\"}],\"preferredVersion\":{\"version\":\"v1\"}},"                              \
	"{\"name\":\"events.k8s.io\",\"versions\":[{\"version\":\"v1\"}],\"preferredVersion\":{\"version\":" \
	"\"v1\"}},"                                                                                          \
	"{\"name\":\"../"                                                                                    \
	"evil\",\"versions\":[{\"version\":\"v1\"}],\"preferredVersion\":{\"version\":\"v1\"}},"             \
	"{\"name\":\"example.com\",\"versions\":[{\"version\":\"v1\"}],\"preferredVersion\":{\"version\":"   \
	"\"v1\"}},"                                                                                          \
	"{\"name\":\"metrics.k8s.io\",\"versions\":[{\"version\":\"v1beta1\"}],\"preferredVersion\":{"       \
	"\"version\":\"v1beta1\"}}]}"
#define LIST(resources) "{\"kind\":\"APIResourceList\",\"resources\":[" resources "]}"
#define DEPLOYMENTS                                                                                          \
	LIST("{\"name\":\"deployments\",\"singularName\":\"deployment\",\"namespaced\":true,\"kind\":"       \
	     "\"Deployment\"," ALL ",\"shortNames\":[\"deploy\"]}")
#define OLD                                                                                                  \
	LIST("{\"name\":\"deployments\",\"singularName\":\"deployment\",\"namespaced\":true,\"kind\":"       \
	     "\"Deployment\"," ALL "},"                                                                      \
	     "{\"name\":\"relics\",\"singularName\":\"relic\",\"namespaced\":true,\"kind\":\"Relic\"," ALL   \
	     "}")
#define WIDGETS                                                                                              \
	LIST("{\"name\":\"widgets\",\"singularName\":\"widget\",\"namespaced\":true,\"kind\":"               \
	     "\"Widget\"," ALL "}")
#define EVENTS                                                                                               \
	LIST("{\"name\":\"events\",\"singularName\":\"event\",\"namespaced\":true,\"kind\":\"Event\"," ALL   \
	     "}")

#define ENTRY(name, kind, singular, scope, more)                                                             \
	"{\"resource\":\"" name "\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"" kind      \
	"\"},\"scope\":\"" scope "\",\"singularResource\":\"" singular "\"," ALL more "}"
#define GROUP_OF(name) "{\"metadata\":{\"name\":\"" name "\"},\"versions\":["
#define VERSION_OF(version, more) "{\"version\":\"" version "\"," more "\"resources\":["
#define SCALE ",\"shortNames\":[\"deploy\"],\"subresources\":[{\"subresource\":\"scale\"}]"
/* clang-format off */
#define AGGREGATED                                                                                           \
	"{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\","                     \
	"\"metadata\":{},\"items\":["                                                                        \
	GROUP_OF("apps") VERSION_OF("v1", "\"freshness\":\"Current\",")                                      \
	ENTRY("deployments", "Deployment", "deployment", "Namespaced", SCALE)                                \
	"]}," VERSION_OF("v1beta1", "")                                                                      \
	ENTRY("deployments", "Deployment", "deployment", "Namespaced", "") ","                               \
	ENTRY("relics", "Relic", "", "Cluster", "") "]}]},"                                                  \
	GROUP_OF("../evil") VERSION_OF("v1", "") ENTRY("x", "X", "x", "Cluster", "") "]}]},"                 \
	GROUP_OF("example.com") VERSION_OF("v1", "\"freshness\":\"Stale\",") "]}]}]}"
#define FRESH                                                                                                \
	"{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\","                     \
	"\"metadata\":{},\"items\":["                                                                        \
	GROUP_OF("apps") VERSION_OF("v1", "\"freshness\":\"Current\",")                                      \
	ENTRY("deployments", "Deployment", "deployment", "Namespaced", SCALE) "]}]}]}"
/* clang-format on */

static const struct http_route aggregated[] = {
	{.path = "/api/v1", .status = 200, .body = CORE},
	{.path = "/apis", .status = 200, .body = AGGREGATED},
	{.path = "/apis/apps/v1", .status = 500},
	{.path = "/apis/apps/v1beta1", .status = 500},
	{.path = "/apis/example.com/v1", .status = 200, .body = WIDGETS},
	{0},
};

/* The same, and nothing of it stale. */
static const struct http_route tagged[] = {
	{.path = "/api/v1", .status = 200, .body = CORE},
	{.path = "/apis", .status = 200, .body = FRESH, .etag = "\"A1\""},
	{0},
};
static const struct http_route stale[] = {
	{.path = "/api/v1", .status = 200, .body = CORE},
	{.path = "/apis", .status = 200, .body = AGGREGATED, .etag = "\"A1\""},
	{.path = "/apis/example.com/v1", .status = 200, .body = WIDGETS},
	{0},
};

static const struct http_route cluster[] = {
	{.path = "/api/v1", .status = 200, .body = CORE},
	{.path = "/apis", .status = 200, .body = GROUPS},
	{.path = "/apis/apps/v1", .status = 200, .body = DEPLOYMENTS},
	{.path = "/apis/apps/v1beta1", .status = 200, .body = OLD},
	{.path = "/apis/events.k8s.io/v1", .status = 200, .body = EVENTS},
	{.path = "/apis/example.com/v1", .status = 200, .body = WIDGETS},
	{.path = "/apis/metrics.k8s.io/v1beta1",
	 .status = 503,
	 .body = "{\"kind\":\"Status\",\"message\":\"down\",\"code\":503}"},
	{0},
};

struct world {
	uv_loop_t loop;
	uv_timer_t watchdog;
	struct http_fixture *server;
	struct transport *transport;
	struct discovery *discovery;
	struct discovery_memory *memory; /* or NULL */
	bool done, late;
	int result;
	char message[512];
};

static void
on_watchdog(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
	uv_stop(timer->loop);
}

static void
on_done(void *ctx, struct discovery *discovery, int result, const char *message)
{
	struct world *w = ctx;

	(void)discovery;
	w->done = true;
	w->result = result;
	snprintf(w->message, sizeof(w->message), "%s", message);
	uv_stop(&w->loop);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	signal(SIGPIPE, SIG_IGN);
	uv_loop_init(&w->loop);
	uv_timer_init(&w->loop, &w->watchdog);
	w->watchdog.data = &w->late;
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;
	int r;

	discovery_free(w->discovery);
	transport_free(w->transport);
	uv_close((uv_handle_t *)&w->watchdog, NULL);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	r = uv_loop_close(&w->loop);
	http_fixture_free(w->server);
	free(w);
	return r;
}

/* Asked again about the same names, if there is something to remember. */
static void
ask(struct world *w, const char *const *names)
{
	size_t n = 0;
	int r;

	while (names[n])
		n++;
	discovery_free(w->discovery);
	w->discovery = NULL;
	w->done = false;
	r = w->memory ? discovery_start_again(w->transport, names, n, w->memory, on_done, w, &w->discovery,
					      NULL)
		      : discovery_start(w->transport, names, n, on_done, w, &w->discovery, NULL);
	assert_int_equal(r, 0);
	uv_timer_start(&w->watchdog, on_watchdog, WATCHDOG_MS, 0);
	while (!w->done && !w->late)
		uv_run(&w->loop, UV_RUN_ONCE);
	uv_timer_stop(&w->watchdog);
	if (w->late)
		fail_msg("discovery was not done in %d ms", WATCHDOG_MS);
}

/* Ask a server with these routes about names; *names ends with NULL. */
static void
discover(struct world *w, const struct http_route *routes, const char *const *names)
{
	struct kube_client_config config = {0};

	w->server = http_fixture_new(routes, NULL, NULL);
	assert_non_null(w->server);
	config.server = (char *)(uintptr_t)http_fixture_url(w->server);
	assert_int_equal(transport_new(&w->loop, &config, &w->transport, NULL), 0);
	ask(w, names);
}

#define NAMES(...) (const char *const[]){__VA_ARGS__, NULL}

static void
assert_resolves(const struct world *w, const char *name, const char *path)
{
	_cleanup_(message_freep) char *error = NULL, *is = NULL;
	const struct kube_resource *resource;

	if (discovery_resolve(w->discovery, name, &resource, &error) < 0)
		fail_msg("%s", error);
	is = kube_resource_path(resource, NULL);
	assert_string_equal(is, path);
}

static void
assert_unresolved(const struct world *w, const char *name, int code, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	const struct kube_resource *resource;

	assert_int_equal(discovery_resolve(w->discovery, name, &resource, &error), code);
	assert_non_null(error);
	if (!strstr(error, message))
		fail_msg("'%s' is not in '%s'", message, error);
}

/* Names that core has cost one request. */
static void
core_names_cost_one_request(void **state)
{
	struct world *w = *state;

	discover(w, cluster, NAMES("pods", "po", "Pod", "no"));
	assert_int_equal(w->result, 0);
	assert_resolves(w, "pods", "/api/v1/pods");
	assert_resolves(w, "po", "/api/v1/pods");
	assert_resolves(w, "Pod", "/api/v1/pods");
	assert_resolves(w, "no", "/api/v1/nodes");
	assert_int_equal(http_fixture_count(w->server, NULL), 1);
}

/* Names with a group cost core, the list of groups, and that group. */
static void
a_named_group_is_asked_alone(void **state)
{
	struct world *w = *state;

	discover(w, cluster, NAMES("widgets.v1.example.com", "widgets.example.com"));
	assert_resolves(w, "widgets.v1.example.com", "/apis/example.com/v1/widgets");
	assert_resolves(w, "widgets.example.com", "/apis/example.com/v1/widgets");
	assert_int_equal(http_fixture_count(w->server, NULL), 3);
}

/* An unqualified name is looked for in all preferred versions, and only then in the others. */
static void
unqualified_names_prefer_preferred_versions(void **state)
{
	struct world *w = *state;

	discover(w, cluster, NAMES("deploy", "widget"));
	assert_resolves(w, "deploy", "/apis/apps/v1/deployments");
	assert_resolves(w, "widget", "/apis/example.com/v1/widgets");
	assert_int_equal(http_fixture_count(w->server, "/apis/apps/v1beta1"), 0);
}

/* A resource that only an older version has is found there; a version can be named. */
static void
older_versions_are_found(void **state)
{
	struct world *w = *state;

	discover(w, cluster, NAMES("relics", "deployments.v1beta1.apps"));
	assert_resolves(w, "relics", "/apis/apps/v1beta1/relics");
	assert_resolves(w, "deployments.v1beta1.apps", "/apis/apps/v1beta1/deployments");
}

/*
 * Where the server tells of everything at once, two requests are enough: for short names, older versions, and
 * what has no namespace.
 */
static void
aggregated_discovery_costs_two_requests(void **state)
{
	const struct kube_resource *relics;
	struct world *w = *state;

	discover(w, aggregated, NAMES("deploy", "relics", "deployments.v1beta1.apps", "pods"));
	assert_non_null(strstr(http_fixture_header(w->server, "Accept"),
			       "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
	assert_resolves(w, "deploy", "/apis/apps/v1/deployments");
	assert_resolves(w, "deployments.v1beta1.apps", "/apis/apps/v1beta1/deployments");
	assert_resolves(w, "relics", "/apis/apps/v1beta1/relics");
	assert_resolves(w, "pods", "/api/v1/pods");
	assert_int_equal(discovery_resolve(w->discovery, "relics", &relics, NULL), 0);
	assert_false(relics->namespaced);
	assert_string_equal(relics->kind, "Relic");
	assert_string_equal(relics->singular, "relic");
	assert_int_equal(http_fixture_count(w->server, "/apis"), 1);
	assert_int_equal(http_fixture_count(w->server, "/apis/apps/v1"), 0);
	assert_int_equal(http_fixture_count(w->server, "/apis/example.com/v1"), 0);
}

/*
 * What the server calls stale is read by itself; an unknown name is refused with the nearest of what is
 * known.
 */
static void
a_stale_group_is_read_by_itself(void **state)
{
	struct world *w = *state;

	discover(w, aggregated, NAMES("widgets", "deploymnts"));
	assert_resolves(w, "widgets", "/apis/example.com/v1/widgets");
	assert_unresolved(w, "deploymnts", -ENOENT, "did you mean deployments.apps?");
	assert_int_equal(http_fixture_count(w->server, "/apis/example.com/v1"), 1);
	assert_int_equal(http_fixture_count(w->server, "/apis/apps/v1"), 0);
}

/* An ambiguous name means core; the group chooses the other. */
static void
an_ambiguous_name_means_core(void **state)
{
	struct world *w = *state;

	discover(w, cluster, NAMES("events", "events.events.k8s.io"));
	assert_resolves(w, "events", "/api/v1/events");
	assert_resolves(w, "events.events.k8s.io", "/apis/events.k8s.io/v1/events");
}

/* An unknown name is refused with the nearest, in whichever group that is. */
static void
an_unknown_name_suggests_the_nearest(void **state)
{
	static const struct http_route routes[] = {
		{.path = "/api/v1", .status = 200, .body = CORE},
		{.path = "/apis",
		 .status = 200,
		 .body = "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"apps\",\"versions\":[{"
			 "\"version\":\"v1\"}],\"preferredVersion\":{\"version\":\"v1\"}}]}"},
		{.path = "/apis/apps/v1", .status = 200, .body = DEPLOYMENTS},
		{0},
	};
	struct world *w = *state;

	discover(w, routes, NAMES("pdos", "deploymnts", "deployments.extensions", "zzzzzz"));
	assert_int_equal(w->result, 0);
	assert_unresolved(w, "pdos", -ENOENT, "has no resource 'pdos'; did you mean pods?");
	assert_unresolved(w, "deploymnts", -ENOENT, "did you mean deployments.apps?");
	assert_unresolved(w, "deployments.extensions", -ENOENT, "did you mean deployments.apps?");
	assert_unresolved(w, "zzzzzz", -ENOENT, "has no resource 'zzzzzz'");
}

/* What cannot be listed and watched cannot be cached. */
static void
a_resource_without_list_is_refused(void **state)
{
	struct world *w = *state;

	discover(w, cluster, NAMES("bindings"));
	assert_unresolved(w, "bindings", -ENOTSUP, "its verbs lack list");
}

/* A group that does not answer leaves the others usable; what may be in it is to be tried again. */
static void
a_failing_group_leaves_the_others(void **state)
{
	struct world *w = *state;

	discover(w, cluster,
		 NAMES("pods", "deploy", "unknowns", "podmetrics.metrics.k8s.io", "unknowns.example.com"));
	assert_int_equal(w->result, 0);
	assert_resolves(w, "pods", "/api/v1/pods");
	assert_resolves(w, "deploy", "/apis/apps/v1/deployments");
	assert_unresolved(w, "unknowns", -EAGAIN, "group metrics.k8s.io could not be read");
	assert_unresolved(w, "podmetrics.metrics.k8s.io", -EAGAIN, "down");
	assert_unresolved(w, "unknowns.example.com", -ENOENT, "no resource");
}

/* Where discovery is forbidden the well-known resources are still known. */
static void
forbidden_discovery_falls_back_on_the_well_known(void **state)
{
	static const struct http_route routes[] = {
		{.path = "/api/v1", .status = 403, .body = "{\"kind\":\"Status\",\"code\":403}"},
		{.path = "/apis", .status = 403, .body = "{\"kind\":\"Status\",\"code\":403}"},
		{0},
	};
	struct world *w = *state;

	discover(w, routes,
		 NAMES("po", "svc", "deploy", "deployments.v1.apps", "netpol", "widgets.v1.example.com"));
	assert_int_equal(w->result, 0);
	assert_true(discovery_used_builtin(w->discovery));
	assert_resolves(w, "po", "/api/v1/pods");
	assert_resolves(w, "svc", "/api/v1/services");
	assert_resolves(w, "deploy", "/apis/apps/v1/deployments");
	assert_resolves(w, "deployments.v1.apps", "/apis/apps/v1/deployments");
	assert_resolves(w, "netpol", "/apis/networking.k8s.io/v1/networkpolicies");
	assert_unresolved(w, "widgets.v1.example.com", -ENOENT, "system:discovery");
}

static void
assert_core_fails(struct world *w, int status, const char *body, int result, const char *message)
{
	const struct http_route routes[] = {{.path = "/api/v1", .status = status, .body = body}, {0}};

	discover(w, routes, NAMES("pods"));
	assert_int_equal(w->result, result);
	if (!strstr(w->message, message))
		fail_msg("'%s' is not in '%s'", message, w->message);
	http_fixture_free(w->server); /* the routes are gone after this */
	w->server = NULL;
}

/* Credentials that are not accepted, and a server that is busy, are told apart. */
static void
unauthorized_is_an_access_error(void **state)
{
	assert_core_fails(*state, 401, "{\"kind\":\"Status\",\"code\":401}", -EACCES,
			  "does not accept the credentials");
}

static void
an_unready_server_is_to_be_tried_again(void **state)
{
	assert_core_fails(*state, 503, "{\"kind\":\"Status\",\"message\":\"starting\"}", -EAGAIN, "starting");
}

/* A server that is no Kubernetes API server is said to be none. */
static void
a_web_server_is_not_a_kubernetes_server(void **state)
{
	assert_core_fails(*state, 200, "<html>hello</html>", -EPROTO,
			  "does not answer as a Kubernetes API server does");
}

/* Every prefix of discovery's documents parses or is refused, and entries of wrong types are left out. */
static void
damaged_lists_never_crash(void **state)
{
	struct api_group_discovery *all;
	struct api_group_version *groups;
	struct kube_resource *resources;
	size_t n;

	(void)state;
	for (size_t len = 0; len < strlen(AGGREGATED); len++)
		assert_int_equal(api_group_discovery_parse(AGGREGATED, len, &all, &n), -EPROTO);
	static const char strange[] = "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[1,{},{\"metadata\":{"
				      "\"name\":\"g\"},\"versions\":{\"a\":1}},"
				      "{\"metadata\":{\"name\":\"g\"},\"versions\":[7,{},{\"version\":\"v1\","
				      "\"resources\":{\"x\":{\"resource\":\"y\"}}},"
				      "{\"version\":\"v2\",\"resources\":[3,{\"resource\":\"a/"
				      "b\"},{\"resource\":\"ok\",\"verbs\":1}]}]}]}";
	assert_int_equal(api_group_discovery_parse(strange, strlen(strange), &all, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(all[0].n_resources, 0);
	assert_int_equal(all[1].n_resources, 1);
	assert_true(all[0].preferred && !all[1].preferred);
	assert_string_equal(all[1].resources[0].resource, "ok");
	api_group_discoveries_free(all, n);
	for (size_t len = 0; len <= strlen(CORE); len++) {
		char *exact = strndup(CORE, len);
		int r = api_resource_list_parse(exact, len, "", "v1", &resources, &n);

		assert_int_equal(r, len == strlen(CORE) ? 0 : -EPROTO);
		for (size_t i = 0; r == 0 && i < n; i++)
			kube_resource_done(&resources[i]);
		if (r == 0)
			free(resources);
		free(exact);
	}
	for (size_t len = 0; len < strlen(GROUPS); len++)
		assert_int_equal(api_group_list_parse(GROUPS, len, &groups, &n), -EPROTO);
	static const char odd[] =
		"{\"kind\":\"APIResourceList\",\"resources\":[1,{},{\"name\":5},{\"name\":\"a b\"},"
		"{\"name\":\"ok\",\"kind\":7,\"shortNames\":\"x\",\"verbs\":{},\"namespaced\":1}]}";
	assert_int_equal(api_resource_list_parse(odd, strlen(odd), "g", "v1", &resources, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(resources[0].resource, "ok");
	assert_false(resources[0].can_list);
	kube_resource_done(&resources[0]);
	free(resources);
}

/* What was absent costs a 304 when it is asked for again; core is asked only for what it may have. */
static void
what_was_absent_is_asked_for_by_its_etag(void **state)
{
	struct discovery_memory memory = {0};
	struct world *w = *state;

	w->memory = &memory;
	discover(w, tagged, NAMES("gadgets.example.org"));
	assert_string_equal(http_fixture_header(w->server, "If-None-Match"), "");
	assert_unresolved(w, "gadgets.example.org", -ENOENT, "has no resource");
	assert_false(discovery_is_unchanged(w->discovery));
	for (unsigned again = 2; again < 5; again++) {
		ask(w, NAMES("gadgets.example.org"));
		assert_int_equal(w->result, 0);
		assert_string_equal(http_fixture_header(w->server, "If-None-Match"), "\"A1\"");
		assert_true(discovery_is_unchanged(w->discovery));
		assert_unresolved(w, "gadgets.example.org", -ENOENT, "has no resource");
		assert_int_equal(http_fixture_count(w->server, "/apis"), again);
		assert_int_equal(http_fixture_count(w->server, NULL), again + 1);
	}
	ask(w, NAMES("gadgets", "gadgets.example.org"));
	assert_int_equal(http_fixture_count(w->server, "/api/v1"), 2);
	discovery_memory_done(&memory);
}

/* What has changed meanwhile is taken, and remembered instead; so is what failed: in full. */
static void
what_has_changed_is_read(void **state)
{
	struct discovery_memory memory = {.etag = strdup("\"A0\"")};
	struct world *w = *state;

	w->memory = &memory;
	discover(w, tagged, NAMES("deployments.apps"));
	assert_resolves(w, "deployments.apps", "/apis/apps/v1/deployments");
	assert_false(discovery_is_unchanged(w->discovery));
	assert_int_equal(http_fixture_count(w->server, "/api/v1"), 0);
	assert_string_equal(memory.etag, "\"A1\"");
	http_fixture_free(w->server);
	w->server = NULL;
	ask(w, NAMES("deployments.apps"));
	assert_null(memory.etag);
}

/* With a stale group the ETag does not say whether that has it by now. */
static void
what_is_stale_is_not_remembered(void **state)
{
	struct discovery_memory memory = {0};
	struct world *w = *state;

	w->memory = &memory;
	discover(w, stale, NAMES("gadgets.example.com"));
	assert_unresolved(w, "gadgets.example.com", -ENOENT, "has no resource");
	assert_null(memory.etag);
	ask(w, NAMES("gadgets.example.com"));
	assert_int_equal(http_fixture_count(w->server, "/apis/example.com/v1"), 2);
}

/* A discovery that is freed while it runs calls nobody. */
static void
a_freed_discovery_is_silent(void **state)
{
	struct world *w = *state;
	struct kube_client_config config = {0};

	w->server = http_fixture_new(cluster, NULL, NULL);
	config.server = (char *)(uintptr_t)http_fixture_url(w->server);
	assert_int_equal(transport_new(&w->loop, &config, &w->transport, NULL), 0);
	assert_int_equal(discovery_start(w->transport, NAMES("pods"), 1, on_done, w, &w->discovery, NULL), 0);
	discovery_free(w->discovery);
	w->discovery = NULL;
	for (int i = 0; i < 50; i++)
		uv_run(&w->loop, UV_RUN_NOWAIT);
	assert_false(w->done);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(core_names_cost_one_request),
	TEST(a_named_group_is_asked_alone),
	TEST(unqualified_names_prefer_preferred_versions),
	TEST(older_versions_are_found),
	TEST(aggregated_discovery_costs_two_requests),
	TEST(a_stale_group_is_read_by_itself),
	TEST(an_ambiguous_name_means_core),
	TEST(an_unknown_name_suggests_the_nearest),
	TEST(a_resource_without_list_is_refused),
	TEST(a_failing_group_leaves_the_others),
	TEST(forbidden_discovery_falls_back_on_the_well_known),
	TEST(unauthorized_is_an_access_error),
	TEST(an_unready_server_is_to_be_tried_again),
	TEST(a_web_server_is_not_a_kubernetes_server),
	cmocka_unit_test(damaged_lists_never_crash),
	TEST(what_was_absent_is_asked_for_by_its_etag),
	TEST(what_has_changed_is_read),
	TEST(what_is_stale_is_not_remembered),
	TEST(a_freed_discovery_is_silent),
};
TEST_GROUP(tests, NULL, NULL);
