/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question reads one JSON document of the API server whole, and tells if its absence is temporary or final.
 *
 * Threads: the loop's.
 */
#ifndef WRITER_KUBE_QUESTION_H
#define WRITER_KUBE_QUESTION_H

#include <cjson/cJSON.h>

#include "writer/kube/transport.h"

struct question;

/*
 * Called once, from the loop. The question is over then.
 *
 * result    0: the document is there. 1: it cannot be had (forbidden, none, no JSON, too long); message says
 *           which. Negative: not known this time (the transport's error, -EACCES for 401, -EAGAIN for 429 and
 *           5xx, -ENOMEM)
 * document  borrowed, as message; NULL unless result is 0
 */
typedef void question_fn(void *ctx, int result, const cJSON *document, const char *message);

/*
 * order    as for transport_send()
 * what     name of the document for messages: "namespace kube-system"; a literal
 * max      limit of the document's bytes
 * Returns  0, -EINVAL, -ENOMEM
 */
#define QUESTION_BYTES 65536u /* more than most documents have */
int question_ask(struct transport *transport, const struct transport_order *order, const char *what,
		 size_t max, question_fn *on_answer, void *ctx, struct question **ret);

/* Within on_answer: the status of the answer (0: none came), and its ETag (borrowed; "": none). */
int question_status(const struct question *question);
const char *question_etag(const struct question *question);

/*
 * A question for a request that the caller begins, with question_callbacks and the question as its context.
 * The caller cancels the request before question_cancel(). NULL: no memory.
 */
struct question *question_new(const char *what, size_t max, question_fn *on_answer, void *ctx);
extern const struct transport_callbacks question_callbacks;

/* Cancel: on_answer is not called. NULL is fine. */
void question_cancel(struct question *question);

#endif
