/* SPDX-License-Identifier: Apache-2.0 */
/* What makes content other content. */

#include <sodium.h>

#include "tests/room.h"
#include "writer/resource/fingerprint.h"

static const char *const one_drop[] = {"metadata.managedFields"}, *const two_drops[] = {"a", "b"},
			 *const swapped[] = {"b", "a"};
static struct kube_pair group = {NULL, (char[]){"dev"}}, scope = {(char[]){"scope"}, (char[]){"view"}};
static struct kube_resource pods = {
	.group = (char[]){""}, .version = (char[]){"v1"}, .resource = (char[]){"pods"}};
static struct kube_resource nodes = {
	.group = (char[]){""}, .version = (char[]){"v1"}, .resource = (char[]){"nodes"}};

static struct kube_resource later_pods = {
	.group = (char[]){""}, .version = (char[]){"v2"}, .resource = (char[]){"pods"}};
static struct kube_resource measured_pods = {
	.group = (char[]){"metrics.k8s.io"}, .version = (char[]){"v1"}, .resource = (char[]){"pods"}};

static void
make(const struct fingerprint_source *lister_watcher, uint8_t ret[FINGERPRINT_BYTES])
{
	assert_int_equal(fingerprint_make(lister_watcher, ret), 0);
}

/* Each part counts, and none can be mistaken for another. */
TEST_CASE(each_part_makes_it_another_one)
{
	struct kube_impersonation user = {.user = (char[]){"u"}},
				  uid = {.user = (char[]){"u"}, .uid = (char[]){"7"}};
	struct kube_impersonation grouped = {.user = (char[]){"u"}, .groups = {&group, 1}};
	struct kube_impersonation scoped = {.user = (char[]){"u"}, .extra = {&scope, 1}};
	struct kube_impersonation scoped_alike = {.user = (char[]){"u"}, .extra = {&group, 1}};
	const struct fingerprint_source sources[] = {
		{.resource = &pods},
		{.resource = &nodes},
		{.resource = &later_pods},
		{.resource = &measured_pods},
		{.resource = &pods, .server = "https://a"},
		{.resource = &pods, .server = "https://b"},
		{.resource = &pods, .ca = "ca", .ca_length = 2},
		{.resource = &pods, .namespace_ = "x"},
		{.resource = &pods, .label_selector = "x"},
		{.resource = &pods, .field_selector = "x"},
		{.resource = &pods, .drops = one_drop, .drop_count = 1},
		{.resource = &pods, .drops = two_drops, .drop_count = 2},
		{.resource = &pods, .metadata_only = true},
		{.resource = &pods, .as = &user},
		{.resource = &pods, .as = &uid},
		{.resource = &pods, .as = &grouped},
		{.resource = &pods, .as = &scoped},
		{.resource = &pods, .as = &scoped_alike},
	};
	size_t n = sizeof(sources) / sizeof(*sources);
	uint8_t made[sizeof(sources) / sizeof(*sources)][FINGERPRINT_BYTES];

	for (size_t i = 0; i < n; i++) {
		make(&sources[i], made[i]);
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(made[i], made[j], FINGERPRINT_BYTES);
	}
}

/* Nobody to impersonate is nobody, however it is said; the order of drops does not count. */
TEST_CASE(what_means_the_same_is_the_same)
{
	struct kube_impersonation nobody = {0};
	struct fingerprint_source a = {.resource = &pods, .drops = two_drops, .drop_count = 2}, b = a;
	uint8_t of_a[FINGERPRINT_BYTES], of_b[FINGERPRINT_BYTES];

	b.as = &nobody;
	b.drops = swapped;
	b.namespace_ = "";
	make(&a, of_a);
	make(&b, of_b);
	assert_memory_equal(of_a, of_b, FINGERPRINT_BYTES);
}

/* A cluster that is not known is zeroes, and no known one is. */
TEST_CASE(a_cluster_has_a_mark_of_its_own)
{
	static const uint8_t none[FINGERPRINT_CLUSTER_BYTES];
	uint8_t unknown[FINGERPRINT_CLUSTER_BYTES], a[FINGERPRINT_CLUSTER_BYTES],
		b[FINGERPRINT_CLUSTER_BYTES];

	fingerprint_cluster("", unknown);
	fingerprint_cluster("c425ac92-6380-4bdd-bcb6-395635824a26", a);
	fingerprint_cluster("c425ac92-6380-4bdd-bcb6-395635824a27", b);
	assert_memory_equal(unknown, none, sizeof(none));
	assert_memory_not_equal(a, none, sizeof(none));
	assert_memory_not_equal(a, b, sizeof(a));
}

/* The CA is told by the last bytes alone; and what older releases wrote is what it always was. */
TEST_CASE(the_ca_stands_apart)
{
	static const uint8_t written[FINGERPRINT_BYTES] = {0x7a, 0xe2, 0x7a, 0xe6, 0x6c, 0x4a, 0x26, 0x97,
							   0xda, 0x7c, 0x94, 0x38, 0x99, 0x3a, 0x48, 0xf6,
							   0x50, 0x11, 0xcd, 0x57, 0x6f, 0x43, 0x91, 0x21};
	struct fingerprint_source a = {.resource = &pods,
				       .server = "https://a",
				       .ca = "ca",
				       .ca_length = 2,
				       .drops = one_drop,
				       .drop_count = 1};
	struct fingerprint_source b = a;
	uint8_t of_a[FINGERPRINT_BYTES], of_b[FINGERPRINT_BYTES];

	b.ca = "cb";
	make(&a, of_a);
	make(&b, of_b);
	assert_memory_equal(of_a, of_b, FINGERPRINT_CONTENT_BYTES);
	assert_memory_not_equal(of_a + FINGERPRINT_CONTENT_BYTES, of_b + FINGERPRINT_CONTENT_BYTES,
				FINGERPRINT_BYTES - FINGERPRINT_CONTENT_BYTES);
	assert_int_equal(fingerprint_make_former(&a, of_a), 0);
	assert_memory_equal(of_a, written, FINGERPRINT_BYTES);
}
