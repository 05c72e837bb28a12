/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of what is held: a ring.
 */
#include "writer/store/retained_log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64u
#define CAPACITY_KEPT 4096u /* an empty log keeps no more */

struct retained_entry {
	uint64_t seq;
	uint64_t before; /* bytes of all that were appended before */
	uint32_t ref;
};

static struct retained_entry *
entry(const struct retained_log *h, size_t i)
{
	return &h->ring[(h->head + i) & (h->capacity - 1)];
}

int
retained_log_reserve(struct retained_log *h, size_t more)
{
	size_t wider = h->capacity ? h->capacity : CAPACITY_MIN;
	struct retained_entry *ring;

	if (h->capacity - h->count >= more)
		return 0;
	while (wider - h->count < more) {
		if (wider > SIZE_MAX / sizeof(*ring) / 2)
			return -ENOMEM;
		wider *= 2;
	}
	ring = malloc(wider * sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	for (size_t i = 0; i < h->count; i++)
		ring[i] = *entry(h, i);
	free(h->ring);
	h->ring = ring;
	h->capacity = wider;
	h->head = 0;
	return 0;
}

bool
retained_log_append(struct retained_log *h, uint64_t seq, uint32_t ref, uint64_t bytes)
{
	if (retained_log_reserve(h, 1) < 0)
		return false;
	assert(h->count == 0 || entry(h, h->count - 1)->seq <= seq);
	*entry(h, h->count++) = (struct retained_entry){.seq = seq, .before = h->total, .ref = ref};
	h->total += bytes;
	return true;
}

int
retained_log_take(struct retained_log *h, uint64_t limit, uint32_t *ret_ref)
{
	if (h->count == 0 || entry(h, 0)->seq >= limit)
		return 0;
	*ret_ref = entry(h, 0)->ref;
	h->head = (h->head + 1) & (h->capacity - 1);
	if (--h->count == 0 && h->capacity > CAPACITY_KEPT)
		retained_log_done(h);
	return 1;
}

uint64_t
retained_log_bytes_after(const struct retained_log *h, uint64_t seq)
{
	size_t low = 0, high = h->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entry(h, middle)->seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low == h->count ? 0 : h->total - entry(h, low)->before;
}

void
retained_log_done(struct retained_log *h)
{
	free(h->ring);
	memset(h, 0, sizeof(*h));
}
