/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a view once. The head may need a fact about all items: the token and the remaining count, or in
 * protobuf the length. Then the list walks the view twice; see api_list.h.
 */
#include "tools/serving/api_list_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/serving/proto_object.h"

enum { METADATA = 1, ITEMS }; /* fields of a list in protobuf */

/* ---- items: pieces of the objects' own texts; other text is in list->own ---- */

static void
put(struct api_list *list, const char *bytes, size_t len)
{
	list->pieces[list->piece_count++] = (struct list_piece){bytes, len};
}

/* Send list->own as a piece. */
static void
put_own(struct api_list *list)
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

/* Make the pieces of an item. Takes the object's reference. There must be no other pieces. */
static void
put_item(struct api_list *list, struct api_object *object)
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
		put_own(list);
	} else if (list->form.shape.protobuf) {
		api_proto_object(&list->form.shape, list->form.resource, object, 0, &message);
		api_proto_bytes(&list->own, ITEMS, message.data, message.len);
		put_own(list);
	} else if (list->form.shape.kind == API_TABLE) {
		api_buf_puts(&list->own, list->picked > 1 ? "," : "");
		api_table_row(&list->form.shape, list->form.resource, object, 0, &list->own);
		put_own(list);
	} else {
		put_in_json(list, object);
	}
}

/* ---- head and tail ------------------------------------------------------- */

/* A protobuf head contains the length of the whole list. */
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
	api_buf_put(&meta, "", 0);
	if (!list->form.shape.unversioned)
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

/* ---- the walk ------------------------------------------------------------- */

static void
begin_walk(struct api_list *list)
{
	list->picked = 0;
	list->store->view_seek(list->view, list->page.start);
}

/* Returns 0, -EAGAIN or -EIO. */
static int
begin(struct api_list *list)
{
	int r = list->store->view_ready ? list->store->view_ready(list->view) : 0;

	if (r < 0)
		return r == -EAGAIN ? r : -EIO;
	begin_walk(list);
	list->begun = true;
	return 0;
}

/* The next object in the page's range, with a reference; NULL: the range ends. */
static struct api_object *
next_in_range(struct api_list *list)
{
	struct api_object *object = list->store->view_next(list->view);

	if (object && list->page.after && !strcmp(object->key, list->page.start)) {
		api_object_unref(object);
		object = list->store->view_next(list->view);
	}
	if (object && strncmp(object->key, list->prefix.data, list->prefix.len) != 0) {
		api_object_unref(object);
		object = NULL;
	}
	return object;
}

/* Returns 0 if the view has no more objects, -EIO if it failed. */
static int
check_end(const struct api_list *list)
{
	return list->store->view_error && list->store->view_error(list->view) < 0 ? -EIO : 0;
}

/* Returns 1 with a reference; 0: the page is full, or no more items; -EAGAIN: the budget is spent; -EIO. */
static int
next_item(struct api_list *list, unsigned *budget, struct api_object **ret_object)
{
	struct api_object *object;

	for (; !list->limit || list->picked < list->limit; --*budget) {
		if (*budget == 0)
			return -EAGAIN;
		object = next_in_range(list);
		if (!object)
			return check_end(list);
		if (api_query_matches(list->query, object)) {
			list->picked++;
			*ret_object = object;
			return 1;
		}
		api_object_unref(object);
	}
	return 0;
}

/* ---- the first walk: counting --------------------------------------------- */

/* The page is full. If more objects follow, make the continue token, and without selectors count them. */
static void
look_behind(struct api_list *list, const struct api_object *last)
{
	struct api_object *next = next_in_range(list);
	bool all = api_selector_empty(list->query->labels) && api_selector_empty(list->query->fields);

	if (!next)
		return;
	api_object_unref(next);
	api_page_encode((int64_t)list->rv, last->key + list->prefix.len, true, &list->token);
	if (list->store->view_hold)
		list->store->view_hold(list->view);
	if (!all)
		return;
	list->left = 1;
	if (list->store->view_count) {
		list->left += list->store->view_count(list->view, list->prefix.data);
		return;
	}
	for (; (next = next_in_range(list)); api_object_unref(next))
		list->left++;
}

static void
end_count(struct api_list *list)
{
	list->items = list->picked;
	if (list->limit && list->picked == list->limit)
		look_behind(list, list->object);
	list->phase = HEAD;
	begin_walk(list);
}

int
list_count(struct api_list *list, unsigned budget)
{
	struct api_object *object;
	int r;

	if (!list->begun && (r = begin(list)) < 0)
		return r;
	while ((r = next_item(list, &budget, &object)) > 0) {
		if (!list->sizing) {
			api_object_unref(list->object);
			list->object = object;
		} else {
			put_item(list, object);
			while (list->piece_count)
				list->bytes += list->pieces[--list->piece_count].len;
		}
		if (budget-- <= 1)
			return -EAGAIN;
	}
	if (r == 0)
		end_count(list);
	return r;
}

/* ---- reading -------------------------------------------------------------- */

