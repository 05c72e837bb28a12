/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes: readiness, roles, versions.
 *
 * Source: printNode(), findNodeRoles(), getNodeInternalIP(), getNodeExternalIP()
 */
#include <stdlib.h>
#include <string.h>

#include "tools/printer/pieces.h"
#include "tools/printer/print.h"

#define ROLE_PREFIX "node-role.kubernetes.io/"
#define ROLE_LABEL "kubernetes.io/role"

static void
print_status(struct field node, struct cells *cells)
{
	const char *word = "Unknown";
	struct field_iter it;

	/* the last condition of the type counts */
	field_iterate(field_at(node, "status", "conditions"), &it);
	while (field_next(&it))
		if (field_is(field_get(it.item, "type"), "Ready"))
			word = field_is(field_get(it.item, "status"), "True") ? "Ready" : "NotReady";
	text_adds(&cells->text, word);
	if (field_is_true(field_at(node, "spec", "unschedulable")))
		text_adds(&cells->text, ",SchedulingDisabled");
	cells_end(cells);
}

static void
print_roles(struct field node, struct cells *cells)
{
	struct field labels = field_at(node, "metadata", "labels");
	struct field_text *roles = calloc(field_count(labels) + 1, sizeof(*roles));
	struct field_iter it;
	size_t count = 0, max = field_count(labels);

	field_iterate(labels, &it);
	while (roles && count < max && field_next(&it)) {
		struct field_text key = {it.key, it.key_length};

		if (key.length > strlen(ROLE_PREFIX) &&
		    memcmp(key.data, ROLE_PREFIX, strlen(ROLE_PREFIX)) == 0)
			roles[count++] = (struct field_text){key.data + strlen(ROLE_PREFIX),
							     key.length - strlen(ROLE_PREFIX)};
		else if (field_text_is(key, ROLE_LABEL) && field_string(it.item).length > 0)
			roles[count++] = field_string(it.item);
	}
	if (roles)
		qsort(roles, count, sizeof(*roles), field_text_compare);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && field_text_equal(roles[i], roles[i - 1]))
			continue;
		if (i > 0)
			text_addc(&cells->text, ',');
		text_add(&cells->text, roles[i].data, roles[i].length);
	}
	if (count == 0)
		text_adds(&cells->text, "<none>");
	cells_end(cells);
	free(roles);
}

static void
print_address(struct field node, const char *type, struct cells *cells)
{
	struct field_iter it;

	field_iterate(field_at(node, "status", "addresses"), &it);
	while (field_next(&it)) {
		if (!field_is(field_get(it.item, "type"), type))
			continue;
		cells_add(cells, field_string(field_get(it.item, "address")));
		return;
	}
	cells_adds(cells, "<none>");
}

static void
print(struct field node, const struct print_options *options, struct cells *cells)
{
	struct field info = field_at(node, "status", "nodeInfo");

	print_name(node, cells);
	print_status(node, cells);
	print_roles(node, cells);
	print_age(node, options->now_ns, cells);
	cells_add(cells, field_string(field_get(info, "kubeletVersion")));
	if (!options->wide)
		return;
	print_address(node, "InternalIP", cells);
	print_address(node, "ExternalIP", cells);
	cells_add_or(cells, field_string(field_get(info, "osImage")), "<unknown>");
	cells_add_or(cells, field_string(field_get(info, "kernelVersion")), "<unknown>");
	cells_add_or(cells, field_string(field_get(info, "containerRuntimeVersion")), "<unknown>");
}

static const struct print_column columns[] = {
	{"Name", false},          {"Status", false},           {"Roles", false},      {"Age", false},
	{"Version", false},       {"Internal-IP", true},       {"External-IP", true}, {"OS-Image", true},
	{"Kernel-Version", true}, {"Container-Runtime", true},
};

const struct printer print_node = {"", "nodes", columns, sizeof(columns) / sizeof(*columns), print};
