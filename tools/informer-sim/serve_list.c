/* SPDX-License-Identifier: Apache-2.0 */
/* LIST: the headers and the request's faults; api_list.h makes the bytes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/fault_act.h"
#include "tools/informer-sim/handlers.h"
#include "tools/informer-sim/list_measure.h"
#include "tools/informer-sim/newer_field.h"
#include "tools/informer-sim/reply.h"
#include "tools/serving/answer.h"

struct answer {
	struct api_query query;
	struct api_list *list;
	struct api_buf whole; /* the whole body, for a Table sent with its length or for a fault */
	const struct api_store *served;
	struct api_store stale; /* shows the state of stale_rv */
	uint64_t stale_rv;
};

static void
answer_free(void *cls)
{
	struct answer *a = cls;

	api_list_close(a->list);
	api_query_done(&a->query);
	api_buf_done(&a->whole);
	free(a);
}

static ssize_t
read_answer(void *cls, uint64_t position, char *out, size_t max)
{
	struct answer *a = cls;
	ssize_t n;

	if (a->whole.data) {
		n = (ssize_t)(a->whole.len - position < max ? a->whole.len - position : max);
		memcpy(out, a->whole.data + position, (size_t)n);
		return n ? n : MHD_CONTENT_READER_END_OF_STREAM;
	}
	do
		n = api_list_read(a->list, out, max);
	while (n == -EAGAIN);
	return n ? n : MHD_CONTENT_READER_END_OF_STREAM;
}

/* Write the whole body once. Rows have ages, so a second walk may have another length. */
static uint64_t
write_whole(struct answer *a)
{
	static const size_t block = (size_t)64 * 1024;
	_cleanup_(api_freep) char *bytes = api_alloc(block);
	struct api_buf whole = {0};
	ssize_t n;

	while ((n = read_answer(a, 0, bytes, block)) > 0)
		api_buf_put(&whole, bytes, (size_t)n);
	a->whole = whole;
	return whole.len;
}

static uint64_t
newest_rv(void *ctx, const struct api_resource *resource)
{
	const struct answer *a = ctx;

	return a->served->rv(a->served->ctx, resource);
}

/* The view at stale_rv, whatever the RV asked for. */
static int
stale_view(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
	   uint64_t *ret_rv, uint64_t *ret_position)
{
	const struct answer *a = ctx;

	(void)rv;
	return a->served->view(a->served->ctx, resource, a->stale_rv, ret_view, ret_rv, ret_position);
}

static int
open_list(struct sim_request *request, struct answer *a)
{
	const struct api_store *store = &request->server->served;

	if (api_query_parse(&request->api, &a->query) < 0)
		return -EINVAL;
	if (request->paginate) {
		a->query.limit = request->paginate;
		a->query.rv_given &= a->query.rv != 0; /* not from the watch cache, which has no pages */
	}
	if (sim_request_await(request, api_query_least_rv(&a->query)) < 0)
		return -EINVAL;
	if (request->stale && !a->query.next_token) {
		a->served = store;
		a->stale = *store;
		a->stale.ctx = a;
		a->stale.rv = newest_rv;
		a->stale.view = stale_view;
		a->stale_rv = sim_fault_stale_rv(request);
		store = &a->stale;
	}
	return api_list_open(&request->api, &a->query, store, false, &a->list);
}

enum MHD_Result
sim_handle_list(struct sim_request *request)
{
	struct answer *a = api_alloc(sizeof(*a));
	bool told, table = request->api.shape.kind == API_TABLE;
	uint64_t items, size = MHD_SIZE_UNKNOWN;

	request->verb = "LIST";
	*a = (struct answer){0};
	if (open_list(request, a) < 0) {
		answer_free(a);
		return sim_reply_status(request);
	}
	/*
	 * Like the real server, send answers of the watch cache in chunks, and answers of storage with their
	 * length.
	 */
	told = !sim_list_is_cached(&a->query);
	if (told || request->fault.kind || sim_reply_may_gzip(request))
		size = 0;
	sim_list_measure(a->list, &items, size || table ? NULL : &size);
	if (sim_list_token(a->list))
		sim_faults_note_page(request->server->faults, sim_list_token(a->list), request->page + 1);
	api_buf_printf(&request->note, " rv=%" PRIu64 " items=%" PRIu64 "%s", api_list_rv(a->list), items,
		       request->api.shape.protobuf ? " in protobuf" : "");
	if (request->newer && request->api.shape.protobuf) {
		write_whole(a);
		sim_newer_list(&a->whole);
		size = size == MHD_SIZE_UNKNOWN ? size : a->whole.len;
	} else if (table && size == 0) {
		size = write_whole(a);
	}
	return sim_reply_reader(request, 200, api_answer_type(&request->api, false), size, told, read_answer,
				a, answer_free);
}
