/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery, against a small API server of the test. */
#include "tests/room.h"
#include "tests/support/transport_world.h"
#include "writer/kube/api_lists.h"
#include "writer/kube/discovery.h"
#include "writer/base/message.h"

/* clang-format off */
#define ALL "\"verbs\":[\"get\",\"list\",\"watch\"]"
#define LIST(resources) "{\"kind\":\"APIResourceList\",\"resources\":[" resources "]}"
#define ONE(name, kind, singular, namespaced, more)                                                          \
	"{\"name\":\"" name "\",\"singularName\":\"" singular "\",\"namespaced\":" namespaced                \
	",\"kind\":\"" kind "\"," more "}"
#define CORE                                                                                                 \
	LIST(ONE("pods", "Pod", "pod", "true", ALL ",\"shortNames\":[\"po\"]") ","                           \
	     ONE("pods/log", "Pod", "", "true", "\"verbs\":[\"get\"]") ","                                   \
	     ONE("nodes", "Node", "", "false", ALL ",\"shortNames\":[\"no\"]") ","                           \
	     ONE("events", "Event", "event", "true", ALL) ","                                                \
	     ONE("bindings", "Binding", "binding", "true", "\"verbs\":[\"create\"]"))
#define DEPLOYMENTS                                                                                          \
	LIST(ONE("deployments", "Deployment", "deployment", "true", ALL ",\"shortNames\":[\"deploy\"]"))
#define OLD                                                                                                  \
	LIST(ONE("deployments", "Deployment", "deployment", "true", ALL) ","                                 \
	     ONE("relics", "Relic", "relic", "true", ALL))
#define WIDGETS LIST(ONE("widgets", "Widget", "widget", "true", ALL))
#define EVENTS LIST(ONE("events", "Event", "event", "true", ALL))

#define GROUP(name, versions, preferred)                                                                     \
	"{\"name\":\"" name "\",\"versions\":[" versions                                                     \
	"],\"preferredVersion\":{\"version\":\"" preferred "\"}}"
#define VERSION(version) "{\"version\":\"" version "\"}"
#define GROUPS                                                                                               \
	"{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":["                                      \
	GROUP("apps", VERSION("v1") "," VERSION("v1beta1"), "v1") ","                                        \
	GROUP("events.k8s.io", VERSION("v1"), "v1") "," GROUP("../evil", VERSION("v1"), "v1") ","            \
	GROUP("example.com", VERSION("v1"), "v1") ","                                                        \
	GROUP("metrics.k8s.io", VERSION("v1beta1"), "v1beta1") "]}"

#define ENTRY(name, kind, singular, scope, more)                                                             \
	"{\"resource\":\"" name "\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"" kind      \
	"\"},\"scope\":\"" scope "\",\"singularResource\":\"" singular "\"," ALL more "}"
#define GROUP_OF(name) "{\"metadata\":{\"name\":\"" name "\"},\"versions\":["
#define VERSION_OF(version, more) "{\"version\":\"" version "\"," more "\"resources\":["
#define SCALE ",\"shortNames\":[\"deploy\"],\"subresources\":[{\"subresource\":\"scale\"}]"
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
	{.path = "/apis", .status = 200, .body = AGGREGATED, .etag = "\"A1\""},
	{.path = "/apis/apps/v1", .status = 500},
	{.path = "/apis/apps/v1beta1", .status = 500},
	{.path = "/apis/example.com/v1", .status = 200, .body = WIDGETS},
	{0},
};

