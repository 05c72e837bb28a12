/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quota: how many there are in all, and of each: connections of a client, requests of an identity.
 *
 * Memory: 32 bytes for each that has something, at its peak.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_QUOTA_H
#define TOOLS_INFORMER_GATEWAY_HTTP_QUOTA_H

#include <stdint.h>

struct gw_quota_place {
	uint64_t key;
	unsigned count; /* 0: empty */
};

struct gw_quota {
	unsigned all, all_max, of_one_max;
	unsigned mask, used; /* of the places */
	struct gw_quota_place *places;
};

void gw_quota_init(struct gw_quota *quota, unsigned all_max, unsigned of_one_max);
void gw_quota_done(struct gw_quota *quota);

enum gw_quota_verdict { GW_QUOTA_TAKEN, GW_QUOTA_ALL, GW_QUOTA_OF_ONE };
/* Count one more, if there may be one. */
enum gw_quota_verdict gw_quota_take(struct gw_quota *quota, uint64_t key);
/* It is over: once for each that was taken. */
void gw_quota_give_back(struct gw_quota *quota, uint64_t key);

#endif
