/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIST: picks the objects of one consistent view, then streams their texts. The
 * view's references keep them alive; no response is ever built as a whole.
 *
 * Which RV is answered, and whether `limit` counts, follows the real server:
 *
 *   resourceVersion  match        the state      limit
 *   (none)                        now            counts
 *   0                             now            ignored: the watch cache answers
 *   N                             not before N   counts: then the state is exactly N's
 *   N                Exact        exactly N      counts
 *   N                NotOlderThan not before N   counts
 *   continue                      the token's    counts, but not together with RV 0
 *
 * States of the past come from the event ring: what was changed since is undone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/fault_act.h"
#include "tools/informer-sim/handlers.h"
#include "tools/serving/page.h"
#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/proto_object.h"
#include "tools/informer-sim/protobuf.h"
#include "tools/serving/query.h"
#include "tools/informer-sim/reply.h"

enum { METADATA = 1, ITEMS }; /* a list's fields in protobuf */

struct list_stream {
	const struct api_resource *resource;
	struct sim_view view;
	struct api_object **items; /* borrowed from the view; bare ones are the list's own */
	size_t count;
	size_t cap;
	struct api_buf head;      /* of a Table: with all its rows, and no items are left */
	struct api_buf item_head; /* of metadata alone */
	bool partial;
	struct api_shape shape;
	bool newer;          /* in protobuf: items have a field of no release */
	struct api_buf lead; /* in protobuf: what stands before the item being sent */
	/* the stream: piece 0 is the head, then four for each item, then the tail */
	size_t piece;
	size_t offset;
};

static void
list_free(void *cls)
{
	struct list_stream *list = cls;

	sim_view_done(&list->view);
	for (size_t i = 0; list->shape.bare && i < list->count; i++)
		api_object_unref(list->items[i]);
	free(list->items);
	api_buf_done(&list->head);
	api_buf_done(&list->item_head);
	api_buf_done(&list->lead);
	free(list);
}

/* The same of an item in protobuf: its tag and length, its bytes, and a field more. */
static const char *
piece_of_message(struct list_stream *list, struct api_object *object, size_t i, size_t *ret_len)
{
	size_t length;
	const char *bytes = api_proto_object(&list->shape, list->resource, object, &length);

	switch (i) {
	case 0:
		api_buf_reset(&list->lead);
		api_proto_begin(&list->lead, ITEMS, length + (list->newer ? API_PROTO_NEWER_LENGTH : 0));
		*ret_len = list->lead.len;
		return list->lead.data;
	case 1:
		*ret_len = length;
		return bytes;
	case 2:
		*ret_len = list->newer ? API_PROTO_NEWER_LENGTH : 0;
		return API_PROTO_NEWER;
	default:
		*ret_len = 0;
		return "";
	}
}

/* The bytes of a piece; NULL behind the last. */
static const char *
piece(struct list_stream *list, size_t i, size_t *ret_len)
{
	struct api_object *object;

	if (i == 0) {
		*ret_len = list->head.len;
		return list->head.data;
	}
	i--;
	if (i >= list->count * 4) {
		*ret_len = list->shape.protobuf ? API_PROTO_TRAILER_LENGTH : 3;
		return i > list->count * 4 ? NULL : list->shape.protobuf ? API_PROTO_TRAILER : "]}\n";
	}
	object = list->items[i / 4];
	if (list->shape.protobuf)
		return piece_of_message(list, object, i % 4, ret_len);
	switch (i % 4) {
	case 0:
		*ret_len = i > 0;
		return ",";
	case 1:
		*ret_len = list->partial ? list->item_head.len : list->resource->item_head_len;
		return list->partial ? list->item_head.data : list->resource->item_head;
	case 2:
		*ret_len = list->partial ? object->meta_len : object->text_len;
		return list->partial ? object->text + object->meta_at : object->text;
	default:
		*ret_len = list->partial;
		return "}";
	}
}

