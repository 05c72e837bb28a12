/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the part of a generated pod that differs from its siblings: name, node, state. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/informer-sim/workload.h"
#include "tools/informer-sim/time_print.h"

static enum sim_pod_state
draw_state(const struct sim_workload *w, struct sim_rng *rng)
{
	uint32_t dice = sim_rng_below(rng, 200);

	if (w->kind == SIM_JOB)
		return dice < 150 ? SIM_POD_COMPLETED : dice < 165 ? SIM_POD_FAILED : SIM_POD_RUNNING;
	if (dice < 3)
		return SIM_POD_CRASHING;
	if (dice < 5)
		return w->kind == SIM_DAEMON_SET ? SIM_POD_STARTING : SIM_POD_PENDING;
	if (dice < 7)
		return SIM_POD_STARTING;
	if (dice < 9)
		return w->init_containers ? SIM_POD_INIT : SIM_POD_UNREADY;
	if (dice < 11)
		return SIM_POD_TERMINATING;
	return dice < 14 ? SIM_POD_UNREADY : SIM_POD_RUNNING;
}

void
sim_workload_pod(const struct sim_workload *w, unsigned ordinal, const struct sim_host *host, int64_t now,
		 struct sim_rng *rng, struct sim_pod *ret_pod)
{
	struct sim_pod *pod = ret_pod;
	int64_t age = now - w->created;
	char suffix[6];

	*pod = (struct sim_pod){.ordinal = ordinal, .host = host, .state = draw_state(w, rng)};
	sim_rng_suffix(rng, suffix, 5);
	switch (w->kind) {
	case SIM_DEPLOYMENT:
		snprintf(pod->name, sizeof(pod->name), "%s-%s-%s", w->name, w->hash, suffix);
		break;
	case SIM_STATEFUL_SET:
		snprintf(pod->name, sizeof(pod->name), "%s-%u", w->name, ordinal);
		break;
	default:
		snprintf(pod->name, sizeof(pod->name), "%s-%s", w->name, suffix);
	}
	pod->created = w->created + (age > 60 ? (int64_t)sim_rng_below(rng, (uint32_t)(age - 60)) : 0);
	if (w->host_network)
		snprintf(pod->ip, sizeof(pod->ip), "%s", host->ip);
	else
		sim_pod_ip(rng, pod->ip);
}

static void
time_text(const char *key, int64_t at, struct api_buf *buf)
{
	char text[SIM_TIME_SIZE];

	sim_time_print(at, text);
	api_buf_printf(buf, "\"%s\":\"%s\"", key, text);
}

static void
owner_text(const struct sim_workload *w, struct api_buf *buf)
{
	static const char *const kinds[] = {"ReplicaSet", "DaemonSet", "StatefulSet", "Job"};
	bool set = w->kind == SIM_DEPLOYMENT;

	api_buf_printf(buf,
		       ",\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s%s%s\","
		       "\"uid\":\"%s\","
		       "\"controller\":true,\"blockOwnerDeletion\":true}]",
		       w->kind == SIM_JOB ? "batch/v1" : "apps/v1", kinds[w->kind], w->name, set ? "-" : "",
		       set ? w->hash : "", set ? w->set_uid : w->uid);
}

static void
managed_fields_text(const struct sim_pod *pod, struct api_buf *buf)
{
	api_buf_puts(buf, ",\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":"
			  "\"Update\",\"apiVersion\":"
			  "\"v1\",");
	time_text("time", pod->created, buf);
	api_buf_puts(
		buf,
		",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:annotations\":{\".\":{},"
		"\"f:prometheus.io/scrape\":{}},\"f:generateName\":{},\"f:labels\":{\".\":{},"
		"\"f:app.kubernetes.io/name\":{},\"f:app.kubernetes.io/"
		"part-of\":{}},\"f:ownerReferences\":{\".\":{}}},"
		"\"f:spec\":{\"f:affinity\":{},\"f:containers\":{},\"f:dnsPolicy\":{},\"f:restartPolicy\":{},"
		"\"f:schedulerName\":{},\"f:securityContext\":{},\"f:terminationGracePeriodSeconds\":{},\"f:"
		"volumes\":"
		"{}}}},{\"manager\":\"kubelet\",\"operation\":\"Update\",\"apiVersion\":\"v1\",");
	time_text("time", pod->created + 20, buf);
	api_buf_puts(buf, ",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{\"f:conditions\":{},\"f:"
			  "containerStatuses\":"
			  "{},\"f:hostIP\":{},\"f:phase\":{},\"f:podIP\":{},\"f:podIPs\":{},\"f:startTime\":{"
			  "}}},\"subresource\":"
			  "\"status\"}]");
}

