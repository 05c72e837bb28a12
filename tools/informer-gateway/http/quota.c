/* SPDX-License-Identifier: Apache-2.0 */
/* A table with linear probing, never more than half full; see quota.h. */
#include "tools/informer-gateway/http/quota.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

#define PLACES_LEAST 16u

static void
make_places(struct gw_quota *quota, unsigned size)
{
	quota->mask = size - 1;
	quota->places = api_alloc(size * sizeof(*quota->places));
	memset(quota->places, 0, size * sizeof(*quota->places));
}

void
gw_quota_init(struct gw_quota *quota, unsigned all_max, unsigned of_one_max)
{
	*quota = (struct gw_quota){.all_max = all_max, .of_one_max = of_one_max};
	make_places(quota, PLACES_LEAST);
}

void
gw_quota_done(struct gw_quota *quota)
{
	free(quota->places);
	*quota = (struct gw_quota){0};
}

static unsigned
home(const struct gw_quota *quota, uint64_t key)
{
	return (unsigned)((key * 0x9e3779b97f4a7c15u) >> 32) & quota->mask;
}

/* The key's place, or the empty place for it. */
static unsigned
find(const struct gw_quota *quota, uint64_t key)
{
	unsigned i = home(quota, key);

	while (quota->places[i].count && quota->places[i].key != key)
		i = (i + 1) & quota->mask;
	return i;
}

static void
grow(struct gw_quota *quota)
{
	struct gw_quota_place *old = quota->places;
	unsigned size = quota->mask + 1;

	make_places(quota, size * 2);
	for (unsigned i = 0; i < size; i++)
		if (old[i].count)
			quota->places[find(quota, old[i].key)] = old[i];
	free(old);
}

enum gw_quota_verdict
gw_quota_take(struct gw_quota *quota, uint64_t key)
{
	struct gw_quota_place *place;

	if (quota->all >= quota->all_max)
		return GW_QUOTA_ALL;
	if (quota->used > quota->mask / 2)
		grow(quota);
	place = &quota->places[find(quota, key)];
	if (place->count >= quota->of_one_max)
		return GW_QUOTA_OF_ONE;
	quota->used += place->count == 0;
	place->key = key;
	place->count++;
	quota->all++;
	return GW_QUOTA_TAKEN;
}

/* Close the gap: move entries behind it whose search would stop at the gap. */
static void
close_gap(struct gw_quota *quota, unsigned gap)
{
	for (unsigned i = (gap + 1) & quota->mask; quota->places[i].count; i = (i + 1) & quota->mask) {
		unsigned from = home(quota, quota->places[i].key);

		if (((i - from) & quota->mask) < ((i - gap) & quota->mask))
			continue;
		quota->places[gap] = quota->places[i];
		quota->places[i].count = 0;
		gap = i;
	}
}

void
gw_quota_give_back(struct gw_quota *quota, uint64_t key)
{
	unsigned i = find(quota, key);

	if (quota->places[i].count == 0)
		return;
	quota->all--;
	if (--quota->places[i].count > 0)
		return;
	quota->used--;
	close_gap(quota, i);
}
