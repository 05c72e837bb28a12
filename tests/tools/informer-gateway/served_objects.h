/* SPDX-License-Identifier: Apache-2.0 */
/* Pods for tests of logs and watchers, made without an arena. */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_SERVED_OBJECTS_H
#define TESTS_TOOLS_INFORMER_GATEWAY_SERVED_OBJECTS_H

#include "tools/informer-gateway/history/interest.h"

/* The index of spec.nodeName among a pod's fields. */
#define POD_NODE 0u

/* The registry's resource of pods, one for the program. */
struct api_resource *served_pods(void);
/* A pod; key is "ns/name". Returns one reference. */
struct api_object *served_pod(const char *key, const char *node, uint64_t rv);

/* A pod's change from one node ("": none; NULL: absent) to another (NULL: deleted). */
struct api_event pod_change(const char *key, const char *from, const char *to, uint64_t rv);

/*
 * Options of a log: its bytes, a share of 64 MiB, and a clock that advances by logged_step_ms at each change.
 * By default no change is fresh.
 */
struct gw_log_options logged_options(size_t bytes);
extern struct api_share logged_share;
extern uint64_t logged_step_ms;

/* cmocka's: a log that begins at RV 100, and its watchers. */
struct logged {
	struct gw_change_log log;
	struct gw_interests interests;
};

int logged_set_up(void **state);
int logged_tear_down(void **state);

#endif
