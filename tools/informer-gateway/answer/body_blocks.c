/* SPDX-License-Identifier: Apache-2.0 */
/* An array of blocks, with optional zlib compression; see body_blocks.h. */
#include "tools/informer-gateway/answer/body_blocks.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* zlib's input is const */
#include <zlib.h>

#include "tools/serving/buf.h"
#include "tools/serving/gzip.h"

#define GZIP_WINDOW (15 + 16) /* largest window, with gzip's header and trailer */
#define MEMORY_LEVEL 8

struct gw_deflate {
	z_stream stream;
	char raw[GW_BLOCK_BYTES]; /* input for the next compression */
};

static void
deflate_done(struct gw_blocks *b)
{
	if (!b->deflate)
		return;
	(void)deflateEnd(&b->deflate->stream);
	free(b->deflate);
	b->deflate = NULL;
}

void
gw_blocks_done(struct gw_blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		free(blocks->blocks[i].bytes);
	free(blocks->blocks);
	deflate_done(blocks);
	*blocks = (struct gw_blocks){0};
}

/* ---- writing ---- */

/* The block for the next bytes. */
static struct gw_block *
last(struct gw_blocks *b)
{
	struct gw_block *block = b->count ? &b->blocks[b->count - 1] : NULL;

	if (block && block->bytes && block->len < GW_BLOCK_BYTES)
		return block;
	if (!b->blocks || b->count == b->capacity) {
		b->capacity = b->capacity ? b->capacity * 2 : 4;
		b->blocks = api_realloc(b->blocks, b->capacity * sizeof(*b->blocks));
	}
	block = &b->blocks[b->count++];
	*block = (struct gw_block){.bytes = api_alloc(GW_BLOCK_BYTES), .left = b->readers};
	b->held += GW_BLOCK_BYTES;
	return block;
}

static void
pack(struct gw_blocks *b, const char *bytes, size_t length, int flush)
{
	z_stream *z = &b->deflate->stream;
	int r = Z_OK;

	z->next_in = (const Bytef *)bytes;
	z->avail_in = (uInt)length;
	do {
		struct gw_block *block = last(b);

		z->next_out = (Bytef *)block->bytes + block->len;
		z->avail_out = (uInt)(GW_BLOCK_BYTES - block->len);
		r = deflate(z, flush);
		block->len = GW_BLOCK_BYTES - z->avail_out;
	} while (r == Z_OK && (z->avail_in > 0 || z->avail_out == 0 || flush == Z_FINISH));
}

char *
gw_blocks_room(struct gw_blocks *blocks, size_t *ret_room)
{
	struct gw_block *block;

	if (blocks->deflate) {
		*ret_room = GW_BLOCK_BYTES;
		return blocks->deflate->raw;
	}
	block = last(blocks);
	*ret_room = GW_BLOCK_BYTES - block->len;
	return block->bytes + block->len;
}

void
gw_blocks_used(struct gw_blocks *blocks, size_t length)
{
	if (blocks->deflate)
		pack(blocks, blocks->deflate->raw, length, Z_NO_FLUSH);
	else
		blocks->blocks[blocks->count - 1].len += length;
}

void
gw_blocks_compress(struct gw_blocks *blocks)
{
	struct gw_blocks plain = *blocks;

	*blocks = (struct gw_blocks){.readers = plain.readers};
	blocks->deflate = api_alloc(sizeof(struct gw_deflate));
	memset(&blocks->deflate->stream, 0, sizeof(z_stream));
	api_gzip_memory(&blocks->deflate->stream);
	/* with this allocator deflateInit2() fails only for wrong arguments */
	(void)deflateInit2(&blocks->deflate->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			   Z_DEFAULT_STRATEGY);
	for (size_t i = 0; i < plain.count; i++)
		pack(blocks, plain.blocks[i].bytes, plain.blocks[i].len, Z_NO_FLUSH);
	gw_blocks_done(&plain);
}

void
gw_blocks_finish(struct gw_blocks *blocks)
{
	if (blocks->deflate)
		pack(blocks, "", 0, Z_FINISH);
	deflate_done(blocks);
}

/* ---- reading ---- */

void
gw_blocks_join(struct gw_blocks *blocks)
{
	blocks->readers++;
}

static void
pass(struct gw_blocks *b, size_t i)
{
	struct gw_block *block = &b->blocks[i];

	if (!b->closed || --block->left > 0)
		return;
	free(block->bytes);
	block->bytes = NULL;
	b->held -= GW_BLOCK_BYTES;
}

size_t
gw_blocks_read(struct gw_blocks *blocks, struct gw_blocks_place *place, char *out, size_t max)
{
	size_t done = 0;

	while (done < max && place->block < blocks->count) {
		const struct gw_block *block = &blocks->blocks[place->block];
		size_t n = block->len - place->offset < max - done ? block->len - place->offset : max - done;

		memcpy(out + done, block->bytes + place->offset, n);
		done += n;
		place->offset += n;
		if (place->offset < GW_BLOCK_BYTES)
			break; /* the block may grow */
		pass(blocks, place->block++);
		place->offset = 0;
	}
	return done;
}

void
gw_blocks_leave(struct gw_blocks *blocks, const struct gw_blocks_place *place)
{
	blocks->readers--;
	for (size_t i = place->block; blocks->closed && i < blocks->count; i++)
		pass(blocks, i);
}

void
gw_blocks_close(struct gw_blocks *blocks, const struct gw_blocks_place *const *places)
{
	if (blocks->closed)
		return;
	for (size_t i = 0; i < blocks->count; i++)
		blocks->blocks[i].left = 1;
	for (unsigned r = 0; r < blocks->readers; r++)
		for (size_t i = places[r]->block; i < blocks->count; i++)
			blocks->blocks[i].left++;
	blocks->closed = true;
	for (size_t i = 0; i < blocks->count; i++)
		pass(blocks, i);
}