static void
metadata_text(const struct sim_workload *w, const struct sim_pod *pod, const char *uid, struct api_buf *buf)
{
	api_buf_printf(buf, "\"metadata\":{\"name\":\"%s\"", pod->name);
	if (w->kind != SIM_STATEFUL_SET)
		api_buf_printf(buf, ",\"generateName\":\"%.*s\"", (int)(strlen(pod->name) - 5), pod->name);
	api_buf_printf(buf, ",\"namespace\":\"%s\",\"uid\":\"%s\",", w->namespace_, uid);
	time_text("creationTimestamp", pod->created, buf);
	if (pod->state == SIM_POD_TERMINATING) {
		api_buf_puts(buf, ",");
		time_text("deletionTimestamp", pod->created + 3600, buf);
		api_buf_puts(buf, ",\"deletionGracePeriodSeconds\":30");
	}
	api_buf_puts(buf, ",\"labels\":{");
	sim_workload_labels_text(w, buf);
	switch (w->kind) {
	case SIM_DEPLOYMENT:
		api_buf_printf(buf, ",\"pod-template-hash\":\"%s\"", w->hash);
		break;
	case SIM_DAEMON_SET:
		api_buf_printf(buf, ",\"controller-revision-hash\":\"%s\",\"pod-template-generation\":\"1\"",
			       w->hash);
		break;
	case SIM_STATEFUL_SET:
		api_buf_printf(
			buf,
			",\"apps.kubernetes.io/pod-index\":\"%u\",\"controller-revision-hash\":\"%s-%s\","
			"\"statefulset.kubernetes.io/pod-name\":\"%s\"",
			pod->ordinal, w->name, w->hash, pod->name);
		break;
	case SIM_JOB:
		api_buf_printf(buf,
			       ",\"batch.kubernetes.io/controller-uid\":\"%s\",\"batch.kubernetes.io/"
			       "job-name\":\"%s\"",
			       w->uid, w->name);
		break;
	}
	api_buf_puts(buf,
		     "},\"annotations\":{\"prometheus.io/scrape\":\"true\",\"prometheus.io/port\":\"8080\"");
	if (!w->host_network && pod->state != SIM_POD_PENDING)
		api_buf_printf(buf,
			       ",\"k8s.v1.cni.cncf.io/network-status\":\"[{\\n    \\\"name\\\": "
			       "\\\"ovn-kubernetes\\\",\\n    "
			       "\\\"interface\\\": \\\"eth0\\\",\\n    \\\"ips\\\": [\\n        "
			       "\\\"%s\\\"\\n    ],\\n    "
			       "\\\"default\\\": true,\\n    \\\"dns\\\": {}\\n}]\"",
			       pod->ip);
	api_buf_puts(buf, "}");
	owner_text(w, buf);
	managed_fields_text(pod, buf);
	api_buf_puts(buf, "}");
}

static void
condition_text(const char *type, bool value, const char *reason, int64_t at, struct api_buf *buf)
{
	api_buf_printf(buf, "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastProbeTime\":null,",
		       buf->data[buf->len - 1] == '[' ? "" : ",", type, value ? "True" : "False");
	time_text("lastTransitionTime", at, buf);
	if (!value && reason)
		api_buf_printf(buf, ",\"reason\":\"%s\"", reason);
	if (!value && reason && !strcmp(reason, "Unschedulable"))
		api_buf_puts(buf, ",\"message\":\"0/12 nodes are available: 12 Insufficient memory. "
				  "preemption: 0/12 nodes are "
				  "available: 12 No preemption victims found for incoming pod.\"");
	api_buf_puts(buf, "}");
}

