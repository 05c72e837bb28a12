/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Held requests: they have come, and wait until somebody says how they are answered. So a test, or a person
 * with curl, goes through a conversation step by step, and nothing depends on who is quicker.
 *
 * Threads   any
 */
#ifndef TOOLS_INFORMER_SIM_HOLD_H
#define TOOLS_INFORMER_SIM_HOLD_H

#include <stdbool.h>

#include "tools/informer-sim/fault.h"

struct sim_request;
struct sim_holds;

struct sim_holds *
sim_holds_new(void);
void
sim_holds_free(struct sim_holds *holds);

/*
 * Wait for an answer.
 *
 * Returns  true with *ret_fault (SIM_FAULT_NONE: as if nobody had held it); false: the client went, or the
 *          server stops
 */
bool
sim_hold(struct sim_request *request, struct sim_fault *ret_fault);

/* Answer the one that waits longest. Returns false when none waits. */
bool
sim_holds_answer(struct sim_holds *holds, const struct sim_fault *fault);

/* How many wait; and append a line for each: "LIST pods rv=0 limit=500". */
unsigned
sim_holds_count(struct sim_holds *holds);
void
sim_holds_print(struct sim_holds *holds, struct api_buf *buf);

#endif
