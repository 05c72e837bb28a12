/* SPDX-License-Identifier: Apache-2.0 */
/* Between Pods and Services, by EndpointSlices. */
#include "reader-lib/informer-node.h"
#include "tests/room.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/reader_world.h"

#define SERVICE(ns, name) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\"}}"
#define SLICE(ns, name, service, endpoints)                                                                  \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns                                           \
	"\",\"labels\":{\"kubernetes.io/service-name\":\"" service "\"}},\"endpoints\":[" endpoints "]}"
#define ENDPOINT(ip, pod, more)                                                                              \
	"{\"addresses\":[\"" ip "\"],\"targetRef\":{\"kind\":\"Pod\",\"name\":\"" pod "\",\"uid\":\"u-" pod  \
	"\"}" more "}"

static const struct kind_fixture kinds[] = {
	{.group = "",
	 .resource = "services",
	 .kind = "Service",
	 .objects = {SERVICE("n", "web"), SERVICE("n", "api"), SERVICE("other", "web")}},
	{.group = "discovery.k8s.io",
	 .resource = "endpointslices",
	 .kind = "EndpointSlice",
	 .indexes = "{\"name\":\"labels\",\"rules\":[{\"path\":\"metadata.labels\",\"as\":\"keyvalue\"}]},"
		    "{\"name\":\"targetUID\",\"rules\":[{\"path\":\"endpoints[*].targetRef.uid\",\"as\":"
		    "\"string\"}]}",
	 .objects =
		 {SLICE("n", "web-4", "web",
			ENDPOINT("10.0.0.1", "a", ",\"nodeName\":\"n1\"") "," ENDPOINT(
				"10.0.0.2", "b",
				",\"conditions\":{\"ready\":false,\"serving\":true,\"terminating\":true}")),
		  SLICE("n", "web-6", "web", ENDPOINT("fd00::1", "a", "")),
		  SLICE("n", "api-4", "api", ENDPOINT("10.0.0.1", "a", "")),
		  SLICE("other", "web-4", "web", "{\"addresses\":[\"192.0.2.1\"]}")}},
	{.group = "",
	 .resource = "pods",
	 .kind = "Pod",
	 .objects = {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u-a\"}}",
		     "{\"metadata\":{\"name\":\"idle\",\"namespace\":\"n\",\"uid\":\"u-idle\"}}"}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

SET_UP(set_up, kind_fixture_world(kinds, KINDS))
SET_UP(set_up_pods, kind_fixture_world(&kinds[KINDS - 1], 1))

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

static int
add_name(void *context, const struct informer_object *service)
{
	const char *data;
	size_t length;

	assert_int_equal(informer_object_name(service, &data, &length), 0);
	snprintf((char *)context + strlen(context), 64, "%.*s ", (int)length, data);
	return 0;
}

static int
add_endpoint(void *context, const struct informer_endpoint *e)
{
	char pod[64] = "-";

	assert_int_equal(e->size, sizeof(*e));
	pod[e->has_pod ? 0 : 1] = '\0';
	if (e->has_pod)
		add_name(pod, &e->pod);
	snprintf((char *)context + strlen(context), 128, "%.*s %s%.*s%s%s%s, ", (int)e->address.length,
		 e->address.data, pod, (int)e->node.length, e->node.data, e->ready ? " ready" : "",
		 e->serving ? " serving" : "", e->terminating ? " terminating" : "");
	return 0;
}

static void
look(struct reader_world *w, const char *kind, const char *ns, const char *name, struct informer_object *ret)
{
	struct informer_resource *resource;

	assert_int_equal(informer_resource_open(w->inf, kind, &resource), 0);
	assert_int_equal(informer_get_z(&w->snap, resource, ns, name, ret), 0);
}

/* Two slices of one Service, for IPv4 and IPv6, are one Service. */
TEST(a_pod_leads_to_each_of_its_services_once)
{
	struct informer_object pod;
	char names[256] = "";

	look(w, "pods.v1", "n", "a", &pod);
	assert_int_equal(informer_services_of(&pod, add_name, names), 0);
	assert_true(strcmp(names, "web api ") == 0 || strcmp(names, "api web ") == 0);
	names[0] = '\0';
	look(w, "pods.v1", "n", "idle", &pod);
	assert_int_equal(informer_services_of(&pod, add_name, names), 0);
	assert_string_equal(names, "");
}

/* A Pod that is not cached is none, but the endpoint is there; other namespaces' slices are not meant. */
TEST(a_service_leads_to_its_endpoints)
{
	struct informer_object service;
	char text[512] = "";

	look(w, "services.v1", "n", "web", &service);
	assert_int_equal(informer_endpoints_of(&service, add_endpoint, text), 0);
	assert_non_null(strstr(text, "10.0.0.1 a n1 ready serving, "));
	assert_non_null(strstr(text, "10.0.0.2 - serving terminating, "));
	assert_non_null(strstr(text, "fd00::1 a  ready serving, "));
	assert_null(strstr(text, "192.0.2.1"));
	text[0] = '\0';
	look(w, "services.v1", "other", "web", &service);
	assert_int_equal(informer_endpoints_of(&service, add_endpoint, text), 0);
	assert_string_equal(text, "192.0.2.1 - ready serving, ");
}

static int
stop(void *context, const struct informer_object *service)
{
	(void)service;
	++*(int *)context;
	return 7;
}

/* A copy has no snapshot, so nothing is found beside it. */
TEST(a_copy_leads_nowhere)
{
	struct informer_address address = {.size = sizeof(address)};
	struct informer_object pod, copy, found;
	char names[64] = "";

	look(w, "pods.v1", "n", "a", &pod);
	assert_int_equal(informer_object_copy(w->inf, &pod, &copy), 0);
	assert_int_equal(informer_services_of(&copy, add_name, names), INFORMER_E_NO_RESOURCE);
	assert_int_equal(informer_endpoints_of(&copy, add_endpoint, names), INFORMER_E_NO_RESOURCE);
	assert_int_equal(informer_namespace_of(&copy, &found), INFORMER_E_NO_RESOURCE);
	assert_int_equal(informer_by_address(copy.snapshot_, "10.0.0.1", 8, &address), -EINVAL);
	informer_object_free(&copy);
}

TEST(the_caller_may_stop)
{
	struct informer_object pod;
	int calls = 0;

	look(w, "pods.v1", "n", "a", &pod);
	assert_int_equal(informer_services_of(&pod, stop, &calls), 7);
	assert_int_equal(calls, 1);
	assert_int_equal(informer_services_of(&pod, NULL, NULL), -EINVAL);
	assert_int_equal(informer_endpoints_of(NULL, add_endpoint, NULL), -EINVAL);
}

TEST_CASE_OF(struct reader_world *w, set_up_pods, reader_world_tear_down, slices_that_are_not_cached_are_said)
{
	struct informer_object pod;
	char names[64] = "";

	look(w, "pods.v1", "n", "a", &pod);
	assert_int_equal(informer_services_of(&pod, add_name, names), INFORMER_E_NO_RESOURCE);
}
