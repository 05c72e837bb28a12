/* SPDX-License-Identifier: Apache-2.0 */
/* gzip with zlib; see gzip.h. */
#include "tools/serving/gzip.h"

#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST /* zlib's input is const */
#include <zlib.h>

#define OUT_BYTES 65536u
#define GZIP_WINDOW (15 + 16) /* largest window, with gzip's header and trailer */
#define MEMORY_LEVEL 8        /* zlib's default */

static voidpf
take(voidpf opaque, uInt count, uInt size)
{
	(void)opaque;
	return api_alloc((size_t)count * size);
}

static void
give(voidpf opaque, voidpf block)
{
	(void)opaque;
	free(block);
}

void
api_gzip_memory(struct z_stream_s *stream)
{
	stream->zalloc = take;
	stream->zfree = give;
}

void
api_gzip(const char *data, size_t len, struct api_buf *buf)
{
	z_stream stream = {.next_in = (const Bytef *)data};
	Bytef *out = api_alloc(OUT_BYTES);
	int r;

	api_gzip_memory(&stream);
	/* with this allocator deflateInit2() fails only for wrong arguments */
	(void)deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
	do {
		if (stream.avail_in == 0) {
			stream.avail_in = len < UINT_MAX ? (uInt)len : UINT_MAX;
			len -= stream.avail_in;
		}
		stream.next_out = out;
		stream.avail_out = OUT_BYTES;
		r = deflate(&stream, len > 0 ? Z_NO_FLUSH : Z_FINISH);
		api_buf_put(buf, out, OUT_BYTES - stream.avail_out);
	} while (r == Z_OK);
	(void)deflateEnd(&stream);
	free(out);
}
