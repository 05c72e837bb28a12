/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP answer: the head of an answer as bytes, and the end of its body; for the one connection that is no
 * transport's (upgrade_tunnel.h). Strict: what could be read in two ways is none.
 *
 * Source    RFC 9112
 * Threads   any; no state
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_ANSWER_H
#define TOOLS_INFORMER_GATEWAY_HTTP_ANSWER_H

#include <stddef.h>
#include <sys/types.h>

#include "tools/informer-gateway/forward_headers.h"

#define GW_ANSWER_HEAD_MAX (64u << 10)
#define GW_ANSWER_HEADERS_MAX 64u

enum gw_framing {
	GW_FRAMING_LENGTH, /* so many bytes */
	GW_FRAMING_CHUNKS,
	GW_FRAMING_END, /* until the connection ends */
};

struct gw_answer_head {
	int status;
	size_t length; /* of the head */
	struct gw_header headers[GW_ANSWER_HEADERS_MAX]; /* within the bytes */
	unsigned count;
	enum gw_framing framing;
	size_t body_length; /* GW_FRAMING_LENGTH */
};

/*
 * bytes    changed on success: names and values are terminated there
 * Returns  0; -EAGAIN: the head is not whole; -EPROTO: it is none, or longer than GW_ANSWER_HEAD_MAX
 */
int gw_answer_head_parse(char *bytes, size_t length, struct gw_answer_head *ret);

/* A header's value, or NULL. */
const char *gw_answer_header(const struct gw_answer_head *head, const char *name);

/*
 * Take a body's chunks apart, in place.
 *
 * Returns  the body's length, when it is whole; -EAGAIN: it is not, and nothing was changed; -EPROTO
 */
ssize_t gw_chunks_join(char *bytes, size_t length);

#endif
