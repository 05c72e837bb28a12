/* SPDX-License-Identifier: Apache-2.0 */
/* Shows objects; see get.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/document.h"
#include "tools/informerctl/field_informer.h"
#include "tools/informerctl/get.h"
#include "tools/informerctl/aligned_table.h"
#include "tools/printer/age.h"
#include "tools/printer/pieces.h"
#include "tools/printer/print.h"

static struct field
field_of_hit(const struct get_hit *hit)
{
	struct informer_value value;

	if (informer_object_value(&hit->object, &value) != 0)
		memset(&value, 0, sizeof(value));
	return field_of_value(&value);
}

/* ---- documents ---- */

/* The common part of one target's documents, in terminated copies. */
struct identity {
	char api_version[256];
	char kind[128];
};

static void
identify(const struct get_target *target, struct identity *ret)
{
	const struct informer_resource_info *info = &target->info;

	snprintf(ret->api_version, sizeof(ret->api_version), "%.*s%s%.*s", (int)info->group_length,
		 info->group, info->group_length ? "/" : "", (int)info->version_length, info->version);
	snprintf(ret->kind, sizeof(ret->kind), "%.*s", (int)info->kind_length, info->kind);
}

struct hit_list {
	struct document_list list;
	const struct get *get;
	size_t at;
	struct identity identity;
};

static bool
next_document(struct document_list *list, struct document *ret)
{
	struct hit_list *hits = (struct hit_list *)list;
	const struct get_hit *hit;

	if (hits->at == hits->get->hit_count)
		return false;
	hit = &hits->get->hits[hits->at++];
	identify(&hits->get->targets[hit->target], &hits->identity);
	*ret = (struct document){field_of_hit(hit), hits->identity.api_version, hits->identity.kind};
	return true;
}

static void
show_documents(const struct get *get, struct text *out)
{
	struct hit_list hits = {.list.next = next_document, .get = get};
	struct document document;
	bool yaml = get->output == GET_YAML;

	if (get->target_count == 1 && get->targets[0].name) {
		if (!next_document(&hits.list, &document))
			return;
		if (yaml)
			document_yaml(&document, out);
		else
			document_json(&document, out);
	} else if (get->hit_count == 0 && get->missed) {
		/* stderr has the message; like kubectl, print no empty list */
		return;
	} else if (yaml) {
		document_list_yaml(&hits.list, out);
	} else {
		document_list_json(&hits.list, out);
	}
}

void
get_add_document(const struct get *get, const struct get_target *target, struct field object,
		 struct text *out)
{
	struct identity identity = {.api_version = ""};
	struct document document;

	identify(target, &identity);
	document = (struct document){object, identity.api_version, identity.kind};
	if (get->output == GET_YAML)
		document_yaml(&document, out);
	else
		document_json(&document, out);
}

/* ---- names and tables ---- */

void
get_add_kind(const struct get_target *target, struct text *text)
{
	for (size_t i = 0; i < target->info.kind_length; i++)
		text_addc(text, (char)tolower((unsigned char)target->info.kind[i]));
	if (target->info.group_length > 0)
		text_addc(text, '.');
	text_add(text, target->info.group, target->info.group_length);
	text_addc(text, '/');
}

void
get_add_name(const struct get_target *target, struct field_text name, struct text *out)
{
	get_add_kind(target, out);
	text_add(out, name.data, name.length);
	text_addc(out, '\n');
}

static void
show_names(const struct get *get, struct text *out)
{
	for (size_t i = 0; i < get->hit_count; i++)
		get_add_name(&get->targets[get->hits[i].target], get->hits[i].name, out);
}

/* The heading of a label's column: the last part of its key, in capitals. */
static void
add_label_heading(const char *key, size_t length, struct cells *cells)
{
	size_t start = length;

	while (start > 0 && key[start - 1] != '/')
		start--;
	for (size_t i = start; i < length; i++)
		text_addc(&cells->text, (char)toupper((unsigned char)key[i]));
	cells_end(cells);
}

/* The columns of -L, for the heading (labels NULL) or for an object. Returns how many. */
static size_t
add_label_columns(const struct get *get, const struct field *labels, struct cells *cells)
{
	size_t count = 0;

	for (size_t i = 0; i < get->label_columns.count; i++) {
		for (const char *at = get->label_columns.items[i]; *at; at += *at == ',') {
			size_t length = strcspn(at, ",");

			count++;
			if (labels)
				cells_add(cells, field_string(field_get_n(*labels, at, length)));
			else
				add_label_heading(at, length, cells);
			at += length;
		}
	}
	return count;
}

struct get_table {
	const struct get *get;
	const struct get_target *target;
	const struct printer *printer;
	struct print_options options;
	bool namespaces;
	bool kinds;
};