static ssize_t
read_list(void *cls, uint64_t position, char *out, size_t max)
{
	struct list_stream *list = cls;
	size_t done = 0;

	(void)position; /* read in order */
	while (done < max) {
		size_t len, n;
		const char *bytes = piece(list, list->piece, &len);

		if (!bytes)
			break;
		n = len - list->offset < max - done ? len - list->offset : max - done;
		memcpy(out + done, bytes + list->offset, n);
		done += n;
		list->offset += n;
		if (list->offset == len) {
			list->piece++;
			list->offset = 0;
		}
	}
	return done ? (ssize_t)done : MHD_CONTENT_READER_END_OF_STREAM;
}

static void
add(struct list_stream *list, struct api_object *object)
{
	if (list->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 256;
		list->items = api_realloc(list->items, list->cap * sizeof(struct api_object *));
	}
	list->items[list->count++] = list->shape.bare ? api_object_bare(list->resource, object) : object;
}

/*
 * Pick the page's items; if more follow, *ret_last is the page's last key, else NULL. *ret_left counts the
 * rest.
 */
static void
pick(struct list_stream *list, const struct api_query *query, const char *prefix, const struct api_page *page,
     uint64_t limit, const char **ret_last, uint64_t *ret_left)
{
	size_t prefix_len = strlen(prefix);
	const struct api_object *last = NULL;
	struct api_object *object;

	*ret_last = NULL;
	*ret_left = 0;
	sim_view_seek(&list->view, page->start);
	while ((object = sim_view_next(&list->view))) {
		if (strncmp(object->key, prefix, prefix_len) != 0)
			break;
		if (page->after && !strcmp(object->key, page->start))
			continue;
		if (limit && list->count == limit) {
			*ret_last = last ? last->key : NULL;
			++*ret_left;
			continue;
		}
		last = object;
		if (api_query_matches(query, object))
			add(list, object);
	}
}

static int
open_view(struct sim_request *request, const struct api_query *query, struct api_page *page,
	  struct list_stream *list)
{
	struct sim_store *store = request->server->store;
	bool exact = query->match == API_MATCH_EXACT || (query->match == API_MATCH_UNSET && query->limit);
	uint64_t rv = 0;
	int r;

	if (query->next_token) {
		if (query->rv_given && query->rv != 0)
			return api_status_set(
				&request->api.status, 400, "BadRequest",
				"specifying resource version is not allowed when using continue");
		r = api_page_decode(&request->api, query->next_token, page);
		if (r < 0)
			return r;
		rv = page->rv > 0 ? (uint64_t)page->rv : 0;
	} else if (query->rv) {
		r = sim_request_await(request, query->rv);
		if (r < 0)
			return r;
		if (exact)
			rv = query->rv;
	}
	if (request->stale && !query->next_token)
		rv = sim_fault_stale_rv(request);
	if (rv > sim_store_rv(store))
		return api_status_too_large_rv(&request->api.status, rv, sim_store_rv(store));
	r = sim_store_view(store, request->api.resource, rv, &list->view, NULL);
	if (r == 0)
		return 0;
	if (query->next_token)
		return api_page_expired(&request->api, page);
	return api_status_set(&request->api.status, 410, "Expired",
			      "The resourceVersion for the provided list is too old.");
}

/* The same in protobuf, whose length is told before its first byte: all items are encoded now. */
static void
begin_message(const struct sim_request *request, struct list_stream *list, const char *meta)
{
	_cleanup_(api_buf_done) struct api_buf kind = {0};
	_cleanup_(api_buf_done) struct api_buf text = {0};
	_cleanup_(api_buf_done) struct api_buf list_meta = {0};
	_cleanup_(api_buf_done) struct api_buf inside = {0};
	uint64_t length;
	size_t len;

	api_buf_printf(&text, "{%s}", meta);
	api_proto_json("v1", "ListMeta", text.data, text.len, &list_meta);
	api_proto_bytes(&inside, METADATA, list_meta.data, list_meta.len);
	length = inside.len;
	for (size_t i = 0; i < list->count; i++)
		for (size_t at = 0; at < 4; at++) {
			piece_of_message(list, list->items[i], at, &len);
			length += len;
		}
	api_buf_printf(&kind, "%sList", api_proto_kind(&list->shape, request->api.resource));
	api_proto_envelope(&list->head, api_proto_version(&list->shape, request->api.resource), kind.data,
			   length);
	api_buf_put(&list->head, inside.data, inside.len);
}

