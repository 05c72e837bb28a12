/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits that the kubelet and the controllers would make.
 */
#include "tools/informer-sim/mutate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
sim_mutate_hosts(struct sim_store *store, const struct sim_resource *nodes, struct sim_hosts *ret_hosts,
		 struct sim_rng *rng)
{
	struct sim_view view;
	struct sim_object *object;

	sim_store_view(store, nodes, 0, &view, NULL);
	if (view.snapshot.count == 0) {
		sim_view_done(&view);
		sim_hosts_init(ret_hosts, 10, rng);
		return;
	}
	ret_hosts->items = sim_alloc(view.snapshot.count * sizeof(*ret_hosts->items));
	ret_hosts->count = 0;
	while ((object = sim_view_next(&view))) {
		struct sim_host *host = &ret_hosts->items[ret_hosts->count++];
		_cleanup_(sim_doc_done) struct sim_doc doc = {0};
		_cleanup_(sim_freep) char *ip = NULL;
		const struct sim_node *addresses;

		sim_object_edit(nodes, object, &doc);
		addresses = sim_path(doc.root, "status.addresses");
		for (const struct sim_node *a = addresses ? addresses->child : NULL; a && !ip; a = a->next)
			if (sim_is(sim_get(a, "type"), "InternalIP"))
				ip = sim_text_dup(sim_get(a, "address"));
		snprintf(host->name, sizeof(host->name), "%s", object->key);
		snprintf(host->ip, sizeof(host->ip), "%s", ip ? ip : "10.0.0.1");
	}
	sim_view_done(&view);
}

static void
set_time(struct sim_doc *doc, struct sim_node *object, const char *key, int64_t at)
{
	char text[SIM_TIME_SIZE];

	sim_time_print(at, text);
	sim_set_string(doc, object, key, text);
}

static void
set_bool(struct sim_doc *doc, struct sim_node *object, const char *key, bool value)
{
	sim_set(doc, object, key, sim_new_token(doc, value ? SIM_TRUE : SIM_FALSE, value ? "true" : "false"));
}

static struct sim_node *
member_object(struct sim_doc *doc, struct sim_node *object, const char *key)
{
	struct sim_node *member = sim_get(object, key);

	if (!member || member->type != SIM_OBJECT) {
		sim_set(doc, object, key, sim_new(doc, SIM_OBJECT));
		member = sim_get(object, key);
	}
	return member;
}

static void
set_condition(struct sim_doc *doc, struct sim_node *status, const char *type, bool value, int64_t now)
{
	struct sim_node *conditions = sim_get(status, "conditions"), *condition;

	if (!conditions || conditions->type != SIM_ARRAY) {
		sim_set(doc, status, "conditions", sim_new(doc, SIM_ARRAY));
		conditions = sim_get(status, "conditions");
	}
	for (condition = conditions->child; condition; condition = condition->next)
		if (sim_is(sim_get(condition, "type"), type))
			break;
	if (!condition) {
		condition = sim_new(doc, SIM_OBJECT);
		sim_set_string(doc, condition, "type", type);
		sim_set_string(doc, condition, "status", "");
		sim_set(doc, condition, "lastProbeTime", sim_new_token(doc, SIM_NULL, "null"));
		sim_append(conditions, condition);
	}
	sim_set_string(doc, condition, "status", value ? "True" : "False");
	set_time(doc, condition, "lastTransitionTime", now);
	if (value) {
		sim_remove(condition, "reason");
		sim_remove(condition, "message");
	} else if (!strcmp(type, "Ready") || !strcmp(type, "ContainersReady")) {
		sim_set_string(doc, condition, "reason", "ContainersNotReady");
		sim_set_string(doc, condition, "message", "containers with unready status");
	}
}

