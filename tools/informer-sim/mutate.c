/* SPDX-License-Identifier: Apache-2.0 */
/* Edits objects like the kubelet and the controllers. */
#include "tools/informer-sim/mutate.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/time_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
sim_mutate_hosts(struct sim_store *store, const struct api_resource *nodes, struct sim_hosts *ret_hosts,
		 struct sim_rng *rng)
{
	struct sim_view view;
	struct api_object *object;

	sim_store_view(store, nodes, 0, &view, NULL);
	if (view.snapshot.count == 0) {
		sim_view_done(&view);
		sim_hosts_init(ret_hosts, 10, rng);
		return;
	}
	ret_hosts->items = api_alloc(view.snapshot.count * sizeof(*ret_hosts->items));
	ret_hosts->count = 0;
	while ((object = sim_view_next(&view))) {
		struct sim_host *host = &ret_hosts->items[ret_hosts->count++];
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		_cleanup_(api_freep) char *ip = NULL;
		const struct api_node *addresses;

		sim_object_edit(nodes, object, &doc);
		addresses = sim_path(doc.root, "status.addresses");
		for (const struct api_node *a = addresses ? addresses->child : NULL; a && !ip; a = a->next)
			if (api_is(api_get(a, "type"), "InternalIP"))
				ip = api_text_dup(api_get(a, "address"));
		snprintf(host->name, sizeof(host->name), "%s", object->key);
		snprintf(host->ip, sizeof(host->ip), "%s", ip ? ip : "10.0.0.1");
	}
	sim_view_done(&view);
}

static void
set_time(struct api_doc *doc, struct api_node *object, const char *key, int64_t at)
{
	char text[SIM_TIME_SIZE];

	sim_time_print(at, text);
	sim_set_string(doc, object, key, text);
}

static void
set_bool(struct api_doc *doc, struct api_node *object, const char *key, bool value)
{
	sim_set(doc, object, key, sim_new_token(doc, value ? API_TRUE : API_FALSE, value ? "true" : "false"));
}

static struct api_node *
member_object(struct api_doc *doc, struct api_node *object, const char *key)
{
	struct api_node *member = api_get(object, key);

	if (!member || member->type != API_OBJECT) {
		sim_set(doc, object, key, api_new(doc, API_OBJECT));
		member = api_get(object, key);
	}
	return member;
}