static void
conditions_text(const struct sim_pod *pod, struct api_buf *buf)
{
	bool ready = pod->state == SIM_POD_RUNNING || pod->state == SIM_POD_TERMINATING;
	bool finished = pod->state == SIM_POD_COMPLETED;
	const char *why = finished ? "PodCompleted" : "ContainersNotReady";

	api_buf_puts(buf, "\"conditions\":[");
	if (pod->state != SIM_POD_PENDING) {
		condition_text("Initialized", pod->state != SIM_POD_INIT, "ContainersNotInitialized",
			       pod->created + 5, buf);
		condition_text("Ready", ready, why, pod->created + 20, buf);
		condition_text("ContainersReady", ready, why, pod->created + 20, buf);
	}
	condition_text("PodScheduled", pod->state != SIM_POD_PENDING, "Unschedulable", pod->created, buf);
	api_buf_puts(buf, "]");
}

static void
terminated_text(const char *reason, int code, int64_t from, int64_t to, struct sim_rng *rng,
		struct api_buf *buf)
{
	char hex[65];

	sim_rng_hex(rng, hex, 64);
	api_buf_printf(buf, "{\"terminated\":{\"exitCode\":%d,\"reason\":\"%s\",", code, reason);
	time_text("startedAt", from, buf);
	api_buf_puts(buf, ",");
	time_text("finishedAt", to, buf);
	api_buf_printf(buf, ",\"containerID\":\"cri-o://%s\"}}", hex);
}

static void
container_status_text(const struct sim_workload *w, const struct sim_pod *pod, unsigned i, bool init,
		      struct sim_rng *rng, struct api_buf *buf)
{
	static const char *const names[] = {
		"", "proxy", "metrics", "config-reloader", "log-shipper", "token-refresh"};
	enum sim_pod_state state = pod->state;
	bool crashing = state == SIM_POD_CRASHING && i == 0 && !init;
	bool waiting = state == SIM_POD_STARTING || (state == SIM_POD_INIT && !(init && i == 0)) || crashing;
	bool finished = state == SIM_POD_COMPLETED || state == SIM_POD_FAILED ||
			(init && state != SIM_POD_INIT);
	bool ready = !waiting && !finished && !(state == SIM_POD_UNREADY && i == 0) && state != SIM_POD_INIT;
	unsigned restarts = crashing                      ? 5 + sim_rng_below(rng, 200)
			    : sim_rng_below(rng, 10) == 0 ? sim_rng_below(rng, 4)
							  : 0;
	int64_t at = pod->created + 10 + i;
	char hex[65];

	if (waiting && init)
		finished = false;
	if (init && finished)
		ready = true;
	api_buf_printf(buf, "%s{\"name\":\"%s%s\",\"state\":", i ? "," : "", init ? "init-" : "",
		       i ? names[i % 6] : w->name);
	if (waiting && !(init && finished))
		api_buf_printf(buf, "{\"waiting\":{\"reason\":\"%s\"%s}}",
			       crashing                ? "CrashLoopBackOff"
			       : state == SIM_POD_INIT ? "PodInitializing"
						       : "ContainerCreating",
			       crashing ? ",\"message\":\"back-off 5m0s restarting failed container\"" : "");
	else if (finished)
		terminated_text(state == SIM_POD_FAILED && !init ? "Error" : "Completed",
				state == SIM_POD_FAILED && !init, at, at + 5, rng, buf);
	else {
		api_buf_puts(buf, "{\"running\":{");
		time_text("startedAt", at, buf);
		api_buf_puts(buf, "}}");
	}
	api_buf_puts(buf, ",\"lastState\":");
	if (restarts)
		terminated_text("Error", 1, at - 300, at - 2, rng, buf);
	else
		api_buf_puts(buf, "{}");
	api_buf_printf(buf, ",\"ready\":%s,\"restartCount\":%u,\"image\":\"%s%s\",\"imageID\":\"",
		       ready ? "true" : "false", restarts, w->image, i ? "-sidecar" : "");
	if (!waiting || crashing) {
		struct sim_rng image_rng = {w->seed + i};

		sim_rng_hex(&image_rng, hex, 64);
		api_buf_printf(buf, "%.*s@sha256:%s\",\"containerID\":\"cri-o://",
			       (int)strcspn(w->image, ":"), w->image, hex);
		sim_rng_hex(rng, hex, 64);
		api_buf_puts(buf, hex);
	}
	api_buf_printf(buf, "\",\"started\":%s}", ready && !init ? "true" : "false");
}

