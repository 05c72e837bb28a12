/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods: READY, STATUS and RESTARTS.
 *
 * STATUS is not a field. It is derived in this order; a later value replaces an earlier one: phase;
 * status.reason; scheduling gates; the first init container that is not done; once all are done, the first
 * container in spec order that waits or has ended; deletion.
 *
 * Source: printPod()
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/printer/age.h"
#include "tools/printer/pieces.h"
#include "tools/printer/print.h"

struct pod_view {
	char reason[512];
	int64_t restarts;
	int64_t last_restart_ns;
	bool has_last_restart;
	size_t ready;
	size_t total;
};

static void
set_reason(struct pod_view *view, const char *prefix, struct field_text reason)
{
	snprintf(view->reason, sizeof(view->reason), "%s%.*s", prefix,
		 (int)(reason.length > 256 ? 256 : reason.length), reason.data);
}

/* Reason of a terminated container: its own, else its signal, else its exit code. */
static void
set_exit(struct pod_view *view, const char *prefix, struct field terminated)
{
	int64_t signal = field_int(field_get(terminated, "signal"));
	struct field_text reason = field_string(field_get(terminated, "reason"));

	if (reason.length > 0)
		set_reason(view, prefix, reason);
	else if (signal != 0)
		snprintf(view->reason, sizeof(view->reason), "%sSignal:%" PRId64, prefix, signal);
	else
		snprintf(view->reason, sizeof(view->reason), "%sExitCode:%" PRId64, prefix,
			 field_int(field_get(terminated, "exitCode")));
}

static bool
is_sidecar(struct field container)
{
	return field_is(field_get(container, "restartPolicy"), "Always");
}

/* Whether the init container of that name is a sidecar, which keeps running beside the containers. */
static bool
names_sidecar(struct field init_containers, struct field_text name)
{
	struct field_iter it;

	field_iterate(init_containers, &it);
	while (field_next(&it))
		if (is_sidecar(it.item) && field_text_equal(field_string(field_get(it.item, "name")), name))
			return true;
	return false;
}

static void
count_restarts(struct pod_view *view, struct field status)
{
	struct field terminated = field_at(status, "lastState", "terminated");
	int64_t then;

	view->restarts += field_int(field_get(status, "restartCount"));
	if (field_is_set(terminated) && age_parse(field_string(field_get(terminated, "finishedAt")), &then) &&
	    (!view->has_last_restart || then > view->last_restart_ns)) {
		view->last_restart_ns = then;
		view->has_last_restart = true;
	}
}

/* Whether this init container blocks the pod. Sets the reason. */
static bool
init_blocks(struct pod_view *view, struct field status, bool sidecar, size_t i, size_t count)
{
	struct field terminated = field_at(status, "state", "terminated");
	struct field_text waiting = field_string(field_at(status, "state", "waiting", "reason"));

	if (field_is_set(terminated) && field_int(field_get(terminated, "exitCode")) == 0)
		return false;
	if (sidecar && field_is_true(field_get(status, "started"))) {
		view->ready += field_is_true(field_get(status, "ready"));
		return false;
	}
	if (field_is_set(terminated))
		set_exit(view, "Init:", terminated);
	else if (waiting.length > 0 && !field_text_is(waiting, "PodInitializing"))
		set_reason(view, "Init:", waiting);
	else
		snprintf(view->reason, sizeof(view->reason), "Init:%zu/%zu", i, count);
	return true;
}

/* `sidecars` counts only the sidecars' restarts, which still count once the pod is initialized. */
static bool
look_at_init_containers(struct pod_view *view, struct pod_view *sidecars, struct field pod)
{
	struct field containers = field_at(pod, "spec", "initContainers"), statuses;
	struct field_iter it;
	bool blocked = false;

	field_iterate(containers, &it);
	while (field_next(&it))
		view->total += is_sidecar(it.item);
	statuses = field_at(pod, "status", "initContainerStatuses");
	field_iterate(statuses, &it);
	for (size_t i = 0; !blocked && field_next(&it); i++) {
		bool sidecar = names_sidecar(containers, field_string(field_get(it.item, "name")));

		count_restarts(view, it.item);
		if (sidecar)
			count_restarts(sidecars, it.item);
		blocked = init_blocks(view, it.item, sidecar, i, field_count(containers));
	}
	return blocked;
}

static bool
condition_is_true(struct field pod, const char *type)
{
	struct field_iter it;

	field_iterate(field_at(pod, "status", "conditions"), &it);
	while (field_next(&it))
		if (field_is(field_get(it.item, "type"), type) &&
		    field_is(field_get(it.item, "status"), "True"))
			return true;
	return false;
}

