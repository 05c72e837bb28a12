/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks gzip piece by piece, member by member, for the transport: zlib does the work.
 */
#include "writer/kube/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_ALONE (16 + MAX_WBITS) /* neither zlib's own form nor a guess */
#define INPUT_MAX (1u << 30)        /* at once: zlib counts in unsigned int */

struct gunzip {
	z_stream stream;
	bool inside; /* a member */
	uint8_t piece[GUNZIP_PIECE_MAX];
};

struct gunzip *
gunzip_new(void)
{
	struct gunzip *g = calloc(1, sizeof(*g));

	if (g && inflateInit2(&g->stream, GZIP_ALONE) != Z_OK) {
		free(g);
		g = NULL;
	}
	return g;
}

void
gunzip_free(struct gunzip *g)
{
	if (!g)
		return;
	inflateEnd(&g->stream);
	free(g);
}

/* One step: what it unpacked to is in piece. Z_BUF_ERROR: there is nothing to do. */
static int
step(struct gunzip *g, const uint8_t **data, size_t *length, size_t *ret_length)
{
	z_stream *z = &g->stream;
	unsigned left = *length < INPUT_MAX ? (unsigned)*length : INPUT_MAX;
	int r;

	z->next_in = (Bytef *)(uintptr_t)*data;
	z->avail_in = left;
	z->next_out = g->piece;
	z->avail_out = GUNZIP_PIECE_MAX;
	r = inflate(z, Z_SYNC_FLUSH);
	*data += left - z->avail_in;
	*length -= left - z->avail_in;
	*ret_length = GUNZIP_PIECE_MAX - z->avail_out;
	return r;
}

int
gunzip_next(struct gunzip *g, const uint8_t **data, size_t *length, const uint8_t **ret_piece,
	    size_t *ret_length)
{
	int r = Z_OK;

	*ret_piece = g->piece;
	*ret_length = 0;
	while (*ret_length == 0) {
		if (!g->inside && *length == 0)
			return 0;
		if (!g->inside)
			inflateReset(&g->stream);
		g->inside = true;
		r = step(g, data, length, ret_length);
		if (r == Z_STREAM_END)
			g->inside = false;
		else if (r == Z_BUF_ERROR || (r == Z_OK && *ret_length == 0 && *length == 0))
			return 0;
		else if (r != Z_OK)
			return r == Z_MEM_ERROR ? -ENOMEM : -EPROTO;
	}
	return 1;
}

bool
gunzip_is_whole(const struct gunzip *g)
{
	return !g->inside;
}
