/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object wait: a GET by name that finds nothing waits for the object, which may be milliseconds old. Example:
 * rsyslog asks for a pod at its first log line and keeps a 404 for an hour.
 *
 *	each new RV of the resource ──▶ look again ──▶ found: answer
 *	after GW_OBJECT_WAIT_MS     ──▶ the caller has a bearer token: hooks.elsewhere
 *	                            ──▶ else next: 404
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_OBJECT_WAIT_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_OBJECT_WAIT_H

#include "tools/informer-gateway/answer/router.h"

#define GW_OBJECT_WAIT_MS 1000u

/* Take over the exchange and the next of the hook `missing`. */
void gw_object_wait(struct gw_exchange *x, gw_next *next);

#endif
