/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intake: a libinformer handler that offers its events to a supervisor, and is paused while the supervisor is
 * full.
 *
 * The library calls it within informer_dispatch() and lends objects for the call only, so each object is made
 * JSON there.
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
 * Returns 0, or the error of informer_add_handler(), after a message
 */
int intake_new(struct informer *informer, const struct handler_settings *settings,
	       struct supervisor *supervisor, struct intake **ret_intake);
/* Remove the handler. NULL is fine. */
void
intake_free(struct intake *intake);

void
intake_hold(struct intake *intake, bool hold);
void
intake_acknowledge(struct intake *intake, const struct informer_cursor *cursor);

/* Call after a dispatch: changes that were told and gave no event count as done. */
void intake_dispatched(struct intake *intake);

/* Whether memory ran out for an event. The event comes again after a restart: informer-run must end. */
bool
intake_lacks_memory(const struct intake *intake);

/* waiting: events in the daemon's queue; synced: everything that was there has been told. */
struct intake_stats {
	uint64_t waiting;
	uint64_t lag_seq;
	bool synced;
	bool subscribed;
};
void
intake_stats(const struct intake *intake, struct intake_stats *ret_stats);

#endif