/* Nothing here is stale. */
static const struct http_route tagged[] = {
	{.path = "/api/v1", .status = 200, .body = CORE},
	{.path = "/apis", .status = 200, .body = FRESH, .etag = "\"A1\""},
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

static struct discovery *discovery;
static struct discovery_memory *memory; /* may be NULL */
static bool done;
static int result;
static char message[512];

static void
on_done(void *ctx, struct discovery *of, int its_result, const char *its_message)
{
	(void)ctx;
	(void)of;
	done = true;
	result = its_result;
	snprintf(message, sizeof(message), "%s", its_message);
}

static int
teardown(void **state)
{
	discovery_free(discovery);
	return transport_world_teardown(state);
}

/* Discover the same names again, with the memory, if there is one. */
static void
ask(struct world *w, const char *const *names)
{
	size_t n = 0;
	int r;

	while (names[n])
		n++;
	discovery_free(discovery);
	discovery = NULL;
	done = false;
	r = discovery_start(w->transport, names, n, memory, on_done, w, &discovery, NULL);
	assert_int_equal(r, 0);
	run_until(w, done);
}

/* Discover `names` at a server with these routes. The array ends with NULL. */
static void
discover(struct world *w, const struct http_route *routes, const char *const *names)
{
	serve(w, routes);
	ask(w, names);
}

#define NAMES(...) (const char *const[]){__VA_ARGS__, NULL}

static void
assert_resolves(const char *name, const char *path)
{
	_cleanup_(message_freep) char *error = NULL, *is = NULL;
	const struct kube_resource *resource;

	if (discovery_resolve(discovery, name, &resource, &error) < 0)
		fail_msg("%s", error);
	is = kube_resource_path(resource, NULL);
	assert_string_equal(is, path);
}

static void
assert_unresolved(const char *name, int code, const char *part)
{
	_cleanup_(message_freep) char *error = NULL;
	const struct kube_resource *resource;

	assert_int_equal(discovery_resolve(discovery, name, &resource, &error), code);
	assert_non_null(error);
	if (!strstr(error, part))
		fail_msg("'%s' is not in '%s'", part, error);
}

#define TEST(name) TEST_CASE_OF(struct world *w, transport_world_setup, teardown, name)

/* A name of core costs one request, a name with a group three. An ambiguous name means core. */
TEST(names_resolve_with_few_requests)
{
	static const struct {
		const char *names[5], *paths[4];
		const char *counted; /* NULL: all requests */
		unsigned count;
	} cases[] = {
		{{"pods", "po", "Pod", "no"},
		 {"/api/v1/pods", "/api/v1/pods", "/api/v1/pods", "/api/v1/nodes"},
		 NULL,
		 1},
		{{"widgets.v1.example.com", "widgets.example.com"},
		 {"/apis/example.com/v1/widgets", "/apis/example.com/v1/widgets"},
		 NULL,
		 3},
		{{"deploy", "widget"},
		 {"/apis/apps/v1/deployments", "/apis/example.com/v1/widgets"},
		 "/apis/apps/v1beta1",
		 0},
		{{"relics", "deployments.v1beta1.apps"},
		 {"/apis/apps/v1beta1/relics", "/apis/apps/v1beta1/deployments"},
		 "/apis/apps/v1beta1",
		 1},
		{{"events", "events.events.k8s.io"},
		 {"/api/v1/events", "/apis/events.k8s.io/v1/events"},
		 "/api/v1",
		 1},
	};

	serve(w, cluster);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned before = http_fixture_count(w->server, cases[i].counted);

		ask(w, cases[i].names);
		assert_int_equal(result, 0);
		for (size_t k = 0; cases[i].names[k]; k++)
			assert_resolves(cases[i].names[k], cases[i].paths[k]);
		assert_int_equal(http_fixture_count(w->server, cases[i].counted) - before, cases[i].count);
	}
}

