/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that wraps the answer's own reader; see fault_body.h. */
#include "tools/informer-sim/fault_body.h"

#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/client_wait.h"

struct fault_body {
	struct sim_server *server;
	int socket;
	struct sim_fault fault;
	uint64_t at; /* position of the fault */
	uint64_t sent;
	bool done; /* a fault that acts once has acted */
	bool protobuf;
	MHD_ContentReaderCallback reader;
	void *cls;
	MHD_ContentReaderFreeCallback free_cls;
};

static void
body_free(void *cls)
{
	struct fault_body *b = cls;

	b->free_cls(b->cls);
	free(b);
}

/* Do the fault at its position. > 0: read on, at most so many bytes. */
static ssize_t
happen(struct fault_body *b, size_t max)
{
	switch (b->fault.kind) {
	case SIM_FAULT_CLOSE:
	case SIM_FAULT_MID_FRAME:
		return MHD_CONTENT_READER_END_WITH_ERROR;
	case SIM_FAULT_TRUNCATE:
		return MHD_CONTENT_READER_END_OF_STREAM;
	case SIM_FAULT_FREEZE:
		b->done = true;
		return sim_fault_sleep(b->server, b->socket, b->fault.ms) ? (ssize_t)max
									  : MHD_CONTENT_READER_END_WITH_ERROR;
	case SIM_FAULT_INVALID:
		return 1;
	default:
		b->done = true;
		return (ssize_t)max;
	}
}

static ssize_t
read_body(void *cls, uint64_t position, char *out, size_t max)
{
	struct fault_body *b = cls;
	ssize_t n = (ssize_t)max;
	bool here = false;

	if (b->fault.kind == SIM_FAULT_SLOW) {
		n = (ssize_t)(max < b->fault.amount ? max : b->fault.amount);
		if (b->sent && !sim_fault_sleep(b->server, b->socket, b->fault.ms))
			return MHD_CONTENT_READER_END_WITH_ERROR;
	} else if (!b->done && b->sent < b->at) {
		n = (ssize_t)(max < b->at - b->sent ? max : b->at - b->sent);
	} else if (!b->done) {
		n = happen(b, max);
		here = b->fault.kind == SIM_FAULT_INVALID;
		if (n < 0)
			return n;
	}
	n = b->reader(b->cls, position, out, (size_t)n);
	if (n <= 0)
		return n;
	if (here) {
		out[0] = 0x01; /* invalid in any JSON text */
		b->done = true;
	}
	/* one byte may be valid in protobuf; this run is longer than any tag or length */
	if (b->protobuf && b->fault.kind == SIM_FAULT_INVALID && b->done)
		memset(out, 0xff, (size_t)n);
	b->sent += (uint64_t)n;
	return n;
}

struct MHD_Response *
sim_fault_body(struct sim_request *request, uint64_t size, bool told, MHD_ContentReaderCallback reader,
	       void *cls, MHD_ContentReaderFreeCallback free_cls)
{
	struct fault_body *b = api_alloc(sizeof(*b));
	struct MHD_Response *response;

	*b = (struct fault_body){.server = request->server,
				 .socket = sim_request_socket(&request->api),
				 .fault = request->fault,
				 .protobuf = request->api.shape.protobuf,
				 .at = request->fault.after_bytes && request->fault.after_bytes < size
					       ? request->fault.after_bytes
					       : size / 2,
				 .reader = reader,
				 .cls = cls,
				 .free_cls = free_cls};
	if (request->fault.kind == SIM_FAULT_TRUNCATE)
		size = b->at;
	response = MHD_create_response_from_callback(told ? size : MHD_SIZE_UNKNOWN, (size_t)256 * 1024,
						     read_body, b, body_free);
	if (!response)
		body_free(b);
	api_buf_puts(&request->note, " damaged");
	return response;
}
