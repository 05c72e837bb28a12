/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-sim's generated cluster: its objects are printed as a server prints known types, so that they can
 * also come in protobuf.
 */
#include "tests/room.h"
#include "tools/informer-sim/cluster.h"

#define NODES 20u
#define PODS_PER_NODE 10u
#define NOW 1800000000

/* A number, and a unit that no larger unit could replace. */
static void
assert_canonical(const char *quantity)
{
	static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti"};
	char *unit;
	unsigned long value = strtoul(quantity, &unit, 10);
	unsigned base = 0;

	assert_ptr_not_equal(unit, quantity);
	if (value == 0) {
		assert_string_equal(unit, "");
		return;
	}
	assert_true(quantity[0] != '0');
	for (size_t i = 1; i < sizeof(binary) / sizeof(binary[0]); i++)
		if (strcmp(unit, binary[i]) == 0)
			base = 1024;
	if (strcmp(unit, "m") == 0 || *unit == '\0')
		base = 1000;
	if (base == 0 || value % base == 0)
		fail_msg("%s is not canonical", quantity);
}

/* Check every quantity below a node: the members of limits, requests, capacity and allocatable. */
static size_t
check_quantities(const struct api_node *node)
{
	static const char *const lists[] = {"limits", "requests", "capacity", "allocatable"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct api_node *list = api_get(node, lists[i]);

		for (const struct api_node *q = list ? list->child : NULL; q; q = q->next, n++) {
			char *text = api_text_dup(q);

			assert_canonical(text);
			free(text);
		}
	}
	for (const struct api_node *c = node->type <= API_ARRAY ? node->child : NULL; c; c = c->next)
		n += check_quantities(c);
	return n;
}

/* A quantity is printed in its canonical form: 2Gi, never 2048Mi. */
TEST_CASE(quantities_are_canonical)
{
	static const struct {
		const char *resource;
		size_t least; /* quantities of each object */
	} kinds[] = {{"pods", 3}, {"nodes", 12}};
	struct sim_store *store = sim_store_new(1, 0);
	struct sim_rng rng = {.state = 7};
	struct api_registry registry;
	struct sim_hosts hosts = {0};

	api_registry_init(&registry);
	sim_hosts_init(&hosts, NODES, &rng);
	sim_cluster_generate(&registry, store, &hosts, PODS_PER_NODE, NOW, &rng);
	sim_hosts_done(&hosts);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct api_resource *resource = api_registry_find(&registry, "", "v1",
									kinds[i].resource);
		struct sim_view view;
		struct api_object *object;
		size_t objects = 0;

		assert_int_equal(sim_store_view(store, resource, 0, &view, NULL), 0);
		for (; (object = sim_view_next(&view)); objects++) {
			_cleanup_(api_doc_done) struct api_doc doc = {0};
			_cleanup_(api_buf_done) struct api_buf text = {0};
			struct api_doc_error error;

			api_buf_puts(&text, "{");
			api_buf_put(&text, object->text, object->text_len);
			assert_int_equal(api_doc_parse(&doc, text.data, text.len, NULL, &error), 0);
			assert_in_range(check_quantities(doc.root), kinds[i].least, SIZE_MAX);
		}
		sim_view_done(&view);
		assert_in_range(objects, NODES, SIZE_MAX);
	}
	sim_store_free(store);
	api_registry_done(&registry);
}
