/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Held requests: requests that wait until a test, or a person with curl, chooses their answer. So a
 * conversation runs step by step and does not depend on timing.
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
 * Returns  true with *ret_fault (SIM_FAULT_NONE: answer normally); false: the client disconnected, or the
 *          server stops
 */
bool
sim_hold(struct sim_request *request, struct sim_fault *ret_fault);

/* Answer the request that waits longest. False: none waits. */
bool
sim_holds_answer(struct sim_holds *holds, const struct sim_fault *fault);

/* The number of held requests; and append a line for each: "LIST pods rv=0 limit=500". */
unsigned
sim_holds_count(struct sim_holds *holds);
void
sim_holds_print(struct sim_holds *holds, struct api_buf *buf);

#endif
