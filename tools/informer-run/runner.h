/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handler at work: its source, its supervisor, its processes, its dead letters.
 */
#ifndef TOOLS_INFORMER_RUN_RUNNER_H
#define TOOLS_INFORMER_RUN_RUNNER_H

#include <sys/types.h>

#include "tools/informer-run/loop.h"
#include "tools/informer-run/settings.h"
#include "tools/informer-run/intake.h"
#include "tools/informer-run/supervisor.h"

struct runner;

/*
 * Check the command, open the dead letters, take up the handler. Processes start with runner_tick().
 *
 * Returns 0, or a negative value after a message
 */
int runner_new(struct loop *loop, struct informer *informer, const struct handler_settings *settings,
	       struct runner **ret_runner);
/* Kill what still runs. NULL is fine. */
void
runner_free(struct runner *runner);

void
runner_tick(struct runner *runner);
uint64_t
runner_next(const struct runner *runner);
/* After informer_dispatch(). */
void runner_dispatched(struct runner *runner);
/* Whether it let its source go on, so that a dispatch has something to do; asking takes it back. */
bool
runner_wants_dispatch(struct runner *runner);

/* A child ended (and waits to be reaped). True: it was this handler's, and is reaped. */
bool
runner_child_ended(struct runner *runner, pid_t pid);

/* No new events; once nothing is under way, its processes' input ends. Whether there is something still. */
void
runner_drain(struct runner *runner);
bool
runner_busy(const struct runner *runner);

/* Its part of the status: one JSON object. */
void
runner_status(const struct runner *runner, struct text *out);

#endif
