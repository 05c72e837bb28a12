/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accept, PartialObjectMetadata and Tables. A list of metadata is streamed as pieces of the stored texts,
 * like a plain list. Table rows are made here by tools/printer.
 */
#include "tools/serving/shape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/printer/print.h"

/* Whether the list, separated by '+', contains the name. */
static bool
names(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; *list; list += strcspn(list, "+"), list += *list == '+')
		if (!strncmp(list, name, len) && (list[len] == '+' || !list[len]))
			return true;
	return false;
}

/* Whether a media range is served, as "application/json;as=Table;v=v1;g=meta.k8s.io", and in which shape. */
static bool
served(char *range, const struct api_offer *offer, struct api_shape *shape)
{
	const char *type, *as = "", *version = "v1", *group = "meta.k8s.io";
	bool protobuf, bare = false;
	char *part;

	part = strsep(&range, ";");
	part += strspn(part, " ");
	part[strcspn(part, " ")] = '\0';
	type = part;
	while ((part = strsep(&range, ";"))) {
		part += strspn(part, " ");
		part[strcspn(part, " ")] = '\0';
		if (!strncmp(part, "as=", 3))
			as = part + 3;
		else if (!strncmp(part, "v=", 2))
			version = part + 2;
		else if (!strncmp(part, "g=", 2))
			group = part + 2;
		else if (!strncmp(part, "drop=", 5))
			bare = offer->drop && names(part + 5, "metadata.managedFields");
		else if (!strncmp(part, "stream=", 7) && strcmp(part + 7, "watch") != 0)
			return false;
	}
	protobuf = !strcmp(type, API_PROTOBUF_TYPE);
	if (!protobuf && strncmp(type, "application/json", 16) != 0 && strncmp(type, "*/*", 3) != 0)
		return false;
	if (protobuf && (!offer->protobuf || (!as[0] && !offer->typed) || !strcmp(as, "Table")))
		return false;
	*shape = (struct api_shape){.kind = API_PLAIN,
				    .version = "v1",
				    .protobuf = protobuf,
				    .bare = bare && strcmp(as, "Table") != 0};
	if (!as[0])
		return true;
	if (strcmp(group, "meta.k8s.io") != 0 ||
	    (strcmp(version, "v1") != 0 && strcmp(version, "v1beta1") != 0))
		return false;
	shape->version = strcmp(version, "v1") == 0 ? "v1" : "v1beta1";
	if (!strcmp(as, "Table"))
		shape->kind = API_TABLE;
	else if (!strcmp(as, "PartialObjectMetadata"))
		shape->kind = API_PARTIAL;
	else if (!strcmp(as, "PartialObjectMetadataList"))
		shape->kind = API_PARTIAL_LIST;
	else
		return false;
	return true;
}

int
api_shape_parse(const char *accept, const struct api_offer *offer, struct api_shape *ret_shape)
{
	_cleanup_(api_freep) char *copy = api_strndup(accept ? accept : "", accept ? strlen(accept) : 0);
	char *rest = copy, *range;

	*ret_shape = (struct api_shape){.kind = API_PLAIN, .version = "v1"};
	if (!copy[strspn(copy, " ")])
		return 0;
	while ((range = strsep(&rest, ",")))
		if (served(range, offer, ret_shape))
			return 0;
	return -ENOTSUP;
}

struct api_object *
api_shape_object(const struct api_shape *shape, struct api_object *object)
{
	return shape->bare ? api_object_bare(object) : api_object_ref(object);
}

void
api_shape_partial_head(const struct api_shape *shape, struct api_buf *buf)
{
	api_buf_printf(buf,
		       "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":",
		       shape->version);
}

static void
partial(const struct api_shape *shape, const struct api_object *object, uint64_t rv, struct api_buf *buf)
{
	api_shape_partial_head(shape, buf);
	api_object_put(object, object->meta_at, object->meta_len, rv, buf);
	api_buf_puts(buf, "}");
}

static const struct printer *
printer_of(const struct api_resource *resource)
{
	return print_find((struct field_text){resource->group, strlen(resource->group)},
			  (struct field_text){resource->plural, strlen(resource->plural)});
}

void
api_table_head(const struct api_shape *shape, const struct api_resource *resource, const char *meta,
	       bool columns, struct api_buf *buf)
{
	const struct printer *printer = printer_of(resource);

	api_buf_printf(buf,
		       "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/"
		       "%s\",\"metadata\":{%s},\"columnDefinitions\":",
		       shape->version, meta);
	for (size_t i = 0; columns && i < printer->column_count; i++)
		api_buf_printf(buf,
			       "%s{\"name\":\"%s\",\"type\":\"%s\",\"format\":\"%s\",\"description\":\"\","
			       "\"priority\":%d}",
			       i ? "," : "[", printer->columns[i].name,
			       resource->custom && !strcmp(printer->columns[i].name, "Age") ? "date"
											    : "string",
			       i ? "" : "name", printer->columns[i].wide);
	api_buf_puts(buf, columns ? "],\"rows\":[" : "null,\"rows\":[");
}

void
api_table_row(const struct api_shape *shape, const struct api_resource *resource,
	      const struct api_object *object, uint64_t rv, struct api_buf *buf)
{
	struct print_options options = {.wide = true, .now_ns = (int64_t)time(NULL) * 1000000000};
	_cleanup_(api_buf_done) struct api_buf text = {0};
	_cleanup_(cells_done) struct cells cells = CELLS_INIT;
	cJSON *tree;

	api_object_print(resource, object, 0, &text);
	tree = cJSON_ParseWithLength(text.data, text.len);
	printer_of(resource)->print(field_of_cjson(tree), &options, &cells);
	cJSON_Delete(tree);
	api_buf_puts(buf, "{\"cells\":[");
	for (size_t i = 0; i < cells.count; i++) {
		struct field_text cell = cells_at(&cells, i);

		api_buf_puts(buf, i ? "," : "");
		api_buf_json(buf, cell.data, cell.length);
	}
	api_buf_puts(buf, "]");
	if (shape->rows != API_ROW_NONE)
		api_buf_puts(buf, ",\"object\":");
	if (shape->rows == API_ROW_METADATA)
		partial(shape, object, rv, buf);
	else if (shape->rows == API_ROW_OBJECT)
		api_object_print(resource, object, rv, buf);
	api_buf_puts(buf, "}");
}

void
api_table(const struct api_shape *shape, const struct api_resource *resource, const struct api_object *object,
	  uint64_t rv, bool columns, struct api_buf *buf)
{
	char meta[64];

	snprintf(meta, sizeof(meta), "\"resourceVersion\":\"%" PRIu64 "\"", rv || !object ? rv : object->rv);
	api_table_head(shape, resource, meta, columns, buf);
	if (object)
		api_table_row(shape, resource, object, rv, buf);
	api_buf_puts(buf, "]}");
}

void
api_shape_print(const struct api_shape *shape, const struct api_resource *resource,
		const struct api_object *object, uint64_t rv, bool columns, struct api_buf *buf)
{
	if (shape->kind == API_PLAIN)
		api_object_print(resource, object, rv, buf);
	else if (shape->kind == API_TABLE)
		api_table(shape, resource, object, rv, columns, buf);
	else
		partial(shape, object, rv, buf);
}
