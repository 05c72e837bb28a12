/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity limits: how much of each kind one identity has under way, over all its connections. Lists are a
 * kind of their own, as many as of other requests: who reads his lists slowly still gets single objects.
 *
 * Memory: an entry for each identity that has something under way.
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATE_IDENTITY_LIMITS_H
#define TOOLS_INFORMER_GATEWAY_GATE_IDENTITY_LIMITS_H

#include "tools/informer-gateway/access/identity.h"

enum gw_limit { GW_LIMIT_REQUESTS, GW_LIMIT_LISTS, GW_LIMIT_WATCHES, GW_LIMIT_KINDS };

struct gw_limits;

struct gw_limits *gw_limits_new(unsigned requests, unsigned watches);
void gw_limits_free(struct gw_limits *limits);

/* Count one more, if there may be one. */
bool gw_limits_take(struct gw_limits *limits, const uint8_t key[GW_DIGEST], enum gw_limit kind);
/* It is over: once for each that was taken. */
void gw_limits_give_back(struct gw_limits *limits, const uint8_t key[GW_DIGEST], enum gw_limit kind);

/* Identities that have something under way. */
unsigned gw_limits_identities(const struct gw_limits *limits);

#endif