/* What stands before the items, in the shape that was asked for; meta: the inside of metadata. */
static void
begin(const struct sim_request *request, struct list_stream *list, const char *meta)
{
	const struct api_shape *shape = &request->api.shape;
	const struct api_resource *resource = request->api.resource;

	if (shape->protobuf) {
		begin_message(request, list, meta);
		return;
	}
	switch (shape->kind) {
	case API_TABLE:
		api_table_head(shape, resource, meta, true, &list->head);
		for (size_t i = 0; i < list->count; i++) {
			api_buf_puts(&list->head, i ? "," : "");
			api_table_row(shape, resource, list->items[i], 0, &list->head);
		}
		list->count = 0;
		break;
	case API_PARTIAL:
	case API_PARTIAL_LIST:
		list->partial = true;
		api_shape_partial_head(shape, &list->item_head);
		api_buf_printf(&list->head,
			       "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/"
			       "%s\",\"metadata\":{%s},\"items\":[",
			       shape->version, meta);
		break;
	case API_PLAIN:
		api_buf_printf(&list->head,
			       "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{%s},\"items\":[",
			       resource->kind, resource->api_version, meta);
	}
}

static int
build(struct sim_request *request, const struct api_query *query, struct list_stream *list, bool cached)
{
	_cleanup_(api_page_done) struct api_page page = {0};
	_cleanup_(api_buf_done) struct api_buf prefix = {0};
	_cleanup_(api_buf_done) struct api_buf meta = {0};
	const char *last;
	uint64_t left;
	int r;

	if (request->api.namespace_)
		api_buf_printf(&prefix, "%s/", request->api.namespace_);
	else
		api_buf_puts(&prefix, "");
	r = open_view(request, query, &page, list);
	if (r < 0)
		return r;
	if (!page.start)
		page.start = api_strndup(prefix.data, prefix.len);
	pick(list, query, prefix.data, &page, cached ? 0 : query->limit, &last, &left);

	api_buf_printf(&meta, "\"resourceVersion\":\"%" PRIu64 "\"", list->view.rv);
	if (last) {
		size_t at;

		api_buf_puts(&meta, ",\"continue\":\"");
		at = meta.len;
		api_page_encode((int64_t)list->view.rv, last + prefix.len, true, &meta);
		sim_faults_note_page(request->server->faults, meta.data + at, request->page + 1);
		api_buf_puts(&meta, "\"");
		if (api_selector_empty(query->labels) && api_selector_empty(query->fields))
			api_buf_printf(&meta, ",\"remainingItemCount\":%" PRIu64, left);
	}
	api_buf_printf(&request->note, " rv=%" PRIu64 " items=%zu%s", list->view.rv, list->count,
		       list->shape.protobuf ? " in protobuf" : "");
	begin(request, list, meta.data);
	return 0;
}

enum MHD_Result
sim_handle_list(struct sim_request *request)
{
	_cleanup_(api_query_done) struct api_query query = {0};
	struct list_stream *list;
	const char *type;
	uint64_t total = 0;
	bool cached, told;

	request->verb = "LIST";
	if (api_query_parse(&request->api, &query) < 0)
		return sim_reply_status(request);
	list = api_alloc(sizeof(*list));
	*list = (struct list_stream){
		.resource = request->api.resource, .shape = request->api.shape, .newer = request->newer};
	cached = query.rv_given && query.rv == 0; /* behind a continue token too */
	if (request->paginate) {
		query.limit = request->paginate;
		cached = false;
	}
	if (build(request, &query, list, cached) < 0) {
		list_free(list);
		return sim_reply_status(request);
	}
	/*
	 * What the watch cache answers comes chunked, what storage answers with its length: clients must take
	 * both.
	 */
	told = !cached && !(query.rv && !query.limit && query.match != API_MATCH_EXACT);
	if (!told && !request->fault.kind && !sim_reply_may_gzip(request))
		total = MHD_SIZE_UNKNOWN;
	for (size_t i = 0, len; total != MHD_SIZE_UNKNOWN && piece(list, i, &len); i++)
		total += len;
	type = request->api.shape.protobuf ? API_PROTOBUF_TYPE : "application/json";
	return sim_reply_reader(request, 200, type, total, told, read_list, list, list_free);
}
