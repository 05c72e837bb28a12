/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps replaced and deleted objects for the store until no queue can show them, in order of seq, with
 * running sums of bytes.
 */
#include "writer/store/retained_log.h"

#include <assert.h>

#define CAPACITY_KEPT 4096u /* the most that an empty log keeps */

struct retained_entry {
	uint64_t seq;
	uint64_t before; /* bytes of all that were appended before */
	uint32_t ref;
};

static struct retained_entry *
entry(const struct retained_log *h, size_t i)
{
	return fifo_ring_at(&h->entries, sizeof(struct retained_entry), i);
}

int
retained_log_reserve(struct retained_log *h, size_t more)
{
	return fifo_ring_reserve(&h->entries, sizeof(struct retained_entry), more);
}

bool
retained_log_append(struct retained_log *h, uint64_t seq, uint32_t ref, uint64_t bytes)
{
	struct retained_entry *last;

	if (retained_log_reserve(h, 1) < 0)
		return false;
	assert(retained_log_is_empty(h) || entry(h, h->entries.count - 1)->seq <= seq);
	last = fifo_ring_push(&h->entries, sizeof(*last));
	*last = (struct retained_entry){.seq = seq, .before = h->total, .ref = ref};
	h->total += bytes;
	return true;
}

int
retained_log_take(struct retained_log *h, uint64_t limit, uint32_t *ret_ref)
{
	if (retained_log_is_empty(h) || entry(h, 0)->seq >= limit)
		return 0;
	*ret_ref = entry(h, 0)->ref;
	fifo_ring_pop(&h->entries);
	if (retained_log_is_empty(h) && h->entries.capacity > CAPACITY_KEPT)
		retained_log_done(h);
	return 1;
}

uint64_t
retained_log_bytes_after(const struct retained_log *h, uint64_t seq)
{
	size_t low = 0, high = h->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entry(h, middle)->seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low == h->entries.count ? 0 : h->total - entry(h, low)->before;
}

void
retained_log_done(struct retained_log *h)
{
	fifo_ring_done(&h->entries);
	h->total = 0;
}