/* Make the next pieces. Returns 1; 0: the list is complete; -EAGAIN; -EIO. */
static int
go_on(struct api_list *list, unsigned *budget)
{
	struct api_object *object;
	int r;

	list->piece_count = list->piece_at = 0;
	if (!list->begun && (r = begin(list)) < 0)
		return r;
	switch (list->phase) {
	case COUNTING:
		r = list_count(list, *budget);
		*budget = 0;
		return r < 0 ? r : 1;
	case HEAD:
		list_make_head(list);
		put_own(list);
		list->phase = AMID;
		return 1;
	case AMID:
		r = next_item(list, budget, &object);
		if (r > 0)
			put_item(list, object);
		else if (r == 0)
			list->phase = TAIL;
		return r < 0 ? r : 1;
	case TAIL:
		list_make_tail(list);
		put_own(list);
		list->phase = DONE;
		return 1;
	default:
		return 0;
	}
}

ssize_t
api_list_read(struct api_list *list, char *out, size_t max)
{
	unsigned budget = API_LIST_STRIDE;
	size_t done = 0;
	int r = 1;

	while (done < max && r > 0) {
		const struct list_piece *piece = &list->pieces[list->piece_at];
		size_t n;

		if (list->piece_at == list->piece_count) {
			r = go_on(list, &budget);
			continue;
		}
		n = piece->len - list->offset < max - done ? piece->len - list->offset : max - done;
		if (n)
			memcpy(out + done, piece->bytes + list->offset, n);
		done += n;
		list->offset += n;
		if (list->offset == piece->len) {
			list->piece_at++;
			list->offset = 0;
		}
	}
	return done || r > 0 ? (ssize_t)done : r;
}

uint64_t
api_list_rv(const struct api_list *list)
{
	return list->rv;
}

uint64_t
api_list_position(const struct api_list *list)
{
	return list->position;
}

/* ---- opening -------------------------------------------------------------- */

/* The RV to show; 0: the newest. */
static int
choose_rv(struct api_request *request, struct api_list *list, uint64_t *ret_rv)
{
	const struct api_query *query = list->query;
	bool exact = query->match == API_MATCH_EXACT || (query->match == API_MATCH_UNSET && query->limit);
	uint64_t rv = exact ? query->rv : 0, newest;

	if (query->next_token) {
		if (query->rv_given && query->rv != 0)
			return api_status_set(
				&request->status, 400, "BadRequest",
				"specifying resource version is not allowed when using continue");
		if (api_page_decode(request, query->next_token, &list->page) < 0)
			return -EINVAL;
		rv = list->page.rv > 0 ? (uint64_t)list->page.rv : 0;
	}
	newest = list->store->rv(list->store->ctx, list->form.resource);
	if (newest && rv > newest)
		return api_status_too_large_rv(&request->status, rv, newest);
	*ret_rv = rv;
	return 0;
}

static int
open_view(struct api_request *request, struct api_list *list)
{
	uint64_t rv = 0;
	int r = choose_rv(request, list, &rv);

	if (r < 0)
		return r;
	r = list->store->view(list->store->ctx, list->form.resource, rv, &list->view, &list->rv,
			      &list->position);
	if (r == -EAGAIN) {
		api_status_not_ready(&request->status);
		return r;
	}
	if (r < 0 && list->query->next_token)
		return api_page_expired(request, &list->page);
	if (r < 0)
		return api_status_set(&request->status, 410, "Expired",
				      "The resourceVersion for the provided list is too old.");
	if (list->store->view_choose &&
	    list->store->view_choose(list->view, request->namespace_, list->query) < 0)
		return api_status_no_room(&request->status);
	return 0;
}

int
api_list_open(struct api_request *request, const struct api_query *query, const struct api_store *store,
	      bool as_events, struct api_list **ret_list)
{
	struct api_list *list = api_alloc(sizeof(*list));
	int r;

	*list = (struct api_list){
		.store = store,
		.query = query,
		.form = {.resource = request->resource, .shape = request->shape},
		.as_events = as_events,
		.limit = query->rv_given && query->rv == 0 ? 0 : query->limit,
		.phase = HEAD,
	};
	api_object_key(&list->prefix, request->namespace_, "");
	r = open_view(request, list);
	if (r < 0) {
		api_list_close(list);
		return r;
	}
	if (!list->page.start)
		list->page.start = api_strndup(list->prefix.data, list->prefix.len);
	if (list->as_events)
		list->limit = 0;
	list->sizing = list->form.shape.protobuf && !list->as_events;
	if (list->limit || list->sizing)
		list->phase = COUNTING;
	if (list->form.shape.kind == API_PARTIAL || list->form.shape.kind == API_PARTIAL_LIST)
		api_shape_partial_head(&list->form.shape, &list->item_head);
	*ret_list = list;
	return 0;
}

void
api_list_close(struct api_list *list)
{
	if (!list)
		return;
	if (list->view)
		list->store->view_close(list->view);
	api_object_unref(list->object);
	api_page_done(&list->page);
	api_buf_done(&list->prefix);
	api_buf_done(&list->token);
	api_buf_done(&list->own);
	api_buf_done(&list->item_head);
	free(list);
}
