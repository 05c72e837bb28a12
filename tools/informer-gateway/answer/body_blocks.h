/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body blocks: bytes of an answer that several clients read, each at its own pace, while it is being made.
 * Put behind what is there, compressed where that was asked for; read by place.
 *
 * As long as newcomers may come all blocks stay. Behind gw_blocks_close() a block goes when the last reader
 * has passed it.
 *
 * Threads: one.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_BODY_BLOCKS_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_BODY_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#define GW_BLOCK_BYTES ((size_t)64 * 1024)

struct gw_block {
	char *bytes; /* NULL: everybody has passed it */
	size_t len;
	unsigned left; /* readers that have not passed it; counted once it is closed */
};

struct gw_blocks {
	struct gw_block *blocks;
	size_t count, capacity;
	size_t held; /* bytes of memory */
	unsigned readers;
	bool closed;
	struct gw_deflate *deflate; /* NULL: as it is */
};

/* A reader's place; zeroed: at the beginning. */
struct gw_blocks_place {
	size_t block, offset;
};

void gw_blocks_done(struct gw_blocks *blocks);

/* Room behind the last byte, at least one; *ret_room bytes. Then tell how many of them were used. */
char *gw_blocks_room(struct gw_blocks *blocks, size_t *ret_room);
void gw_blocks_used(struct gw_blocks *blocks, size_t length);

/* From now on what is put is compressed, and what is there already as well. Nobody has read anything. */
void gw_blocks_compress(struct gw_blocks *blocks);
/* It is whole. */
void gw_blocks_finish(struct gw_blocks *blocks);

/* One reader more, at the beginning; not once it is closed. */
void gw_blocks_join(struct gw_blocks *blocks);
/* Up to max bytes; 0: there are no more now. */
size_t gw_blocks_read(struct gw_blocks *blocks, struct gw_blocks_place *place, char *out, size_t max);
/* A reader goes, wherever it is. */
void gw_blocks_leave(struct gw_blocks *blocks, const struct gw_blocks_place *place);
/* No reader comes any more. places: of all that are there, `readers` of them. */
void gw_blocks_close(struct gw_blocks *blocks, const struct gw_blocks_place *const *places);

#endif