/* From the last to the first, so that the first container's reason remains. */
static void
look_at_containers(struct pod_view *view, struct field pod)
{
	struct field statuses = field_at(pod, "status", "containerStatuses");
	bool running = false;

	for (size_t i = field_count(statuses); i-- > 0;) {
		struct field status = field_element(statuses, i), state = field_get(status, "state");
		struct field_text waiting = field_string(field_at(state, "waiting", "reason"));
		struct field terminated = field_get(state, "terminated");

		count_restarts(view, status);
		if (waiting.length > 0) {
			set_reason(view, "", waiting);
		} else if (field_is_set(terminated)) {
			set_exit(view, "", terminated);
		} else if (field_is_true(field_get(status, "ready")) &&
			   field_is_set(field_get(state, "running"))) {
			running = true;
			view->ready++;
		}
	}
	if (running && strcmp(view->reason, "Completed") == 0)
		snprintf(view->reason, sizeof(view->reason),
			 condition_is_true(pod, "Ready") ? "Running" : "NotReady");
}

static void
look(struct pod_view *view, struct field pod)
{
	struct field status = field_get(pod, "status"), phase = field_get(status, "phase");
	struct field_text reason = field_string(field_get(status, "reason"));
	struct pod_view sidecars = {0};
	struct field_iter it;
	bool blocked;

	set_reason(view, "", reason.length > 0 ? reason : field_string(phase));
	field_iterate(field_get(status, "conditions"), &it);
	while (field_next(&it))
		if (field_is(field_get(it.item, "type"), "PodScheduled") &&
		    field_is(field_get(it.item, "reason"), "SchedulingGated"))
			set_reason(view, "", field_string(field_get(it.item, "reason")));
	view->total = field_count(field_at(pod, "spec", "containers"));
	blocked = look_at_init_containers(view, &sidecars, pod);
	if (!blocked || condition_is_true(pod, "Initialized")) {
		view->restarts = sidecars.restarts;
		view->last_restart_ns = sidecars.last_restart_ns;
		view->has_last_restart = sidecars.has_last_restart;
		look_at_containers(view, pod);
	}
	if (!field_is_set(field_at(pod, "metadata", "deletionTimestamp")))
		return;
	if (field_text_is(reason, "NodeLost"))
		snprintf(view->reason, sizeof(view->reason), "Unknown");
	else if (!field_is(phase, "Succeeded") && !field_is(phase, "Failed"))
		snprintf(view->reason, sizeof(view->reason), "Terminating");
}

/* "1/2": readiness gates with a true condition, of all gates. */
static void
print_gates(struct field pod, struct cells *cells)
{
	struct field gates = field_at(pod, "spec", "readinessGates"),
		     conditions = field_at(pod, "status", "conditions");
	struct field_iter gate, condition;
	size_t met = 0;

	field_iterate(gates, &gate);
	while (field_next(&gate)) {
		struct field_text type = field_string(field_get(gate.item, "conditionType"));

		field_iterate(conditions, &condition);
		while (field_next(&condition)) {
			if (!field_text_equal(field_string(field_get(condition.item, "type")), type))
				continue;
			met += field_is(field_get(condition.item, "status"), "True");
			break;
		}
	}
	if (field_count(gates) == 0)
		cells_adds(cells, "<none>");
	else
		cells_addf(cells, "%zu/%zu", met, field_count(gates));
}

static void
print(struct field pod, const struct print_options *options, struct cells *cells)
{
	struct pod_view view = {0};
	char age[AGE_TEXT_MAX];

	look(&view, pod);
	print_name(pod, cells);
	cells_addf(cells, "%zu/%zu", view.ready, view.total);
	cells_adds(cells, view.reason);
	if (view.restarts != 0 && view.has_last_restart)
		cells_addf(cells, "%" PRId64 " (%s ago)", view.restarts,
			   age_format(options->now_ns - view.last_restart_ns, age));
	else
		cells_addf(cells, "%" PRId64, view.restarts);
	print_age(pod, options->now_ns, cells);
	if (!options->wide)
		return;
	cells_add_or(cells,
		     field_string(field_get(field_element(field_at(pod, "status", "podIPs"), 0), "ip")),
		     "<none>");
	cells_add_or(cells, field_string(field_at(pod, "spec", "nodeName")), "<none>");
	cells_add_or(cells, field_string(field_at(pod, "status", "nominatedNodeName")), "<none>");
	print_gates(pod, cells);
}

static const struct print_column columns[] = {
	{"Name", false}, {"Ready", false}, {"Status", false}, {"Restarts", false},	 {"Age", false},
	{"IP", true},	 {"Node", true},   {"Nominated Node", true}, {"Readiness Gates", true},
};

const struct printer print_pod = {"", "pods", columns, sizeof(columns) / sizeof(*columns), print};
