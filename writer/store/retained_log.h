/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What left the store but may still be shown by a queue: a log in order of seq, oldest first, whose head is
 * let go as the queues are read.
 *
 *	      let go ◀── [ seq 17 | seq 17 | seq 21 | … | seq 90 ] ◀── what is replaced or deleted now
 *	                   ▲ the lowest unread seq moves on
 *
 * Each entry carries the bytes of all before it, so that "how much is held for one who has read up to seq" is
 * a search and a subtraction. The log knows nothing of blocks: whoever takes a ref retires it.
 */
#ifndef WRITER_STORE_RETAINED_LOG_H
#define WRITER_STORE_RETAINED_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/base/fifo_ring.h"

/* Zeroed is empty. */
struct retained_log {
	struct fifo_ring entries;
	uint64_t total;			/* bytes of all that was ever appended */
};

/* Make sure that the next `more` appends need no memory. 0, -ENOMEM. */
int retained_log_reserve(struct retained_log *h, size_t more);

/* Append; seq is not below that of the last entry. False: no memory, nothing was noted. */
bool retained_log_append(struct retained_log *h, uint64_t seq, uint32_t ref, uint64_t bytes);

/* Take the oldest entry out if its seq is below `limit`: 1 and its ref, else 0. */
int retained_log_take(struct retained_log *h, uint64_t limit, uint32_t *ret_ref);

/* Bytes of the entries with a seq above this one. O(log n). */
uint64_t retained_log_bytes_after(const struct retained_log *h, uint64_t seq);

static inline bool
retained_log_is_empty(const struct retained_log *h)
{
	return h->entries.count == 0;
}

void retained_log_done(struct retained_log *h);

#endif