/* Append the heading's cells. Returns the number of columns. */
static size_t
add_heading(const struct get_table *table, struct cells *cells)
{
	size_t count = 0;

	if (table->namespaces) {
		cells_adds(cells, "NAMESPACE");
		count++;
	}
	for (size_t i = 0; i < table->printer->column_count; i++) {
		if (table->printer->columns[i].wide && !table->options.wide)
			continue;
		cells_add_heading(cells, table->printer->columns[i].name);
		count++;
	}
	if (table->get->deleted) {
		cells_adds(cells, "DELETED");
		count++;
	}
	count += add_label_columns(table->get, NULL, cells);
	if (table->get->show_labels) {
		cells_adds(cells, "LABELS");
		count++;
	}
	return count;
}

/* The time since the deletion; "<none>" for a present object. */
static void
add_deleted(const struct get_table *table, const struct informer_object *object, struct cells *cells)
{
	char age[AGE_TEXT_MAX];
	uint64_t wall_ns;

	if (!object || !informer_object_deleted(object, &wall_ns))
		cells_adds(cells, "<none>");
	else
		cells_adds(cells,
			   wall_ns ? age_format(table->options.now_ns - (int64_t)wall_ns, age) : "<unknown>");
}

/* whole: the object itself; NULL if only its fields are known */
static void
add_row(const struct get_table *table, const struct informer_object *whole, struct field object,
	struct field_text ns, struct cells *cells)
{
	struct field labels;

	if (table->namespaces)
		cells_add(cells, ns);
	if (table->kinds)
		get_add_kind(table->target, &cells->text);
	table->printer->print(object, &table->options, cells);
	if (table->get->deleted)
		add_deleted(table, whole, cells);
	if (table->get->label_columns.count == 0 && !table->get->show_labels)
		return;
	labels = field_at(object, "metadata", "labels");
	add_label_columns(table->get, &labels, cells);
	if (table->get->show_labels) {
		print_labels(labels, &cells->text);
		cells_end(cells);
	}
}

static bool
same_resource(const struct get_target *a, const struct get_target *b)
{
	return a->resource == b->resource ||
	       (a->info.kind_length == b->info.kind_length &&
		memcmp(a->info.kind, b->info.kind, a->info.kind_length) == 0 &&
		a->info.group_length == b->info.group_length &&
		memcmp(a->info.group, b->info.group, a->info.group_length) == 0);
}

static struct get_table
table_of(const struct get *get, const struct get_target *target, bool kinds)
{
	const struct informer_resource_info *info = &target->info;

	return (struct get_table){
		.get = get,
		.target = target,
		.printer = print_find((struct field_text){info->group, info->group_length},
				      (struct field_text){info->resource, info->resource_length}),
		.options = {.wide = get->output == GET_WIDE, .now_ns = age_now()},
		.namespaces = get->all_namespaces && info->namespaced,
		.kinds = kinds,
	};
}

size_t
get_add_heading(const struct get *get, const struct get_target *target, struct cells *cells)
{
	const struct get_table table = table_of(get, target, get->show_kind);

	return add_heading(&table, cells);
}

void
get_add_row(const struct get *get, const struct get_target *target, struct field object, struct field_text ns,
	    struct cells *cells)
{
	const struct get_table table = table_of(get, target, get->show_kind);

	add_row(&table, NULL, object, ns, cells);
}

/* Print the hits of one resource, from `first` on, as a table. Returns the next resource's first hit. */
static size_t
show_table(const struct get *get, size_t first, bool kinds, struct text *out)
{
	const struct get_target *target = &get->targets[get->hits[first].target];
	const struct get_table table = table_of(get, target, kinds);
	struct cells heading = CELLS_INIT, cells = CELLS_INIT;
	size_t columns, i = first;

	columns = add_heading(&table, get->no_headers ? &heading : &cells);
	for (; i < get->hit_count && same_resource(&get->targets[get->hits[i].target], target); i++)
		add_row(&table, &get->hits[i].object, field_of_hit(&get->hits[i]), get->hits[i].namespace_,
			&cells);
	table_write(&cells, columns, out);
	cells_done(&heading);
	cells_done(&cells);
	return i;
}

static void
show_tables(const struct get *get, struct text *out)
{
	bool kinds = get->show_kind;

	for (size_t i = 1; i < get->target_count; i++)
		kinds |= !same_resource(&get->targets[0], &get->targets[i]);
	for (size_t i = 0; i < get->hit_count;) {
		if (i > 0)
			text_addc(out, '\n');
		i = show_table(get, i, kinds, out);
	}
}

void
get_show(struct get *get, struct text *out)
{
	if (get->output == GET_NAME)
		show_names(get, out);
	else if (get->output == GET_JSON || get->output == GET_YAML)
		show_documents(get, out);
	else
		show_tables(get, out);
}
