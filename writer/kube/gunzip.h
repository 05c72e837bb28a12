/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gunzip: an answer's gzip, unpacked as it comes, for the transport. It may be several members, one behind
 * the other (RFC 1952): an API server that packs a stream ends one with each flush, and what was flushed is
 * to be told at once. libcurl takes a second member for an error.
 *
 * Threads   one at a time for each
 */
#ifndef WRITER_KUBE_GUNZIP_H
#define WRITER_KUBE_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUNZIP_PIECE_MAX 65536u

struct gunzip;

/* NULL: no memory. It holds about 110 KB. */
struct gunzip *gunzip_new(void);
void gunzip_free(struct gunzip *g); /* NULL is fine */

/*
 * The next piece of what these bytes, behind those that were given before, unpack to.
 *
 * data, length  are moved behind what was used; to be called again, with what is left (0 bytes, too), until
 *               there is none
 * ret_piece     at most GUNZIP_PIECE_MAX bytes; lent until the next call
 * Returns       1; 0: there is none, and all was used; -EPROTO: it is damaged; -ENOMEM
 */
int gunzip_next(struct gunzip *g, const uint8_t **data, size_t *length, const uint8_t **ret_piece,
		size_t *ret_length);

/* Whether what came so far ends where a member does. */
bool gunzip_is_whole(const struct gunzip *g);

#endif
