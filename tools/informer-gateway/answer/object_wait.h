/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object wait: a GET by name that found nothing waits for the object, which may be milliseconds old: rsyslog
 * asks for a pod with its first line, and keeps a 404 for an hour.
 *
 *	each new RV of the resource ──▶ look again ──▶ it is there: answer
 *	GW_OBJECT_WAIT_MS are over  ──▶ the caller has a bearer: hooks.elsewhere
 *	                            ──▶ else next: 404
 *
 * Threads: the loop's only.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ANSWER_OBJECT_WAIT_H
#define TOOLS_INFORMER_GATEWAY_ANSWER_OBJECT_WAIT_H

#include "tools/informer-gateway/answer/router.h"

#define GW_OBJECT_WAIT_MS 1000u

/* Takes over an exchange that the router's hook `missing` was given, with its next. */
void gw_object_wait(struct gw_exchange *x, gw_next *next);

#endif