TEST(aggregated_discovery_costs_two_requests)
{
	const struct kube_resource *relics;

	discover(w, aggregated, NAMES("deploy", "relics", "deployments.v1beta1.apps", "pods"));
	assert_non_null(strstr(http_fixture_header(w->server, "Accept"),
			       "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
	assert_resolves("deploy", "/apis/apps/v1/deployments");
	assert_resolves("deployments.v1beta1.apps", "/apis/apps/v1beta1/deployments");
	assert_resolves("relics", "/apis/apps/v1beta1/relics");
	assert_resolves("pods", "/api/v1/pods");
	assert_int_equal(discovery_resolve(discovery, "relics", &relics, NULL), 0);
	assert_false(relics->namespaced);
	assert_string_equal(relics->kind, "Relic");
	assert_string_equal(relics->singular, "relic");
	assert_int_equal(http_fixture_count(w->server, "/apis"), 1);
	assert_int_equal(http_fixture_count(w->server, "/apis/apps/v1"), 0);
	assert_int_equal(http_fixture_count(w->server, "/apis/example.com/v1"), 0);
}

TEST(a_stale_group_is_read_by_itself)
{
	discover(w, aggregated, NAMES("widgets"));
	assert_resolves("widgets", "/apis/example.com/v1/widgets");
	assert_int_equal(http_fixture_count(w->server, "/apis/example.com/v1"), 1);
	assert_int_equal(http_fixture_count(w->server, "/apis/apps/v1"), 0);
}

/* An unknown name is refused with the nearest name of any group. */
TEST(an_unknown_name_suggests_the_nearest)
{
	discover(w, tagged, NAMES("pdos", "deploymnts", "deployments.extensions", "zzzzzz"));
	assert_int_equal(result, 0);
	assert_unresolved("pdos", -ENOENT, "has no resource 'pdos'; did you mean pods?");
	assert_unresolved("deploymnts", -ENOENT, "did you mean deployments.apps?");
	assert_unresolved("deployments.extensions", -ENOENT, "did you mean deployments.apps?");
	assert_unresolved("zzzzzz", -ENOENT, "has no resource 'zzzzzz'");
}

/* A resource without list or watch cannot be cached. */
TEST(a_resource_without_list_is_refused)
{
	discover(w, cluster, NAMES("bindings"));
	assert_unresolved("bindings", -ENOTSUP, "its verbs lack list");
}

/* If a group does not answer, names of other groups resolve, and its own names are to be tried again. */
TEST(other_groups_resolve_if_one_fails)
{
	discover(w, cluster,
		 NAMES("pods", "deploy", "unknowns", "podmetrics.metrics.k8s.io", "unknowns.example.com"));
	assert_int_equal(result, 0);
	assert_resolves("pods", "/api/v1/pods");
	assert_resolves("deploy", "/apis/apps/v1/deployments");
	assert_unresolved("unknowns", -EAGAIN, "group metrics.k8s.io could not be read");
	assert_unresolved("podmetrics.metrics.k8s.io", -EAGAIN, "down");
	assert_unresolved("unknowns.example.com", -ENOENT, "no resource");
}

/* A document over 4 MiB is given up, and the other names resolve. */
TEST(an_endless_document_is_not_read)
{
	static char endless[(5u << 20) + 1];
	struct http_route routes[] = {{.path = "/api/v1", .status = 200, .body = CORE},
				      {.path = "/apis", .status = 200, .body = GROUPS},
				      {.path = "/apis/example.com/v1", .status = 200, .body = endless},
				      {0}};

	memset(endless, ' ', sizeof(endless) - 1);
	memcpy(endless + sizeof(endless) - sizeof(WIDGETS), WIDGETS, sizeof(WIDGETS));
	discover(w, routes, NAMES("pods", "widgets.example.com"));
	assert_int_equal(result, 0);
	assert_resolves("pods", "/api/v1/pods");
	assert_unresolved("widgets.example.com", -EAGAIN, "is too long");
}

/* Where discovery is forbidden, the well-known resources resolve. */
TEST(forbidden_discovery_falls_back_on_the_well_known)
{
	static const struct http_route routes[] = {
		{.path = "/api/v1", .status = 403, .body = "{\"kind\":\"Status\",\"code\":403}"},
		{.path = "/apis", .status = 403, .body = "{\"kind\":\"Status\",\"code\":403}"},
		{0},
	};

	discover(w, routes,
		 NAMES("po", "svc", "deploy", "deployments.v1.apps", "netpol", "widgets.v1.example.com"));
	assert_int_equal(result, 0);
	assert_true(discovery_used_builtin(discovery));
	assert_resolves("po", "/api/v1/pods");
	assert_resolves("svc", "/api/v1/services");
	assert_resolves("deploy", "/apis/apps/v1/deployments");
	assert_resolves("deployments.v1.apps", "/apis/apps/v1/deployments");
	assert_resolves("netpol", "/apis/networking.k8s.io/v1/networkpolicies");
	assert_unresolved("widgets.v1.example.com", -ENOENT, "system:discovery");
}

/* The error tells rejected credentials, a busy server, and a server without the Kubernetes API apart. */
TEST(the_error_tells_why_a_server_fails)
{
	static const struct {
		int status, result;
		const char *body, *message;
	} cases[] = {
		{401, -EACCES, "{\"kind\":\"Status\",\"code\":401}", "does not accept the credentials"},
		{503, -EAGAIN, "{\"kind\":\"Status\",\"message\":\"starting\"}", "starting"},
		{200, -EPROTO, "<html>hello</html>", "does not answer as a Kubernetes API server does"},
	};
	struct http_route routes[] = {{.path = "/api/v1"}, {0}};

	serve(w, routes);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		routes[0].status = cases[i].status;
		routes[0].body = cases[i].body;
		ask(w, NAMES("pods"));
		assert_int_equal(result, cases[i].result);
		assert_non_null(strstr(message, cases[i].message));
	}
	http_fixture_free(w->server); /* no request has these routes after this */
	w->server = NULL;
}

/* Entries of wrong types are left out. A document of another form is refused. */
TEST_CASE(strange_entries_are_left_out)
{
	static const char groups[] = "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[1,{},{\"metadata\":{"
				     "\"name\":\"g\"},\"versions\":{\"a\":1}},"
				     "{\"metadata\":{\"name\":\"g\"},\"versions\":[7,{},{\"version\":\"v1\","
				     "\"resources\":{\"x\":{\"resource\":\"y\"}}},"
				     "{\"version\":\"v2\",\"resources\":[3,{\"resource\":\"a/"
				     "b\"},{\"resource\":\"ok\",\"verbs\":1}]}]}]}";
	static const char resources[] =
		"{\"kind\":\"APIResourceList\",\"resources\":[1,{},{\"name\":5},{\"name\":\"a b\"},"
		"{\"name\":\"ok\",\"kind\":7,\"shortNames\":\"x\",\"verbs\":{},\"namespaced\":1}]}";
	struct api_version *list, of = {.group = strdup("g"), .version = strdup("v1")};
	cJSON *document = cJSON_Parse(groups);
	size_t n;

	assert_int_equal(api_resources_read(document, &of), -EPROTO);
	assert_int_equal(api_groups_read(document, &list, &n), 0);
	cJSON_Delete(document);
	assert_int_equal(n, 2);
	assert_int_equal(list[0].n_resources, 0);
	assert_int_equal(list[1].n_resources, 1);
	assert_true(list[0].preferred && !list[1].preferred);
	assert_string_equal(list[1].resources[0].resource, "ok");
	api_versions_free(list, n);

	document = cJSON_Parse(resources);
	assert_int_equal(api_groups_read(document, &list, &n), -EPROTO);
	api_versions_free(list, n);
	assert_int_equal(api_resources_read(document, &of), 0);
	cJSON_Delete(document);
	assert_int_equal(of.n_resources, 1);
	assert_string_equal(of.resources[0].resource, "ok");
	assert_false(of.resources[0].can_list);
	api_version_done(&of);
}

/* A missing name costs a 304 when it is looked up again. Core is asked only for names it may have. */
TEST(missing_names_are_asked_for_by_etag)
{
	struct discovery_memory remembered = {0};

	memory = &remembered;
	discover(w, tagged, NAMES("gadgets.example.org"));
	assert_string_equal(http_fixture_header(w->server, "If-None-Match"), "");
	assert_unresolved("gadgets.example.org", -ENOENT, "has no resource");
	assert_false(discovery_is_unchanged(discovery));
	for (unsigned again = 2; again < 5; again++) {
		ask(w, NAMES("gadgets.example.org"));
		assert_int_equal(result, 0);
		assert_string_equal(http_fixture_header(w->server, "If-None-Match"), "\"A1\"");
		assert_true(discovery_is_unchanged(discovery));
		assert_unresolved("gadgets.example.org", -ENOENT, "has no resource");
		assert_int_equal(http_fixture_count(w->server, "/apis"), again);
		assert_int_equal(http_fixture_count(w->server, NULL), again + 1);
	}
	ask(w, NAMES("gadgets", "gadgets.example.org"));
	assert_int_equal(http_fixture_count(w->server, "/api/v1"), 2);
	discovery_memory_done(&remembered);
}

/* A changed document is read and remembered. A failed document is read in full the next time. */
TEST(changed_documents_are_read)
{
	struct discovery_memory remembered = {.etag = strdup("\"A0\"")};

	memory = &remembered;
	discover(w, tagged, NAMES("deployments.apps"));
	assert_resolves("deployments.apps", "/apis/apps/v1/deployments");
	assert_false(discovery_is_unchanged(discovery));
	assert_int_equal(http_fixture_count(w->server, "/api/v1"), 0);
	assert_string_equal(remembered.etag, "\"A1\"");
	http_fixture_free(w->server);
	w->server = NULL;
	ask(w, NAMES("deployments.apps"));
	assert_null(remembered.etag);
}

/* With a stale group the ETag does not tell whether the group has the name by now. */
TEST(stale_groups_are_not_remembered)
{
	struct discovery_memory remembered = {0};

	memory = &remembered;
	discover(w, aggregated, NAMES("gadgets.example.com"));
	assert_unresolved("gadgets.example.com", -ENOENT, "has no resource");
	assert_null(remembered.etag);
	ask(w, NAMES("gadgets.example.com"));
	assert_int_equal(http_fixture_count(w->server, "/apis/example.com/v1"), 2);
}

/* A discovery that is freed while it runs calls nothing back. */
TEST(a_freed_discovery_is_silent)
{
	serve(w, cluster);
	assert_int_equal(discovery_start(w->transport, NAMES("pods"), 1, NULL, on_done, w, &discovery, NULL),
			 0);
	discovery_free(discovery);
	discovery = NULL;
	fetch(w, "/api/v1", 0);
	assert_false(done);
}
