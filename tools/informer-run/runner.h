/* SPDX-License-Identifier: Apache-2.0 */
/* Runner: one configured handler at work, with its intake, supervisor, processes and dead letters. */
#ifndef TOOLS_INFORMER_RUN_RUNNER_H
#define TOOLS_INFORMER_RUN_RUNNER_H

#include <sys/types.h>

#include "tools/informer-run/loop.h"
#include "tools/informer-run/settings.h"
#include "tools/informer-run/intake.h"
#include "tools/informer-run/supervisor.h"

struct runner;

/*
 * Check the command, open the dead letters, add the handler. Processes start with runner_tick().
 *
 * Returns 0, or a negative value after a message
 */
int runner_new(struct loop *loop, struct informer *informer, const struct handler_settings *settings,
	       struct runner **ret_runner);
/* Kills its processes. NULL is fine. */
void
runner_free(struct runner *runner);

void
runner_tick(struct runner *runner);
uint64_t
runner_next(const struct runner *runner);
/* After informer_dispatch(). */
void runner_dispatched(struct runner *runner);
/* Whether memory ran out for an event; see intake_lacks_memory(). */
bool
runner_lacks_memory(const struct runner *runner);
/* Whether the intake was resumed since the last call, so that a dispatch has work. */
bool
runner_wants_dispatch(struct runner *runner);

/* A child ended and is not reaped. Returns true if it was this handler's; it is then reaped. */
bool
runner_child_ended(struct runner *runner, pid_t pid);

/*
 * Drain: send no new events; close the processes' input once no event is in progress. runner_busy(): an event
 * or a process is left.
 */
void
runner_drain(struct runner *runner);
bool
runner_busy(const struct runner *runner);

/* Append its part of the status: one JSON object. */
void
runner_status(const struct runner *runner, struct text *out);

#endif
