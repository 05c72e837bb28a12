/* SPDX-License-Identifier: Apache-2.0 */
/* What one identity may have under way; see identity_limits.h. */
#include "tools/informer-gateway/gate/identity_limits.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

#define BUCKETS 4096u /* a power of two */

struct entry {
	struct entry *chain;
	uint8_t key[GW_DIGEST];
	unsigned counts[GW_LIMIT_KINDS];
};

struct gw_limits {
	unsigned most[GW_LIMIT_KINDS];
	unsigned identities;
	struct entry *buckets[BUCKETS];
};

struct gw_limits *
gw_limits_new(unsigned requests, unsigned watches)
{
	struct gw_limits *limits = api_alloc(sizeof(*limits));

	*limits = (struct gw_limits){.most = {[GW_LIMIT_REQUESTS] = requests,
					      [GW_LIMIT_LISTS] = requests,
					      [GW_LIMIT_WATCHES] = watches}};
	return limits;
}

void
gw_limits_free(struct gw_limits *limits)
{
	struct entry *entry, *next;

	for (unsigned i = 0; limits && i < BUCKETS; i++) {
		for (entry = limits->buckets[i]; entry; entry = next) {
			next = entry->chain;
			free(entry);
		}
	}
	free(limits);
}

static struct entry **
place_of(struct gw_limits *limits, const uint8_t key[GW_DIGEST])
{
	struct entry **at;
	uint32_t hash;

	memcpy(&hash, key, sizeof(hash)); /* it is one */
	for (at = &limits->buckets[hash % BUCKETS]; *at; at = &(*at)->chain)
		if (memcmp((*at)->key, key, GW_DIGEST) == 0)
			break;
	return at;
}

bool
gw_limits_take(struct gw_limits *limits, const uint8_t key[GW_DIGEST], enum gw_limit kind)
{
	struct entry **place = place_of(limits, key);

	if (limits->most[kind] == 0 || (*place && (*place)->counts[kind] >= limits->most[kind]))
		return false;
	if (!*place) {
		*place = api_alloc(sizeof(**place));
		**place = (struct entry){0};
		memcpy((*place)->key, key, GW_DIGEST);
		limits->identities++;
	}
	(*place)->counts[kind]++;
	return true;
}

void
gw_limits_give_back(struct gw_limits *limits, const uint8_t key[GW_DIGEST], enum gw_limit kind)
{
	struct entry **place = place_of(limits, key), *entry = *place;

	if (!entry || entry->counts[kind] == 0)
		return;
	entry->counts[kind]--;
	for (unsigned i = 0; i < GW_LIMIT_KINDS; i++)
		if (entry->counts[i] > 0)
			return;
	*place = entry->chain;
	free(entry);
	limits->identities--;
}

unsigned
gw_limits_identities(const struct gw_limits *limits)
{
	return limits->identities;
}
