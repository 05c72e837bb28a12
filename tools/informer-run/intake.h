/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a supervisor's events come from: one handler of the library, which is held back while the supervisor
 * has no room.
 *
 * The library calls within informer_dispatch(); each object is made JSON there, since it is lent for the call
 * only.
 */
#ifndef TOOLS_INFORMER_RUN_INTAKE_H
#define TOOLS_INFORMER_RUN_INTAKE_H

#include "reader-lib/informer.h"
#include "tools/informer-run/settings.h"
#include "tools/informer-run/supervisor.h"

struct intake;

/*
 * Add the handler. settings, supervisor: borrowed.
 *
 * Returns 0, or what informer_add_handler() says, after a message
 */
int intake_new(struct informer *informer, const struct handler_settings *settings,
	       struct supervisor *supervisor, struct intake **ret_intake);
/* Remove it. NULL is fine. */
void
intake_free(struct intake *intake);

void
intake_hold(struct intake *intake, bool hold);
void
intake_acknowledge(struct intake *intake, const struct informer_cursor *cursor);

/* After a dispatch: what was told and was nothing for us is done, too. */
void intake_dispatched(struct intake *intake);

/* Events that wait in the daemon's queue for us; whether everything that was there has been told. */
struct intake_stats {
	uint64_t waiting;
	uint64_t lag_seq;
	bool synced;
	bool subscribed;
};
void
intake_stats(const struct intake *intake, struct intake_stats *ret_stats);

#endif
