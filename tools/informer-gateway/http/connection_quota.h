/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection quota: how many connections there are in all, and of each client (gw_peer_key).
 *
 * Memory: 32 bytes for each connection that there may be, from the start; nothing later.
 */
#ifndef TOOLS_INFORMER_GATEWAY_HTTP_CONNECTION_QUOTA_H
#define TOOLS_INFORMER_GATEWAY_HTTP_CONNECTION_QUOTA_H

#include <stdint.h>

struct gw_quota_place {
	uint64_t key;
	unsigned count; /* 0: empty */
};

struct gw_quota {
	unsigned all, all_max, of_one_max;
	unsigned mask;
	struct gw_quota_place *places;
};

/* At most 2^20 in all. */
void gw_quota_init(struct gw_quota *quota, unsigned all_max, unsigned of_one_max);
void gw_quota_done(struct gw_quota *quota);

enum gw_quota_verdict { GW_QUOTA_TAKEN, GW_QUOTA_ALL, GW_QUOTA_OF_ONE };
/* Count one more, if there may be one. */
enum gw_quota_verdict gw_quota_take(struct gw_quota *quota, uint64_t key);
/* It is over: once for each that was taken. */
void gw_quota_give_back(struct gw_quota *quota, uint64_t key);

#endif
