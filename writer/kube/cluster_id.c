/* SPDX-License-Identifier: Apache-2.0 */
/* Which cluster answers; see cluster_id.h. */
#include "writer/kube/cluster_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "writer/base/message.h"

#define PATH	 "/api/v1/namespaces/kube-system?resourceVersion=0"
#define BODY_MAX 65536u

struct cluster_id_question {
	struct transport *transport;
	struct transport_request *request;
	cluster_id_fn *on_answer;
	void *ctx;
	int status;
	char *body;
	size_t len;
};

static void
question_free(struct cluster_id_question *q)
{
	free(q->body);
	free(q);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct cluster_id_question *q = ctx;

	q->status = response->status;
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct cluster_id_question *q = ctx;
	char *body;

	if (q->status != 200 || len > BODY_MAX - q->len)
		return q->status == 200 ? -EMSGSIZE : 0;
	body = realloc(q->body, q->len + len);
	if (!body)
		return -ENOMEM;
	memcpy(body + q->len, data, len);
	q->body = body;
	q->len += len;
	return 0;
}

static bool
is_id(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return len > 0 && len <= CLUSTER_ID_MAX && strspn(text, "0123456789abcdefABCDEF-") == len;
}

static void
tell_id(struct cluster_id_question *q)
{
	cJSON *namespace_ = cJSON_ParseWithLength(q->body ? q->body : "", q->len);
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(namespace_, "metadata");
	const char *uid = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "uid"));

	if (is_id(uid))
		q->on_answer(q->ctx, 1, uid, "");
	else
		q->on_answer(q->ctx, 0, "", "what it says of namespace kube-system holds no UID");
	cJSON_Delete(namespace_);
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct cluster_id_question *q = ctx;
	_cleanup_(message_freep) char *why = NULL;
	bool later = q->status == 429 || q->status >= 500;

	if (result == -EMSGSIZE) {
		q->on_answer(q->ctx, 0, "", "what it says of namespace kube-system is too long");
	} else if (result < 0) {
		q->on_answer(q->ctx, result, "", message);
	} else if (q->status == 200) {
		tell_id(q);
	} else if (q->status == 401) {
		message_format(&why, TRANSPORT_UNAUTHORIZED, transport_server(q->transport));
		q->on_answer(q->ctx, -EACCES, "", why ? why : "no memory");
	} else {
		message_format(&why, "%s answered %d for namespace kube-system",
			       transport_server(q->transport), q->status);
		q->on_answer(q->ctx, later ? -EAGAIN : 0, "", why ? why : "no memory");
	}
	question_free(q);
}

int
cluster_id_ask(struct transport *transport, bool anew, cluster_id_fn *on_answer, void *ctx,
	       struct cluster_id_question **ret_question)
{
	static const struct transport_callbacks callbacks = {on_response, on_data, on_done};
	struct cluster_id_question *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	*q = (struct cluster_id_question){.transport = transport, .on_answer = on_answer, .ctx = ctx};
	r = transport_get(transport, PATH, anew ? TRANSPORT_ASIDE : 0, &callbacks, q, &q->request);
	if (r < 0) {
		free(q);
		return r;
	}
	*ret_question = q;
	return 0;
}

void
cluster_id_cancel(struct cluster_id_question *question)
{
	if (!question)
		return;
	transport_cancel(question->request);
	question_free(question);
}
