/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Question: one JSON document of the API server, read whole, and whether its absence is for now or for good.
 *
 * Threads   the loop's
 */
#ifndef WRITER_KUBE_QUESTION_H
#define WRITER_KUBE_QUESTION_H

#include <cjson/cJSON.h>

#include "writer/kube/transport.h"

struct question;

/*
 * Called once, from the loop; the question is over then.
 *
 * result    0: the document is there. 1: it is not to be had (forbidden, none, no JSON, too long); message
 *           says which. Negative: not known this time (the transport's error, -EACCES for 401, -EAGAIN for
 *           429 and 5xx, -ENOMEM)
 * document  NULL unless result is 0; borrowed, as message
 */
typedef void question_fn(void *ctx, int result, const cJSON *document, const char *message);

/*
 * order    as for transport_send()
 * what     what it is of, for messages: "namespace kube-system"; a literal
 * max      bytes of the document at most
 * Returns  0, -EINVAL, -ENOMEM
 */
#define QUESTION_BYTES 65536u /* more than most documents have */
int question_ask(struct transport *transport, const struct transport_order *order, const char *what,
		 size_t max, question_fn *on_answer, void *ctx, struct question **ret);

/* Within on_answer: the status of the answer, 0 when none came; its ETag, "" when it has none. Borrowed. */
int question_status(const struct question *question);
const char *question_etag(const struct question *question);

/*
 * The same for a request that the caller begins, and must cancel before question_cancel(): its callbacks are
 * question_callbacks, its context is the question.
 *
 * Returns  NULL without memory
 */
struct question *question_new(const char *what, size_t max, question_fn *on_answer, void *ctx);
extern const struct transport_callbacks question_callbacks;

/* on_answer is not called. NULL is fine. */
void question_cancel(struct question *question);

#endif
