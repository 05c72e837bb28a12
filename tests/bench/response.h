/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP/1.1 response as it comes: its head, then its body, by length or in chunks. Zeroed it waits for the
 * first byte. What comes behind it is not looked at: nobody here asks twice before he has his answer.
 */
#ifndef TESTS_BENCH_RESPONSE_H
#define TESTS_BENCH_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum response_at {
	RESPONSE_HEAD,
	RESPONSE_BODY,
	RESPONSE_SIZE,
	RESPONSE_CHUNK,
	RESPONSE_TRAILER,
	RESPONSE_END
};

struct response {
	enum response_at at;
	unsigned status; /* 0: the head is not whole */
	bool gzip;
	uint64_t left;  /* of the body, or of the chunk */
	uint64_t bytes; /* of the body, that came */
	size_t length;  /* of the text: the head, or a chunk's line */
	char text[1024];
};

typedef void response_body(void *ctx, const char *bytes, size_t length);

/* Take what came; body may be NULL. 0, or -EPROTO: it is none that we know. */
int response_take(struct response *r, const char *bytes, size_t length, response_body *body, void *ctx);

static inline bool
response_is_whole(const struct response *r)
{
	return r->at == RESPONSE_END;
}

#endif
