/* SPDX-License-Identifier: Apache-2.0 */
/* Items go out from the objects' own texts; what is no object's stands in list->own; see api_list_private.h.
 */
#include "tools/serving/api_list_private.h"

#include <inttypes.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/proto_object.h"

enum { METADATA = 1, ITEMS }; /* a list's fields in protobuf */

static void
put(struct api_list *list, const char *bytes, size_t len)
{
	list->pieces[list->piece_count++] = (struct list_piece){bytes, len};
}

void
list_put_own(struct api_list *list)
{
	put(list, list->own.data, list->own.len);
}

static void
put_in_json(struct api_list *list, const struct api_object *object)
{
	const struct api_resource *resource = list->form.resource;

	put(list, ",", list->picked > 1);
	if (list->form.shape.kind == API_PLAIN) {
		put(list, resource->head, resource->item_head_len);
		put(list, object->text, object->text_len);
	} else {
		put(list, list->item_head.data, list->item_head.len);
		put(list, object->text + object->meta_at, object->meta_len);
		put(list, "}", 1);
	}
}

void
list_put_item(struct api_list *list, struct api_object *object)
{
	_cleanup_(api_buf_done) struct api_buf message = {0};

	api_object_unref(list->object);
	list->object = list->as_events ? api_object_ref(object) : api_shape_object(&list->form.shape, object);
	api_object_unref(object);
	object = list->object;
	api_buf_reset(&list->own);
	if (list->as_events) {
		api_line_object(&list->form, API_ADDED, object, 0,
				list->picked == 1 && list->form.shape.kind == API_TABLE, &list->own);
		list_put_own(list);
	} else if (list->form.shape.protobuf) {
		api_proto_object(&list->form.shape, list->form.resource, object, 0, &message);
		api_proto_bytes(&list->own, ITEMS, message.data, message.len);
		list_put_own(list);
	} else if (list->form.shape.kind == API_TABLE) {
		api_buf_puts(&list->own, list->picked > 1 ? "," : "");
		api_table_row(&list->form.shape, list->form.resource, object, 0, &list->own);
		list_put_own(list);
	} else {
		put_in_json(list, object);
	}
}

/* ---- what stands before and behind them ----------------------------------- */

/* In protobuf, where the length of it all is told first. */
static void
head_in_protobuf(struct api_list *list, const struct api_buf *meta)
{
	_cleanup_(api_buf_done) struct api_buf kind = {0};
	_cleanup_(api_buf_done) struct api_buf text = {0};
	_cleanup_(api_buf_done) struct api_buf list_meta = {0};
	_cleanup_(api_buf_done) struct api_buf inside = {0};

	api_buf_printf(&text, "{%s}", meta->data);
	api_proto_json("v1", "ListMeta", text.data, text.len, &list_meta);
	api_proto_bytes(&inside, METADATA, list_meta.data, list_meta.len);
	api_buf_printf(&kind, "%sList", api_proto_kind(&list->form.shape, list->form.resource));
	api_proto_envelope(&list->own, api_proto_version(&list->form.shape, list->form.resource), kind.data,
			   inside.len + list->bytes);
	api_buf_put(&list->own, inside.data, inside.len);
}

static void
head_in_json(struct api_list *list, const struct api_buf *meta)
{
	const struct api_resource *resource = list->form.resource;
	const struct api_shape *shape = &list->form.shape;

	switch (shape->kind) {
	case API_TABLE:
		api_table_head(shape, resource, meta->data, true, &list->own);
		break;
	case API_PARTIAL:
	case API_PARTIAL_LIST:
		api_buf_printf(&list->own,
			       "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/"
			       "%s\",\"metadata\":{%s},\"items\":[",
			       shape->version, meta->data);
		break;
	case API_PLAIN:
		api_buf_printf(&list->own,
			       "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{%s},\"items\":[",
			       resource->kind, resource->api_version, meta->data);
	}
}

void
list_make_head(struct api_list *list)
{
	_cleanup_(api_buf_done) struct api_buf meta = {0};

	api_buf_reset(&list->own);
	api_buf_put(&list->own, "", 0);
	if (list->as_events)
		return;
	api_buf_printf(&meta, "\"resourceVersion\":\"%" PRIu64 "\"", list->rv);
	if (list->token.len)
		api_buf_printf(&meta, ",\"continue\":\"%s\"", list->token.data);
	if (list->token.len && list->left)
		api_buf_printf(&meta, ",\"remainingItemCount\":%" PRIu64, list->left);
	if (list->form.shape.protobuf)
		head_in_protobuf(list, &meta);
	else
		head_in_json(list, &meta);
}

void
list_make_tail(struct api_list *list)
{
	api_buf_reset(&list->own);
	api_buf_put(&list->own, "", 0);
	if (!list->as_events && list->form.shape.protobuf)
		api_buf_put(&list->own, API_PROTO_TRAILER, API_PROTO_TRAILER_LENGTH);
	else if (!list->as_events)
		api_buf_puts(&list->own, "]}\n");
	else if (list->query->bookmarks)
		api_line_bookmark(&list->form, list->rv, true,
				  list->picked == 0 && list->form.shape.kind == API_TABLE, &list->own);
}
