/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three-way radix quicksort (Bentley and Sedgewick 1997), with words for letters.
 */
#include "tools/informer-gateway/views/key_sort.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define FEW 12u
#define SEVENS 0x7f7f7f7f7f7f7f7fu

/* The key's eight bytes from depth on, as a number that compares like them; zeroes behind its end. */
static uint64_t
word_at(const struct gw_keyed *item, size_t depth)
{
	uint64_t word, zero;

	memcpy(&word, item->key + depth, sizeof(word));
	word = be64toh(word);
	/* the high bit of each byte that is zero, exactly */
	zero = ~(((word & SEVENS) + SEVENS) | word | SEVENS);
	if (zero == 0)
		return word;
	return word & ~(UINT64_MAX >> __builtin_clzll(zero));
}

static void
swap(struct gw_keyed *a, struct gw_keyed *b)
{
	struct gw_keyed c = *a;

	*a = *b;
	*b = c;
}

static void
sort_few(struct gw_keyed *items, size_t count, size_t depth)
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k > 0 && strcmp(items[k - 1].key + depth, items[k].key + depth) > 0; k--)
			swap(&items[k - 1], &items[k]);
}

static uint64_t
middle_of(uint64_t a, uint64_t b, uint64_t c)
{
	if (a > b) {
		uint64_t d = a;

		a = b;
		b = d;
	}
	return c < a ? a : c > b ? b : c;
}

/* All keys agree in what stands before depth. */
static void
sort(struct gw_keyed *items, size_t count, size_t depth)
{
	while (count > FEW) {
		uint64_t pivot = middle_of(word_at(&items[0], depth), word_at(&items[count / 2], depth),
					   word_at(&items[count - 1], depth));
		size_t below = 0, at = 0, above = count;

		while (at < above) {
			uint64_t word = word_at(&items[at], depth);

			if (word < pivot)
				swap(&items[below++], &items[at++]);
			else if (word > pivot)
				swap(&items[at], &items[--above]);
			else
				at++;
		}
		/* of equal ones the rest is compared, if there is any */
		if ((pivot & 0xff) != 0)
			sort(items + below, above - below, depth + sizeof(pivot));
		/* the smaller part here, so that the stack stays flat */
		if (below < count - above) {
			sort(items, below, depth);
			items += above;
			count -= above;
		} else {
			sort(items + above, count - above, depth);
			count = below;
		}
	}
	sort_few(items, count, depth);
}

void
gw_key_sort(struct gw_keyed *items, size_t count)
{
	sort(items, count, 0);
}

size_t
gw_key_seek(const struct gw_keyed *items, size_t count, const char *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(items[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
