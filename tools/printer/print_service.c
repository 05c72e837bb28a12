/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services: addresses and ports.
 *
 * Source: printService(), getServiceExternalIP(), loadBalancerStatusStringer(), makePortString()
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/printer/pieces.h"
#include "tools/printer/print.h"

/* Bytes to which the load balancer's addresses are cut, except with -o wide. */
#define BALANCER_WIDTH 16

/* Add the load balancer's addresses, sorted and without duplicates. */
static void
add_balancer(struct field service, bool wide, struct text *text)
{
	struct field ingress = field_at(service, "status", "loadBalancer", "ingress");
	size_t count = 0, start = text->length;
	struct field_text *names = calloc(field_count(ingress) + 1, sizeof(*names));

	if (!names)
		return;
	for (size_t i = 0; i < field_count(ingress); i++) {
		struct field_text name = field_string(field_get(field_element(ingress, i), "ip"));

		if (name.length == 0)
			name = field_string(field_get(field_element(ingress, i), "hostname"));
		if (name.length > 0)
			names[count++] = name;
	}
	qsort(names, count, sizeof(*names), field_text_compare);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && field_text_equal(names[i], names[i - 1]))
			continue;
		if (i > 0)
			text_addc(text, ',');
		text_add(text, names[i].data, names[i].length);
	}
	free(names);
	if (!wide && text->length - start > BALANCER_WIDTH) {
		text->length = start + BALANCER_WIDTH - 3;
		text_adds(text, "...");
	}
}

static void
print_external(struct field service, bool wide, struct cells *cells)
{
	struct field type = field_at(service, "spec", "type"),
		     addresses = field_at(service, "spec", "externalIPs");
	struct text *text = &cells->text;
	size_t start = text->length;

	if (field_is(type, "ExternalName")) {
		cells_add(cells, field_string(field_at(service, "spec", "externalName")));
		return;
	}
	if (field_is(type, "LoadBalancer")) {
		add_balancer(service, wide, text);
		if (text->length > start && field_count(addresses) > 0)
			text_addc(text, ',');
		if (print_joined(addresses, NULL, text) == 0 && text->length == start)
			text_adds(text, "<pending>");
	} else if (!field_is(type, "ClusterIP") && !field_is(type, "NodePort")) {
		text_adds(text, "<unknown>");
	} else if (print_joined(addresses, NULL, text) == 0) {
		text_adds(text, "<none>");
	}
	cells_end(cells);
}

static void
print_ports(struct field service, struct cells *cells)
{
	struct field_iter it;
	size_t count = 0;

	field_iterate(field_at(service, "spec", "ports"), &it);
	while (field_next(&it)) {
		int64_t node_port = field_int(field_get(it.item, "nodePort"));
		struct field_text protocol = field_string(field_get(it.item, "protocol"));

		text_addf(&cells->text, "%s%" PRId64, count++ > 0 ? "," : "",
			  field_int(field_get(it.item, "port")));
		if (node_port > 0)
			text_addf(&cells->text, ":%" PRId64, node_port);
		text_addc(&cells->text, '/');
		text_add(&cells->text, protocol.data, protocol.length);
	}
	if (count == 0)
		text_adds(&cells->text, "<none>");
	cells_end(cells);
}

static void
print(struct field service, const struct print_options *options, struct cells *cells)
{
	struct field_text address = field_string(field_element(field_at(service, "spec", "clusterIPs"), 0));

	/*
	 * API servers fill clusterIPs from clusterIP. Dumps from before clusterIPs existed have only
	 * clusterIP.
	 */
	if (address.length == 0)
		address = field_string(field_at(service, "spec", "clusterIP"));
	print_name(service, cells);
	cells_add(cells, field_string(field_at(service, "spec", "type")));
	cells_add_or(cells, address, "<none>");
	print_external(service, options->wide, cells);
	print_ports(service, cells);
	print_age(service, options->now_ns, cells);
	if (!options->wide)
		return;
	print_labels(field_at(service, "spec", "selector"), &cells->text);
	cells_end(cells);
}

static const struct print_column columns[] = {
	{"Name", false},    {"Type", false}, {"Cluster-IP", false}, {"External-IP", false},
	{"Port(s)", false}, {"Age", false},  {"Selector", true},
};

const struct printer print_service = {"", "services", columns, sizeof(columns) / sizeof(*columns), print};