static void
status_text(const struct sim_workload *w, const struct sim_pod *pod, struct sim_rng *rng, struct api_buf *buf)
{
	static const char *const phases[] = {
		[SIM_POD_RUNNING] = "Running",     [SIM_POD_UNREADY] = "Running",
		[SIM_POD_CRASHING] = "Running",    [SIM_POD_PENDING] = "Pending",
		[SIM_POD_STARTING] = "Pending",    [SIM_POD_INIT] = "Pending",
		[SIM_POD_TERMINATING] = "Running", [SIM_POD_COMPLETED] = "Succeeded",
		[SIM_POD_FAILED] = "Failed",
	};

	api_buf_printf(buf, ",\"status\":{\"phase\":\"%s\",", phases[pod->state]);
	conditions_text(pod, buf);
	if (pod->state != SIM_POD_PENDING) {
		api_buf_printf(buf, ",\"hostIP\":\"%s\",\"hostIPs\":[{\"ip\":\"%s\"}]", pod->host->ip,
			       pod->host->ip);
		if (pod->state != SIM_POD_STARTING)
			api_buf_printf(buf, ",\"podIP\":\"%s\",\"podIPs\":[{\"ip\":\"%s\"}]", pod->ip,
				       pod->ip);
		api_buf_puts(buf, ",");
		time_text("startTime", pod->created, buf);
		for (int init = 1; init >= 0; init--) {
			unsigned count = init ? w->init_containers : w->containers;

			if (count == 0)
				continue;
			api_buf_puts(buf, init ? ",\"initContainerStatuses\":[" : ",\"containerStatuses\":[");
			for (unsigned i = 0; i < count; i++)
				container_status_text(w, pod, i, init, rng, buf);
			api_buf_puts(buf, "]");
		}
	}
	api_buf_puts(buf, ",\"qosClass\":\"Burstable\"}");
}

void
sim_workload_pod_text(const struct sim_workload *w, const struct sim_pod *pod, struct sim_rng *rng,
		      struct api_buf *buf)
{
	static const char *const taints[] = {
		"node.kubernetes.io/not-ready",     "node.kubernetes.io/unreachable",
		"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
		"node.kubernetes.io/pid-pressure",  "node.kubernetes.io/unschedulable"};
	unsigned count = w->kind == SIM_DAEMON_SET ? 6 : 2;
	char uid[SIM_UID_SIZE];

	sim_rng_uid(rng, uid);
	api_buf_puts(buf, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",");
	metadata_text(w, pod, uid, buf);
	api_buf_puts(buf, ",\"spec\":{");
	sim_workload_spec_text(w, true, buf);
	if (pod->state != SIM_POD_PENDING)
		api_buf_printf(buf, ",\"nodeName\":\"%s\"", pod->host->name);
	if (w->kind == SIM_STATEFUL_SET)
		api_buf_printf(buf, ",\"hostname\":\"%s\",\"subdomain\":\"%s\"", pod->name, w->name);
	api_buf_puts(buf, ",\"tolerations\":[");
	for (unsigned i = 0; i < count; i++)
		api_buf_printf(buf, "%s{\"key\":\"%s\",\"operator\":\"Exists\",\"effect\":\"%s\"%s}",
			       i ? "," : "", taints[i], i < 2 ? "NoExecute" : "NoSchedule",
			       w->kind == SIM_DAEMON_SET ? "" : ",\"tolerationSeconds\":300");
	api_buf_printf(buf,
		       "],\"priority\":%s,\"enableServiceLinks\":true,\"preemptionPolicy\":"
		       "\"PreemptLowerPriority\"}",
		       w->priority_class ? "2000000000" : "0");
	status_text(w, pod, rng, buf);
	api_buf_puts(buf, "}");
}
