/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/gzip_member.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

static void
check(bool well)
{
	if (!well)
		abort();
}

void
gzip_member(struct bytes *to, const void *data, size_t length)
{
	z_stream z = {0};
	uint8_t out[8192];

	check(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (unsigned)length;
	do {
		z.next_out = out;
		z.avail_out = sizeof(out);
		check(deflate(&z, Z_FINISH) != Z_STREAM_ERROR);
		check(bytes_append(to, out, sizeof(out) - z.avail_out) == 0);
	} while (z.avail_out == 0);
	deflateEnd(&z);
}
