/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: headers and bodies. Like the real server it compresses bodies above 128 KiB if the client accepts
 * gzip, but never a watch.
 */
#include "tools/informer-sim/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/fault_body.h"
#include "tools/informer-sim/newer_field.h"
#include "tools/serving/answer.h"
#include "tools/serving/gzip.h"

#define GZIP_MIN ((size_t)128 * 1024)
#define DRAIN_BYTES ((size_t)256 * 1024)

/* Write the request's line to the journal, unless it is for the simulator's own pages. */
static void
note(const struct sim_request *request, unsigned code)
{
	_cleanup_(api_buf_done) struct api_buf line = {0};

	if (!request->logged)
		return;
	sim_request_print(request, &line);
	sim_journal_add(&request->server->journal, "%s -> %u%s", line.data, code,
			request->note.data ? request->note.data : "");
}

enum MHD_Result
sim_reply_response(struct sim_request *request, unsigned code, const char *content_type,
		   struct MHD_Response *response)
{
	enum MHD_Result result;
	char uid[SIM_UID_SIZE], seconds[16];

	if (!response)
		return MHD_NO;
	sim_server_uid(request->server, uid);
	MHD_add_response_header(response, "Audit-Id", uid);
	MHD_add_response_header(response, "Cache-Control", "no-cache, private");
	MHD_add_response_header(response, "Content-Type", content_type);
	if (request->api.status.code == (int)code && request->api.status.retry_after) {
		snprintf(seconds, sizeof(seconds), "%u", request->api.status.retry_after);
		MHD_add_response_header(response, "Retry-After", seconds);
	}
	if (request->etag[0]) {
		MHD_add_response_header(response, "ETag", request->etag);
		MHD_add_response_header(response, "Vary", "Accept");
	}
	if (request->gzip) {
		MHD_add_response_header(response, "Content-Encoding", "gzip");
		MHD_add_response_header(response, "Vary", "Accept-Encoding");
	}
	if (request->verb && request->api.resource)
		sim_metrics_count(&request->server->metrics, request->verb, request->api.resource, code);
	note(request, code);
	result = MHD_queue_response(request->api.connection, code, response);
	MHD_destroy_response(response);
	return result;
}

/* ---- a buffer as a reader ---- */

static void
whole_free(void *cls)
{
	struct api_buf *whole = cls;

	api_buf_done(whole);
	free(whole);
}

static ssize_t
read_whole(void *cls, uint64_t position, char *out, size_t max)
{
	const struct api_buf *whole = cls;
	size_t n;

	if (position >= whole->len)
		return MHD_CONTENT_READER_END_OF_STREAM;
	n = whole->len - position < max ? whole->len - position : max;
	memcpy(out, whole->data + position, n);
	return (ssize_t)n;
}

/* ---- bodies ---- */

bool
sim_reply_may_gzip(const struct sim_request *request)
{
	const char *accept = api_request_header(&request->api, "Accept-Encoding");

	return accept && strstr(accept, "gzip");
}

/* A response from a reader, with the request's fault. NULL: no memory, and cls is freed. */
static struct MHD_Response *
respond(struct sim_request *request, uint64_t size, bool told, size_t block, MHD_ContentReaderCallback reader,
	void *cls, MHD_ContentReaderFreeCallback free_cls)
{
	struct MHD_Response *response;

	if (request->fault.kind)
		return sim_fault_body(request, size, told, reader, cls, free_cls);
	response = MHD_create_response_from_callback(told ? size : MHD_SIZE_UNKNOWN, block, reader, cls,
						     free_cls);
	if (!response)
		free_cls(cls);
	return response;
}

/* Send a buffer. told: with its length, else in chunks. */
static enum MHD_Result
send_buffer(struct sim_request *request, unsigned code, const char *content_type, struct api_buf *body,
	    bool told)
{
	struct api_buf *whole = api_alloc(sizeof(*whole));
	size_t len = body->len;

	*whole = *body;
	*body = (struct api_buf){0};
	return sim_reply_response(
		request, code, content_type,
		respond(request, len, told, (size_t)64 * 1024, read_whole, whole, whole_free));
}

enum MHD_Result
sim_reply(struct sim_request *request, unsigned code, const char *content_type, struct api_buf *body)
{
	struct api_buf packed = {0};

	api_buf_put(body, "", 0);
	if (body->len <= GZIP_MIN || code != 200 || !sim_reply_may_gzip(request))
		return send_buffer(request, code, content_type, body, true);
	api_gzip(body->data, body->len, &packed);
	api_buf_done(body);
	request->gzip = true;
	return send_buffer(request, code, content_type, &packed, false);
}

/* Read all that a reader gives. False: it failed. */
static bool
drain(MHD_ContentReaderCallback reader, void *cls, struct api_buf *buf)
{
	char *block = api_alloc(DRAIN_BYTES);
	ssize_t n;

	while ((n = reader(cls, buf->len, block, DRAIN_BYTES)) > 0)
		api_buf_put(buf, block, (size_t)n);
	free(block);
	return n != MHD_CONTENT_READER_END_WITH_ERROR;
}

enum MHD_Result
sim_reply_reader(struct sim_request *request, unsigned code, const char *content_type, uint64_t size,
		 bool told, MHD_ContentReaderCallback reader, void *cls,
		 MHD_ContentReaderFreeCallback free_cls)
{
	if (sim_reply_may_gzip(request) && size != MHD_SIZE_UNKNOWN && size > GZIP_MIN) {
		struct api_buf body = {0};
		bool whole = drain(reader, cls, &body);

		free_cls(cls);
		if (whole)
			return sim_reply(request, code, content_type, &body);
		api_buf_done(&body);
		return MHD_NO;
	}
	return sim_reply_response(request, code, content_type,
				  respond(request, size, told, (size_t)256 * 1024, reader, cls, free_cls));
}

enum MHD_Result
sim_reply_status(struct sim_request *request)
{
	struct api_buf body = {0};
	const char *type = api_answer_status(&request->api, &body);

	return sim_reply(request, (unsigned)request->api.status.code, type, &body);
}

enum MHD_Result
sim_reply_object(struct sim_request *request, unsigned code, struct api_object *object, uint64_t rv)
{
	struct api_buf body = {0};
	const char *type = api_answer_object(&request->api, object, rv, &body);

	if (request->newer && request->api.shape.protobuf)
		sim_newer_object(&body);

	return sim_reply(request, code, type, &body);
}
