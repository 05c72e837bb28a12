/* SPDX-License-Identifier: Apache-2.0 */
/* From an IP address to what has it. */
#include "reader-lib/informer-node.h"
#include "tests/room.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/reader_world.h"

#define POD(name, spec, phase, ip)                                                                           \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\"},\"spec\":{" spec                          \
	"},\"status\":{\"phase\":\"" phase "\",\"podIPs\":[{\"ip\":\"" ip "\"},{\"ip\":\"fd00::" name        \
	"\"}]}}"

static const struct kind_fixture kinds[] = {
	{.group = "",
	 .resource = "services",
	 .kind = "Service",
	 .indexes = "{\"name\":\"address\",\"rules\":[{\"path\":\"spec.clusterIPs[*]\",\"as\":\"string\"},"
		    "{\"path\":\"status.loadBalancer.ingress[*].ip\",\"as\":\"string\"}]}",
	 .objects = {"{\"metadata\":{\"name\":\"front\",\"namespace\":\"n\"},\"spec\":{\"clusterIPs\":["
		     "\"10.96.0.7\",\"fd96::7\"]},\"status\":{\"loadBalancer\":{\"ingress\":["
		     "{\"ip\":\"192.0.2.1\"},{\"ip\":\"10.0.0.2\"}]}}}"}},
	{.group = "",
	 .resource = "nodes",
	 .kind = "Node",
	 .cluster_scoped = true,
	 .indexes = "{\"name\":\"address\",\"rules\":[{\"path\":\"status.addresses[*].address\",\"as\":"
		    "\"string\"}]}",
	 .objects = {"{\"metadata\":{\"name\":\"n1\"},\"status\":{\"addresses\":[{\"address\":\"10.1.0.1\"},"
		     "{\"address\":\"n1.example\"}]}}"}},
	{.group = "",
	 .resource = "pods",
	 .kind = "Pod",
	 .indexes = "{\"name\":\"podIP\",\"rules\":[{\"path\":\"status.podIPs[*].ip\",\"as\":\"string\"}]}",
	 .objects = {POD("a", "", "Running", "10.0.0.1"), POD("d0", "", "Succeeded", "10.0.0.2"),
		     POD("host", "\"hostNetwork\":true", "Running", "10.1.0.1"),
		     POD("ghost", "\"hostNetwork\":true", "Running", "10.1.0.1")}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

SET_UP(set_up, kind_fixture_world(kinds, KINDS))
SET_UP(set_up_pods, kind_fixture_world(&kinds[KINDS - 1], 1))

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* "KIND NAME[ HOST_PODS][ deleted]", or the error's name. */
static const char *
of(struct reader_world *w, const char *ip)
{
	static const char *const names[] = {"Pod", "Service", "Node"};
	struct informer_address a = {.size = sizeof(a)};
	int r = informer_by_address(&w->snap, ip, strlen(ip), &a);
	static char text[128];
	const char *data;
	size_t length;

	if (r < 0)
		return r == -EINVAL ? "invalid" : informer_error_name(r);
	assert_int_equal(informer_object_name(&a.object, &data, &length), 0);
	snprintf(text, sizeof(text), "%s %.*s", names[a.kind], (int)length, data);
	if (a.kind == INFORMER_ADDRESS_NODE)
		snprintf(text + strlen(text), 32, " %d", (int)a.host_pods);
	if (a.deleted)
		strcat(text, " deleted");
	return text;
}

TEST(an_address_leads_to_a_pod_a_service_or_a_node)
{
	assert_string_equal(of(w, "10.0.0.1"), "Pod a");
	assert_string_equal(of(w, "fd00::a"), "Pod a");
	assert_string_equal(of(w, "10.96.0.7"), "Service front");
	assert_string_equal(of(w, "fd96::7"), "Service front");
	assert_string_equal(of(w, "192.0.2.1"), "Service front");
	assert_string_equal(of(w, "10.9.9.9"), "INFORMER_E_NOT_FOUND");
}

TEST(pods_on_the_hosts_network_give_the_node_and_are_counted)
{
	assert_string_equal(of(w, "10.1.0.1"), "Node n1 2");
}

TEST(an_address_is_known_in_any_spelling)
{
	assert_string_equal(of(w, "::ffff:10.0.0.1"), "Pod a");
	assert_string_equal(of(w, "FD00:0:0:0::000A"), "Pod a");
	assert_string_equal(of(w, "n1.example"), "invalid");
	assert_string_equal(of(w, "10.0.0.1/32"), "invalid");
	assert_string_equal(of(w, ""), "invalid");
	assert_string_equal(of(w, "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"), "invalid");
}

static void
delete_a(struct broker_fixture *fx, void *context)
{
	(void)context;
	assert_int_equal(store_fixture_delete(fx->store, "n", "a"), 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

TEST(a_pod_that_has_ended_or_was_deleted_comes_last)
{
	assert_string_equal(of(w, "10.0.0.2"), "Service front");
	assert_string_equal(of(w, "fd00::d0"), "Pod d0");
	broker_fixture_do(w->fx, delete_a, NULL);
	reader_world_renew(w);
	assert_string_equal(of(w, "10.0.0.1"), "Pod a deleted");
}

TEST_CASE_OF(struct reader_world *w, set_up_pods, reader_world_tear_down,
	     resources_that_are_not_cached_are_left_out)
{
	assert_string_equal(of(w, "10.0.0.1"), "Pod a");
	assert_string_equal(of(w, "10.96.0.7"), "INFORMER_E_NOT_FOUND");
	assert_string_equal(of(w, "10.1.0.1"), "INFORMER_E_NOT_FOUND");
}

TEST(a_wrong_call_is_refused)
{
	struct informer_address a = {.size = 0};

	assert_int_equal(informer_by_address(&w->snap, "10.0.0.1", 8, &a), -EINVAL);
	assert_int_equal(informer_by_address(&w->snap, NULL, 0, &a), -EINVAL);
	assert_int_equal(informer_by_address(NULL, "10.0.0.1", 8, &a), -EINVAL);
}
