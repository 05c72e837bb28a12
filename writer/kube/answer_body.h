/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answer body: the bytes of one answer, on their way from libcurl to who asked for them. They are unpacked
 * where the header says gzip and gzip was asked for, kept back while they are paused, and end with the first
 * that nobody wants.
 *
 *	answer_body_line ×n ──▶ answer_body_begin ──▶ answer_body_feed ×n ──▶ answer_body_is_cut
 *
 * Threads   one at a time for each
 */
#ifndef WRITER_KUBE_ANSWER_BODY_H
#define WRITER_KUBE_ANSWER_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "writer/kube/gunzip.h"

/* Begins as zeros but for the first three, which are its owner's. */
struct answer_body {
	int (*give)(void *ctx, const void *data, size_t length); /* 0, or a negative number: no more of it */
	void *ctx;
	bool asks_gzip;
	bool paused;           /* by its owner, at any time, in give() too: nothing is given */
	bool packed;           /* the header says gzip … */
	bool damaged;          /* … and it is none */
	struct gunzip *gunzip; /* NULL: it is not packed, or its header is not whole */
	size_t unpacked;       /* of the bytes that come again after a pause, so many are used */
};

/* A line of a header, with its end. Of several headers (100 Continue, a 401 asked again) the last counts. */
void answer_body_line(struct answer_body *body, const char *line, size_t length);

/* The header is whole. 0 or -ENOMEM. */
int answer_body_begin(struct answer_body *body);

#define ANSWER_BODY_WAITS 1
/*
 * Returns  0; ANSWER_BODY_WAITS: it is paused; when it is no more, the same bytes come again, or these with
 * more behind them; negative: what give() said, -EPROTO: damaged, -ENOMEM
 */
int answer_body_feed(struct answer_body *body, const void *data, size_t length);

/* It ended; did it in the middle of its gzip? */
bool answer_body_is_cut(const struct answer_body *body);

/* Give the memory back. */
void answer_body_done(struct answer_body *body);

#endif