static void
set_running(struct sim_doc *doc, struct sim_node *container, struct sim_mutation *m, bool ready)
{
	struct sim_node *state = sim_new(doc, SIM_OBJECT), *in_state = sim_new(doc, SIM_OBJECT);
	char hex[65], id[80];

	if (ready) {
		set_time(doc, in_state, "startedAt", m->now);
		sim_set(doc, state, "running", in_state);
		sim_rng_hex(m->rng, hex, 64);
		snprintf(id, sizeof(id), "cri-o://%s", hex);
		sim_set_string(doc, container, "containerID", id);
	} else {
		sim_set_string(doc, in_state, "reason", "ContainerCreating");
		sim_set(doc, state, "waiting", in_state);
		sim_remove(container, "containerID");
	}
	sim_set(doc, container, "state", state);
	set_bool(doc, container, "ready", ready);
	set_bool(doc, container, "started", ready);
}

/* The node it was put on has started it. */
static void
start(struct sim_doc *doc, struct sim_node *status, struct sim_mutation *m)
{
	struct sim_node *spec = sim_get(doc->root, "spec"), *ips = sim_new(doc, SIM_ARRAY),
			*ip = sim_new(doc, SIM_OBJECT);
	const struct sim_node *host_network = sim_get(spec, "hostNetwork"), *containers;
	const struct sim_host *host = &m->hosts->items[sim_rng_below(m->rng, m->hosts->count)];
	char address[16];

	for (unsigned i = 0; i < m->hosts->count; i++)
		if (sim_is(sim_get(spec, "nodeName"), m->hosts->items[i].name))
			host = &m->hosts->items[i];
	sim_pod_ip(m->rng, address);
	if (host_network && host_network->type == SIM_TRUE)
		snprintf(address, sizeof(address), "%s", host->ip);
	sim_set_string(doc, spec, "nodeName", host->name);
	sim_set_string(doc, status, "phase", "Running");
	sim_set_string(doc, status, "hostIP", host->ip);
	sim_set_string(doc, status, "podIP", address);
	sim_set_string(doc, ip, "ip", address);
	sim_append(ips, ip);
	sim_set(doc, status, "podIPs", ips);
	set_time(doc, status, "startTime", m->now);
	set_condition(doc, status, "PodScheduled", true, m->now);
	set_condition(doc, status, "Initialized", true, m->now);
	set_condition(doc, status, "ContainersReady", true, m->now);
	set_condition(doc, status, "Ready", true, m->now);
	containers = sim_get(status, "containerStatuses");
	for (struct sim_node *c = containers ? containers->child : NULL; c; c = c->next)
		if (c->type == SIM_OBJECT)
			set_running(doc, c, m, true);
}

static void
restart(struct sim_doc *doc, struct sim_node *container, struct sim_mutation *m)
{
	const struct sim_node *old = sim_get(container, "restartCount");
	_cleanup_(sim_freep) char *id = sim_text_dup(sim_get(container, "containerID"));
	struct sim_node *last = sim_new(doc, SIM_OBJECT), *terminated = sim_new(doc, SIM_OBJECT);
	char count[24];

	snprintf(count, sizeof(count), "%d", old && old->type == SIM_NUMBER ? atoi(old->text) + 1 : 1);
	sim_set(doc, container, "restartCount", sim_new_token(doc, SIM_NUMBER, count));
	sim_set(doc, terminated, "exitCode",
		sim_new_token(doc, SIM_NUMBER, sim_rng_below(m->rng, 3) ? "1" : "137"));
	sim_set_string(doc, terminated, "reason", "Error");
	set_time(doc, terminated, "startedAt", m->now - 600);
	set_time(doc, terminated, "finishedAt", m->now);
	if (id[0])
		sim_set_string(doc, terminated, "containerID", id);
	sim_set(doc, last, "terminated", terminated);
	sim_set(doc, container, "lastState", last);
	set_running(doc, container, m, true);
}