static void
set_condition(struct api_doc *doc, struct api_node *status, const char *type, bool value, int64_t now)
{
	struct api_node *conditions = api_get(status, "conditions"), *condition;

	if (!conditions || conditions->type != API_ARRAY) {
		sim_set(doc, status, "conditions", api_new(doc, API_ARRAY));
		conditions = api_get(status, "conditions");
	}
	for (condition = conditions->child; condition; condition = condition->next)
		if (api_is(api_get(condition, "type"), type))
			break;
	if (!condition) {
		condition = api_new(doc, API_OBJECT);
		sim_set_string(doc, condition, "type", type);
		sim_set_string(doc, condition, "status", "");
		sim_set(doc, condition, "lastProbeTime", sim_new_token(doc, API_NULL, "null"));
		api_append(conditions, condition);
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
set_running(struct api_doc *doc, struct api_node *container, struct sim_mutation *m, bool ready)
{
	struct api_node *state = api_new(doc, API_OBJECT), *in_state = api_new(doc, API_OBJECT);
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

/* Start a pod on its node: addresses, conditions and containers. */
static void
start(struct api_doc *doc, struct api_node *status, struct sim_mutation *m)
{
	struct api_node *spec = api_get(doc->root, "spec"), *ips = api_new(doc, API_ARRAY),
			*ip = api_new(doc, API_OBJECT);
	const struct api_node *host_network = api_get(spec, "hostNetwork"), *containers;
	const struct sim_host *host = &m->hosts->items[sim_rng_below(m->rng, m->hosts->count)];
	char address[16];

	for (unsigned i = 0; i < m->hosts->count; i++)
		if (api_is(api_get(spec, "nodeName"), m->hosts->items[i].name))
			host = &m->hosts->items[i];
	sim_pod_ip(m->rng, address);
	if (host_network && host_network->type == API_TRUE)
		snprintf(address, sizeof(address), "%s", host->ip);
	sim_set_string(doc, spec, "nodeName", host->name);
	sim_set_string(doc, status, "phase", "Running");
	sim_set_string(doc, status, "hostIP", host->ip);
	sim_set_string(doc, status, "podIP", address);
	sim_set_string(doc, ip, "ip", address);
	api_append(ips, ip);
	sim_set(doc, status, "podIPs", ips);
	set_time(doc, status, "startTime", m->now);
	set_condition(doc, status, "PodScheduled", true, m->now);
	set_condition(doc, status, "Initialized", true, m->now);
	set_condition(doc, status, "ContainersReady", true, m->now);
	set_condition(doc, status, "Ready", true, m->now);
	containers = api_get(status, "containerStatuses");
	for (struct api_node *c = containers ? containers->child : NULL; c; c = c->next)
		if (c->type == API_OBJECT)
			set_running(doc, c, m, true);
}

static void
restart(struct api_doc *doc, struct api_node *container, struct sim_mutation *m)
{
	const struct api_node *old = api_get(container, "restartCount");
	_cleanup_(api_freep) char *id = api_text_dup(api_get(container, "containerID"));
	struct api_node *last = api_new(doc, API_OBJECT), *terminated = api_new(doc, API_OBJECT);
	char count[24];

	snprintf(count, sizeof(count), "%d", old && old->type == API_NUMBER ? atoi(old->text) + 1 : 1);
	sim_set(doc, container, "restartCount", sim_new_token(doc, API_NUMBER, count));
	sim_set(doc, terminated, "exitCode",
		sim_new_token(doc, API_NUMBER, sim_rng_below(m->rng, 3) ? "1" : "137"));
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
sim_mutate_pod(struct api_doc *pod, struct sim_mutation *m)
{
	struct api_node *status = member_object(pod, pod->root, "status");
	const struct api_node *containers = api_get(status, "containerStatuses");
	struct api_node *container = containers ? containers->child : NULL;
	size_t n = sim_count(containers);
	const struct api_node *ready;
	bool now_ready;

	if (api_is(api_get(status, "phase"), "Pending") && api_get(pod->root, "spec") &&
	    api_get(pod->root, "spec")->type == API_OBJECT) {
		start(pod, status, m);
		return true;
	}
	for (uint32_t skip = sim_rng_below(m->rng, (uint32_t)n); container && skip; skip--)
		container = container->next;
	if (!container || container->type != API_OBJECT || !api_is(api_get(status, "phase"), "Running"))
		return false; /* the pod has finished */
	if (sim_rng_below(m->rng, 10) == 0) {
		restart(pod, container, m);
		set_condition(pod, status, "Ready", true, m->now);
		return true;
	}
	ready = api_get(container, "ready");
	now_ready = !ready || ready->type != API_TRUE;
	set_bool(pod, container, "ready", now_ready);
	set_condition(pod, status, "ContainersReady", now_ready, m->now);
	set_condition(pod, status, "Ready", now_ready, m->now);
	return true;
}

void
sim_mutate_fresh(struct api_doc *pod, struct sim_mutation *m)
{
	struct api_node *meta = api_get(pod->root, "metadata");
	struct api_node *status = member_object(pod, pod->root, "status");
	const struct api_node *containers = api_get(status, "containerStatuses");

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
	for (struct api_node *c = containers ? containers->child : NULL; c; c = c->next) {
		if (c->type != API_OBJECT)
			continue;
		set_running(pod, c, m, false);
		sim_set(pod, c, "restartCount", sim_new_token(pod, API_NUMBER, "0"));
		sim_set(pod, c, "lastState", api_new(pod, API_OBJECT));
	}
}

bool
sim_mutate_terminating(struct api_doc *pod, struct sim_mutation *m)
{
	struct api_node *meta = api_get(pod->root, "metadata");

	if (api_get(meta, "deletionTimestamp"))
		return false;
	set_time(pod, meta, "deletionTimestamp", m->now + 30);
	sim_set(pod, meta, "deletionGracePeriodSeconds", sim_new_token(pod, API_NUMBER, "30"));
	return true;
}

bool
sim_mutate_node(struct api_doc *node, struct sim_mutation *m)
{
	struct api_node *conditions = sim_path(node->root, "status.conditions");
	struct api_node *meta = api_get(node->root, "metadata");
	char text[24];

	for (struct api_node *c = conditions ? conditions->child : NULL; c; c = c->next)
		if (c->type == API_OBJECT)
			set_time(node, c, "lastHeartbeatTime", m->now);
	/* makes two heartbeats within one second differ */
	snprintf(text, sizeof(text), "%" PRIu64, sim_rng_next(m->rng) >> 34);
	sim_set_string(node, member_object(node, meta, "annotations"), "node.alpha.kubernetes.io/heartbeat",
		       text);
	return true;
}

bool
sim_mutate_slice(struct api_doc *slice, struct sim_mutation *m)
{
	const struct api_node *endpoints = api_get(slice->root, "endpoints");
	struct api_node *endpoint = endpoints ? endpoints->child : NULL;
	struct api_node *conditions;
	const struct api_node *ready;
	bool now_ready;

	for (uint32_t skip = sim_rng_below(m->rng, (uint32_t)sim_count(endpoints)); endpoint && skip; skip--)
		endpoint = endpoint->next;
	if (!endpoint || endpoint->type != API_OBJECT)
		return false;
	conditions = member_object(slice, endpoint, "conditions");
	ready = api_get(conditions, "ready");
	now_ready = !ready || ready->type != API_TRUE;
	set_bool(slice, conditions, "ready", now_ready);
	set_bool(slice, conditions, "serving", now_ready);
	set_bool(slice, conditions, "terminating", false);
	return true;
}
