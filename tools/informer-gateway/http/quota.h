/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quota: counts uses in total and for each key, against two limits: connections of a client, requests of an
 * identity.
 *
 * Memory: 32 bytes for each key in use, at the peak.
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
/* Count one more, if the limits allow it. */
enum gw_quota_verdict gw_quota_take(struct gw_quota *quota, uint64_t key);
/* Give one back; once for each GW_QUOTA_TAKEN. */
void gw_quota_give_back(struct gw_quota *quota, uint64_t key);

#endif
