/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait objects: runs `informerctl wait --for=condition=..., delete, create, jsonpath=...`. It waits for the
 * named objects one after the other, with one deadline, and prints kubectl's result for each.
 */
#ifndef TOOLS_INFORMERCTL_WAIT_OBJECTS_H
#define TOOLS_INFORMERCTL_WAIT_OBJECTS_H

#include <stdint.h>

#include "tools/informerctl/get.h"
#include "tools/informerctl/wait_condition.h"

/*
 * get         attached, with its targets; their first lists have arrived
 * end_ns      deadline (CLOCK_MONOTONIC); UINT64_MAX: none
 * timeout_ms  the timeout of that deadline, for messages
 * Returns     the exit code
 */
int wait_objects(struct get *get, const struct wait_condition *condition, uint64_t end_ns, int timeout_ms);

#endif
