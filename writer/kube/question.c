/* SPDX-License-Identifier: Apache-2.0 */
/* One document, requested and read; see question.h. */
#include "writer/kube/question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/growing.h"
#include "writer/base/message.h"
#include "writer/kube/status.h"

struct question {
	struct transport_request *request; /* NULL: the caller sends it */
	const char *server;
	const char *what;
	question_fn *on_answer;
	void *ctx;
	int status;
	char *etag; /* NULL: none, or no memory for it */
	struct bytes body;
	size_t max;
};

static void
question_free(struct question *q)
{
	bytes_done(&q->body);
	free(q->etag);
	free(q);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct question *q = ctx;

	q->status = response->status;
	if (*response->etag && !q->etag)
		q->etag = strdup(response->etag);
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct question *q = ctx;

	if (len > q->max - q->body.length) {
		if (q->status == 200)
			return -EMSGSIZE;
		len = q->max - q->body.length; /* the beginning of an error is enough */
	}
	return bytes_append(&q->body, data, len);
}

static void
tell(struct question *q, int result, const char *message)
{
	q->on_answer(q->ctx, result, NULL, message ? message : "no memory");
}

static void
tell_document(struct question *q)
{
	_cleanup_(message_freep) char *why = NULL;
	cJSON *document = cJSON_ParseWithLength(q->body.data ? (char *)q->body.data : "", q->body.length);

	if (document) {
		q->on_answer(q->ctx, 0, document, "");
	} else {
		message_format(&why, "what it says of %s is no JSON", q->what);
		tell(q, 1, why);
	}
	cJSON_Delete(document);
}

static void
tell_status(struct question *q)
{
	_cleanup_(message_freep) char *why = NULL;
	bool later = q->status == 429 || q->status >= 500;
	struct kube_status status;

	if (kube_status_parse(q->body.data, q->body.length, q->status, &status) < 0) {
		tell(q, -ENOMEM, NULL);
		return;
	}
	message_format(&why, "%s answered %d for %s%s%s", q->server, q->status, q->what,
		       status.message[0] ? ": " : "", status.message);
	kube_status_done(&status);
	tell(q, later ? -EAGAIN : 1, why);
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct question *q = ctx;
	_cleanup_(message_freep) char *why = NULL;

	if (result == -EMSGSIZE) {
		message_format(&why, "what it says of %s is too long", q->what);
		tell(q, 1, why);
	} else if (result < 0) {
		tell(q, result, message);
	} else if (q->status == 200) {
		tell_document(q);
	} else if (q->status == 401) {
		message_format(&why, TRANSPORT_UNAUTHORIZED, q->server);
		tell(q, -EACCES, why);
	} else {
		tell_status(q);
	}
	question_free(q);
}

const struct transport_callbacks question_callbacks = {on_response, on_data, on_done};

struct question *
question_new(const char *what, size_t max, question_fn *on_answer, void *ctx)
{
	struct question *q = calloc(1, sizeof(*q));

	if (q)
		*q = (struct question){
			.server = "the server", .what = what, .max = max, .on_answer = on_answer, .ctx = ctx};
	return q;
}

int
question_ask(struct transport *transport, const struct transport_order *order, const char *what, size_t max,
	     question_fn *on_answer, void *ctx, struct question **ret)
{
	struct question *q = question_new(what, max, on_answer, ctx);
	int r;

	if (!q)
		return -ENOMEM;
	q->server = transport_server(transport);
	r = transport_send(transport, order, &question_callbacks, q, &q->request);
	if (r < 0) {
		question_free(q);
		return r;
	}
	*ret = q;
	return 0;
}

int
question_status(const struct question *question)
{
	return question->status;
}

const char *
question_etag(const struct question *question)
{
	return question->etag ? question->etag : "";
}

void
question_cancel(struct question *question)
{
	if (!question)
		return;
	transport_cancel(question->request);
	question_free(question);
}
