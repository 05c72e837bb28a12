/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployments: their progress.
 *
 * Source: printDeployment(), layoutContainerCells(), metav1.LabelSelectorAsSelector()
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/printer/pieces.h"
#include "tools/printer/print.h"

/* Sorted by key, the first member. */
struct term {
	struct field_text key;
	struct field value;	 /* of matchLabels */
	struct field expression; /* or of matchExpressions */
};

/* "(a,b)", sorted. */
static void
add_values(struct field values, struct text *text)
{
	size_t count = field_count(values);
	struct field_text *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return;
	for (size_t i = 0; i < count; i++)
		sorted[i] = field_string(field_element(values, i));
	qsort(sorted, count, sizeof(*sorted), field_text_compare);
	text_addc(text, '(');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			text_addc(text, ',');
		text_add(text, sorted[i].data, sorted[i].length);
	}
	text_addc(text, ')');
	free(sorted);
}

static void
add_term(const struct term *term, struct text *text)
{
	struct field operator = field_get(term->expression, "operator");
	struct field_text value = field_string(term->value);

	if (field_is(operator, "DoesNotExist"))
		text_addc(text, '!');
	text_add(text, term->key.data, term->key.length);
	if (field_kind(term->expression) == FIELD_NONE) {
		text_addc(text, '=');
		text_add(text, value.data, value.length);
	} else if (field_is(operator, "In") || field_is(operator, "NotIn")) {
		text_adds(text, field_is(operator, "In") ? " in " : " notin ");
		add_values(field_get(term->expression, "values"), text);
	}
}

static void
print_selector(struct field selector, struct cells *cells)
{
	struct field labels = field_get(selector, "matchLabels"),
		     expressions = field_get(selector, "matchExpressions");
	size_t count = 0, max = field_count(labels) + field_count(expressions);
	struct term *terms = calloc(max + 1, sizeof(*terms));
	struct field_iter it;

	field_iterate(labels, &it);
	while (terms && count < max && field_next(&it))
		terms[count++] = (struct term){.key = {it.key, it.key_length}, .value = it.item};
	field_iterate(expressions, &it);
	while (terms && count < max && field_next(&it))
		terms[count++] = (struct term){.key = field_string(field_get(it.item, "key")),
					       .expression = it.item};
	if (terms)
		qsort(terms, count, sizeof(*terms), field_text_compare);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			text_addc(&cells->text, ',');
		add_term(&terms[i], &cells->text);
	}
	cells_end(cells);
	free(terms);
}

static void
print(struct field deployment, const struct print_options *options, struct cells *cells)
{
	struct field status = field_get(deployment, "status"), spec = field_get(deployment, "spec");
	struct field containers = field_at(spec, "template", "spec", "containers");

	print_name(deployment, cells);
	cells_addf(cells, "%" PRId64 "/%" PRId64, field_int(field_get(status, "readyReplicas")),
		   field_int(field_get(spec, "replicas")));
	cells_addf(cells, "%" PRId64, field_int(field_get(status, "updatedReplicas")));
	cells_addf(cells, "%" PRId64, field_int(field_get(status, "availableReplicas")));
	print_age(deployment, options->now_ns, cells);
	if (!options->wide)
		return;
	print_joined(containers, "name", &cells->text);
	cells_end(cells);
	print_joined(containers, "image", &cells->text);
	cells_end(cells);
	print_selector(field_get(spec, "selector"), cells);
}

static const struct print_column columns[] = {
	{"Name", false}, {"Ready", false},     {"Up-to-date", false}, {"Available", false},
	{"Age", false},	 {"Containers", true}, {"Images", true},      {"Selector", true},
};

const struct printer print_deployment = {"apps", "deployments", columns, sizeof(columns) / sizeof(*columns),
					 print};
