/* SPDX-License-Identifier: Apache-2.0 */
/* A table with linear probing, never more than half full; see connection_quota.h. */
#include "tools/informer-gateway/http/connection_quota.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

#define ALL_MOST (1u << 20)

void
gw_quota_init(struct gw_quota *quota, unsigned all_max, unsigned of_one_max)
{
	unsigned size = 16;

	if (all_max > ALL_MOST)
		all_max = ALL_MOST;
	while (size < all_max * 2)
		size *= 2;
	*quota = (struct gw_quota){.all_max = all_max, .of_one_max = of_one_max, .mask = size - 1};
	quota->places = api_alloc(size * sizeof(*quota->places));
	memset(quota->places, 0, size * sizeof(*quota->places));
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

/* Where the key stands, or the empty place for it. */
static unsigned
find(const struct gw_quota *quota, uint64_t key)
{
	unsigned i = home(quota, key);

	while (quota->places[i].count && quota->places[i].key != key)
		i = (i + 1) & quota->mask;
	return i;
}

enum gw_quota_verdict
gw_quota_take(struct gw_quota *quota, uint64_t key)
{
	struct gw_quota_place *place;

	if (quota->all >= quota->all_max)
		return GW_QUOTA_ALL;
	place = &quota->places[find(quota, key)];
	if (place->count >= quota->of_one_max)
		return GW_QUOTA_OF_ONE;
	place->key = key;
	place->count++;
	quota->all++;
	return GW_QUOTA_TAKEN;
}

/* Close the gap: whoever stands behind it and would be sought across it moves into it. */
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
	if (--quota->places[i].count == 0)
		close_gap(quota, i);
}
