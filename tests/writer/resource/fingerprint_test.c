/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings make content another content. */

#include <sodium.h>

#include "tests/room.h"
#include "writer/resource/fingerprint.h"

static const char *const one_drop[] = {"metadata.managedFields"}, *const two_drops[] = {"a", "b"},
			 *const swapped[] = {"b", "a"}, *const joined[] = {"ab"};
static struct kube_pair group = {NULL, "dev"}, scope = {"scope", "view"};
static const struct kube_resource
	pods = {.group = "", .version = "v1", .resource = "pods"},
	nodes = {.group = "", .version = "v1", .resource = "nodes"},
	later_pods = {.group = "", .version = "v2", .resource = "pods"},
	gadgets = {.group = "", .version = "v1", .resource = "pods", .kind = "Gadget"},
	namespaced_pods = {.group = "", .version = "v1", .resource = "pods", .namespaced = true},
	measured_pods = {.group = "metrics.k8s.io", .version = "v1", .resource = "pods"};

static void
make(const struct fingerprint_source *source, uint8_t ret[FINGERPRINT_BYTES])
{
	assert_int_equal(fingerprint_make(source, ret), 0);
}

enum { SOURCE = 1, SELECTION = 2, CA = 4 };

/* The parts that differ. */
static unsigned
differs(const uint8_t a[FINGERPRINT_BYTES], const uint8_t b[FINGERPRINT_BYTES])
{
	unsigned parts = 0;

	for (size_t i = 0; i < FINGERPRINT_BYTES / FINGERPRINT_PART_BYTES; i++)
		if (memcmp(a + i * FINGERPRINT_PART_BYTES, b + i * FINGERPRINT_PART_BYTES,
			   FINGERPRINT_PART_BYTES) != 0)
			parts |= 1u << i;
	return parts;
}

/* Each field changes its own part alone. No two fields can be confused. */
TEST_CASE(each_field_changes_its_own_part)
{
	struct kube_impersonation user = {.user = "u"}, uid = {.user = "u", .uid = "7"},
				  grouped = {.user = "u", .groups = {&group, 1}},
				  scoped = {.user = "u", .extra = {&scope, 1}},
				  scoped_alike = {.user = "u", .extra = {&group, 1}};
	const struct {
		unsigned part; /* the part that differs from the first row */
		struct fingerprint_source source;
	} cases[] = {
		{0, {.resource = &pods}},
		{SOURCE, {.resource = &nodes}},
		{SOURCE, {.resource = &measured_pods}},
		{SOURCE, {.resource = &pods, .server = "https://a"}},
		{SOURCE, {.resource = &pods, .server = "https://b"}},
		{SOURCE, {.resource = &pods, .as = &user}},
		{SOURCE, {.resource = &pods, .as = &uid}},
		{SOURCE, {.resource = &pods, .as = &grouped}},
		{SOURCE, {.resource = &pods, .as = &scoped}},
		{SOURCE, {.resource = &pods, .as = &scoped_alike}},
		{SELECTION, {.resource = &later_pods}},
		{SELECTION, {.resource = &gadgets}},
		{SELECTION, {.resource = &namespaced_pods}},
		{SELECTION, {.resource = &pods, .namespace_ = "x"}},
		{SELECTION, {.resource = &pods, .label_selector = "x"}},
		{SELECTION, {.resource = &pods, .field_selector = "x"}},
		{SELECTION, {.resource = &pods, .drops = one_drop, .drop_count = 1}},
		{SELECTION, {.resource = &pods, .drops = two_drops, .drop_count = 2}},
		{SELECTION, {.resource = &pods, .drops = joined, .drop_count = 1}},
		{SELECTION, {.resource = &pods, .label_selector = "xf"}},
		{SELECTION, {.resource = &pods, .label_selector = "x", .field_selector = "f"}},
		{SELECTION, {.resource = &pods, .metadata_only = true}},
		{CA, {.resource = &pods, .ca = "ca", .ca_length = 2}},
		{CA, {.resource = &pods, .ca = "cb", .ca_length = 2}},
	};
	size_t n = sizeof(cases) / sizeof(*cases);
	uint8_t made[sizeof(cases) / sizeof(*cases)][FINGERPRINT_BYTES];

	for (size_t i = 0; i < n; i++) {
		make(&cases[i].source, made[i]);
		for (size_t j = 0; j < i; j++)
			assert_int_equal(differs(made[i], made[j]), cases[i].part | cases[j].part);
	}
}

/* Spellings of "impersonate nobody" are the same. The order of drops does not count. */
TEST_CASE(equal_settings_have_equal_fingerprints)
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

/* An unknown cluster has a mark of zeroes; a known cluster never has. */
TEST_CASE(known_clusters_have_a_mark)
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
