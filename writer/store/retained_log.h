/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log of objects that left the store but that a queue may still show, in order of seq. As queues are read,
 * the oldest entries are taken out.
 *
 *	      let go ◀── [ seq 17 | seq 17 | seq 21 | … | seq 90 ] ◀── replaced or deleted now
 *	                   ▲ the lowest unread seq moves on
 *
 * Each entry carries the sum of bytes of all entries before it. So the bytes held for a reader that has read
 * up to seq are found by a search and a subtraction. The log does not touch blocks: the caller that takes a
 * ref retires it.
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

/* Reserve memory for the next `more` appends. 0, -ENOMEM. */
int retained_log_reserve(struct retained_log *h, size_t more);

/* Append an entry; seq must not be below that of the last entry. False: no memory, nothing was appended. */
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
