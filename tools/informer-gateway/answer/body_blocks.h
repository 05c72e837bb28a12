/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body blocks: the bytes of one response body that several clients read, each at its own pace, while the body
 * is produced. Bytes are appended, compressed if asked for; readers read by position.
 *
 * While new readers may join, all blocks are kept. After gw_blocks_close() a block is freed when the last
 * reader has passed it.
 *
 * Threads: one.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_BODY_BLOCKS_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_BODY_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#define GW_BLOCK_BYTES ((size_t)64 * 1024)

struct gw_block {
	char *bytes; /* NULL: freed */
	size_t len;
	unsigned left; /* readers that have not passed it; valid after gw_blocks_close() */
};

struct gw_blocks {
	struct gw_block *blocks;
	size_t count, capacity;
	size_t held; /* bytes of memory */
	unsigned readers;
	bool closed;
	struct gw_deflate *deflate; /* NULL: not compressed */
};

/* A reader's position; zeroed: at the beginning. */
struct gw_blocks_place {
	size_t block, offset;
};

void gw_blocks_done(struct gw_blocks *blocks);

/*
 * Returns free space behind the last byte: *ret_room bytes, at least one. Call gw_blocks_used() with the
 * number of bytes written there.
 */
char *gw_blocks_room(struct gw_blocks *blocks, size_t *ret_room);
void gw_blocks_used(struct gw_blocks *blocks, size_t length);

/* Compress what is there and all that follows. No byte may have been read yet. */
void gw_blocks_compress(struct gw_blocks *blocks);
/* The body is complete: finish the compression. */
void gw_blocks_finish(struct gw_blocks *blocks);

/* Add a reader, at the beginning. Not after gw_blocks_close(). */
void gw_blocks_join(struct gw_blocks *blocks);
/* Returns up to max bytes; 0: none now. */
size_t gw_blocks_read(struct gw_blocks *blocks, struct gw_blocks_place *place, char *out, size_t max);
/* Remove a reader, at any position. */
void gw_blocks_leave(struct gw_blocks *blocks, const struct gw_blocks_place *place);
/* No reader joins any more. places: the positions of all `readers` readers. */
void gw_blocks_close(struct gw_blocks *blocks, const struct gw_blocks_place *const *places);

#endif
