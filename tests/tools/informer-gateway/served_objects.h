/* SPDX-License-Identifier: Apache-2.0 */
/* Pods for tests of logs and watchers, made of a few words; no arena. */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_SERVED_OBJECTS_H
#define TESTS_TOOLS_INFORMER_GATEWAY_SERVED_OBJECTS_H

#include "tools/informer-gateway/history/interest.h"

/* Which of a pod's fields spec.nodeName is. */
#define POD_NODE 0u

/* One registry for the program. */
struct api_resource *served_pods(void);
/* key: "ns/name". One reference. */
struct api_object *served_pod(const char *key, const char *node, uint64_t rv);

/* A change of a pod from one node ("": none; NULL: it was not there) to another (NULL: it is deleted). */
struct api_event pod_change(const char *key, const char *from, const char *to, uint64_t rv);

/*
 * What a log is made with: of so many bytes, with a share of 64 MiB that counts, and a clock that goes on by
 * logged_step_ms from one change to the next, by default so far that none is fresh.
 */
struct gw_log_options logged_options(size_t bytes);
extern struct api_share logged_share;
extern uint64_t logged_step_ms;

/* A log that begins at RV 100, and who is interested in it; cmocka's. */
struct logged {
	struct gw_change_log log;
	struct gw_interests interests;
};

int logged_set_up(void **state);
int logged_tear_down(void **state);

#endif
