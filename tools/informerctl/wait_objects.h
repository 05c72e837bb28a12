/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl wait --for=condition=..., delete, create, jsonpath=...: from what the command line names to the
 * objects, one wait after the other under one deadline, and kubectl's words for how each ended.
 */
#ifndef TOOLS_INFORMERCTL_WAIT_OBJECTS_H
#define TOOLS_INFORMERCTL_WAIT_OBJECTS_H

#include <stdint.h>

#include "tools/informerctl/get.h"
#include "tools/informerctl/wait_condition.h"

/*
 * get         attached, with its targets; their first lists are in
 * end_ns      deadline (CLOCK_MONOTONIC); UINT64_MAX: none
 * timeout_ms  what the deadline was made of
 * Returns     the exit code
 */
int wait_objects(struct get *get, const struct wait_condition *condition, uint64_t end_ns, int timeout_ms);

#endif