bool
sim_mutate_pod(struct sim_doc *pod, struct sim_mutation *m)
{
	struct sim_node *status = member_object(pod, pod->root, "status");
	const struct sim_node *containers = sim_get(status, "containerStatuses");
	struct sim_node *container = containers ? containers->child : NULL;
	size_t n = sim_count(containers);
	const struct sim_node *ready;
	bool now_ready;

	if (sim_is(sim_get(status, "phase"), "Pending") && sim_get(pod->root, "spec") &&
	    sim_get(pod->root, "spec")->type == SIM_OBJECT) {
		start(pod, status, m);
		return true;
	}
	for (uint32_t skip = sim_rng_below(m->rng, (uint32_t)n); container && skip; skip--)
		container = container->next;
	if (!container || container->type != SIM_OBJECT || !sim_is(sim_get(status, "phase"), "Running"))
		return false; /* it has finished */
	if (sim_rng_below(m->rng, 10) == 0) {
		restart(pod, container, m);
		set_condition(pod, status, "Ready", true, m->now);
		return true;
	}
	ready = sim_get(container, "ready");
	now_ready = !ready || ready->type != SIM_TRUE;
	set_bool(pod, container, "ready", now_ready);
	set_condition(pod, status, "ContainersReady", now_ready, m->now);
	set_condition(pod, status, "Ready", now_ready, m->now);
	return true;
}

void
sim_mutate_fresh(struct sim_doc *pod, struct sim_mutation *m)
{
	struct sim_node *meta = sim_get(pod->root, "metadata");
	struct sim_node *status = member_object(pod, pod->root, "status");
	const struct sim_node *containers = sim_get(status, "containerStatuses");

	set_time(pod, meta, "creationTimestamp", m->now);
	sim_remove(meta, "deletionTimestamp");
	sim_remove(meta, "deletionGracePeriodSeconds");
	sim_set_string(pod, status, "phase", "Pending");
	sim_remove(status, "podIP");
	sim_remove(status, "podIPs");
	sim_remove(status, "reason");
	sim_remove(status, "message");
	sim_remove(status, "conditions");
	set_condition(pod, status, "PodScheduled", true, m->now);
	set_condition(pod, status, "Ready", false, m->now);
	for (struct sim_node *c = containers ? containers->child : NULL; c; c = c->next) {
		if (c->type != SIM_OBJECT)
			continue;
		set_running(pod, c, m, false);
		sim_set(pod, c, "restartCount", sim_new_token(pod, SIM_NUMBER, "0"));
		sim_set(pod, c, "lastState", sim_new(pod, SIM_OBJECT));
	}
}

bool
sim_mutate_terminating(struct sim_doc *pod, struct sim_mutation *m)
{
	struct sim_node *meta = sim_get(pod->root, "metadata");

	if (sim_get(meta, "deletionTimestamp"))
		return false;
	set_time(pod, meta, "deletionTimestamp", m->now + 30);
	sim_set(pod, meta, "deletionGracePeriodSeconds", sim_new_token(pod, SIM_NUMBER, "30"));
	return true;
}

bool
sim_mutate_node(struct sim_doc *node, struct sim_mutation *m)
{
	struct sim_node *conditions = sim_path(node->root, "status.conditions");
	struct sim_node *meta = sim_get(node->root, "metadata");
	char text[24];

	for (struct sim_node *c = conditions ? conditions->child : NULL; c; c = c->next)
		if (c->type == SIM_OBJECT)
			set_time(node, c, "lastHeartbeatTime", m->now);
	/* within one second nothing else would tell two heartbeats apart */
	snprintf(text, sizeof(text), "%" PRIu64, sim_rng_next(m->rng) >> 34);
	sim_set_string(node, member_object(node, meta, "annotations"), "node.alpha.kubernetes.io/heartbeat",
		       text);
	return true;
}

bool
sim_mutate_slice(struct sim_doc *slice, struct sim_mutation *m)
{
	const struct sim_node *endpoints = sim_get(slice->root, "endpoints");
	struct sim_node *endpoint = endpoints ? endpoints->child : NULL;
	struct sim_node *conditions;
	const struct sim_node *ready;
	bool now_ready;

	for (uint32_t skip = sim_rng_below(m->rng, (uint32_t)sim_count(endpoints)); endpoint && skip; skip--)
		endpoint = endpoint->next;
	if (!endpoint || endpoint->type != SIM_OBJECT)
		return false;
	conditions = member_object(slice, endpoint, "conditions");
	ready = sim_get(conditions, "ready");
	now_ready = !ready || ready->type != SIM_TRUE;
	set_bool(slice, conditions, "ready", now_ready);
	set_bool(slice, conditions, "serving", now_ready);
	set_bool(slice, conditions, "terminating", false);
	return true;
}
