/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the part of a workload's texts that all its pods share; see workload.h. */
#include "tools/informer-sim/workload.h"
#include "tools/informer-sim/time_print.h"

#include <stdio.h>
#include <string.h>

static const char *const container_names[] = {
	"", "proxy", "metrics", "config-reloader", "log-shipper", "token-refresh"};
static const char *const env_words[] = {"DATABASE", "CACHE",   "QUEUE",   "UPSTREAM", "METRICS",
					"TRACING",  "FEATURE", "SESSION", "STORAGE",  "LIMITS",
					"RETRY",    "REGION",  "TENANT",  "AUDIT",    "EXPORT",
					"SEARCH",   "LEDGER",  "PAYMENT", "WORKER",   "SHARD"};
static const char *const env_ends[] = {"URL",     "HOST", "PORT",     "TIMEOUT",
				       "ENABLED", "USER", "PASSWORD", "PATH"};

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof(*(array))))

void
sim_workload_labels_text(const struct sim_workload *w, struct api_buf *buf)
{
	api_buf_printf(buf, "\"app.kubernetes.io/name\":\"%s\",\"app.kubernetes.io/part-of\":\"%s\"", w->name,
		       w->namespace_);
}

static void
env_text(const struct sim_workload *w, unsigned count, struct sim_rng *rng, struct api_buf *buf)
{
	api_buf_puts(buf, ",\"env\":[{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":"
			  "\"v1\",\"fieldPath\":"
			  "\"metadata.name\"}}},{\"name\":\"POD_IP\",\"valueFrom\":{\"fieldRef\":{"
			  "\"apiVersion\":\"v1\","
			  "\"fieldPath\":\"status.podIP\"}}}");
	for (unsigned i = 0; i < count; i++) {
		const char *word = env_words[i % COUNT(env_words)];
		const char *end = env_ends[(i / COUNT(env_words) + sim_rng_below(rng, 3)) % COUNT(env_ends)];

		api_buf_printf(buf, ",{\"name\":\"%s_%s\",", word, end);
		if (!strcmp(end, "PASSWORD") || !strcmp(end, "USER"))
			api_buf_printf(buf,
				       "\"valueFrom\":{\"secretKeyRef\":{\"name\":\"%s-credentials\",\"key\":"
				       "\"%s-%s\"}}}",
				       w->name, word, end);
		else if (!strcmp(end, "URL"))
			api_buf_printf(buf, "\"value\":\"https://%s.%s.svc.cluster.local:%u/v%u\"}", w->name,
				       w->namespace_, 8000 + sim_rng_below(rng, 999),
				       1 + sim_rng_below(rng, 3));
		else if (!strcmp(end, "ENABLED"))
			api_buf_printf(buf, "\"value\":\"%s\"}", sim_rng_below(rng, 2) ? "true" : "false");
		else
			api_buf_printf(buf, "\"value\":\"%u\"}", 1 + sim_rng_below(rng, 65000));
	}
	api_buf_puts(buf, "]");
}

static void
container_text(const struct sim_workload *w, unsigned i, bool init, struct sim_rng *rng, struct api_buf *buf)
{
	/* in the server's canonical form */
	static const char *const limits[] = {"256Mi", "512Mi", "1Gi", "2Gi"};
	unsigned port = 8080 + i;
	char name[96];

	snprintf(name, sizeof(name), "%s%s", init ? "init-" : "",
		 i == 0 ? w->name : container_names[i % COUNT(container_names)]);
	api_buf_printf(buf, "{\"name\":\"%s\",\"image\":\"%s%s\"", name, w->image, i == 0 ? "" : "-sidecar");
	if (init)
		api_buf_puts(buf, ",\"command\":[\"/bin/sh\",\"-ec\",\"until nc -z database 5432; do sleep "
				  "1; done; /migrate up\"]");
	else
		api_buf_printf(buf,
			       ",\"args\":[\"--listen=0.0.0.0:%u\",\"--log-level=info\",\"--config=/etc/%s/"
			       "config.yaml\","
			       "\"--workers=%u\"],\"ports\":[{\"name\":\"http-%u\",\"containerPort\":%u,"
			       "\"protocol\":\"TCP\"}]",
			       port, w->name, 1 + sim_rng_below(rng, 16), i, port);
	env_text(w, i == 0 && !init ? w->envs : w->envs / 4, rng, buf);
	api_buf_printf(buf,
		       ",\"resources\":{\"limits\":{\"memory\":\"%s\"},\"requests\":{\"cpu\":\"%um\","
		       "\"memory\":\"%uMi\"}}",
		       limits[sim_rng_below(rng, COUNT(limits))], 10 + 10 * sim_rng_below(rng, 50),
		       64u << sim_rng_below(rng, 3));
	api_buf_printf(
		buf,
		",\"volumeMounts\":[{\"name\":\"config\",\"mountPath\":\"/etc/"
		"%s\"},{\"name\":\"tls\",\"readOnly\":true,"
		"\"mountPath\":\"/var/run/secrets/tls\"},{\"name\":\"tmp\",\"mountPath\":\"/tmp\"},{\"name\":"
		"\"kube-api-access-%.5s\",\"readOnly\":true,\"mountPath\":"
		"\"/var/run/secrets/kubernetes.io/serviceaccount\"}]",
		w->name, w->hash);
	if (!init)
		api_buf_printf(buf,
			       ",\"livenessProbe\":{\"httpGet\":{\"path\":\"/"
			       "healthz\",\"port\":%u,\"scheme\":\"HTTP\"},"
			       "\"initialDelaySeconds\":15,\"timeoutSeconds\":1,\"periodSeconds\":10,"
			       "\"successThreshold\":1,"
			       "\"failureThreshold\":3},\"readinessProbe\":{\"httpGet\":{\"path\":\"/"
			       "ready\",\"port\":%u,\"scheme\":"
			       "\"HTTP\"},\"timeoutSeconds\":1,\"periodSeconds\":5,\"successThreshold\":1,"
			       "\"failureThreshold\":3}",
			       port, port);
	api_buf_puts(
		buf,
		",\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
		"\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{\"capabilities\":{\"drop\":["
		"\"ALL\"]},"
		"\"runAsNonRoot\":true,\"readOnlyRootFilesystem\":true,\"allowPrivilegeEscalation\":false}}");
}

static void
containers_text(const struct sim_workload *w, bool init, struct sim_rng *rng, struct api_buf *buf)
{
	unsigned count = init ? w->init_containers : w->containers;

	if (count == 0)
		return;
	api_buf_printf(buf, ",\"%s\":[", init ? "initContainers" : "containers");
	for (unsigned i = 0; i < count; i++) {
		api_buf_puts(buf, i ? "," : "");
		container_text(w, i, init, rng, buf);
	}
	api_buf_puts(buf, "]");
}

void
sim_workload_spec_text(const struct sim_workload *w, bool pod, struct api_buf *buf)
{
	struct sim_rng rng = {w->seed};

	api_buf_printf(buf,
		       "\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":\"%s-config\","
		       "\"defaultMode\":420}},"
		       "{\"name\":\"tls\",\"secret\":{\"secretName\":\"%s-tls\",\"defaultMode\":420}},{"
		       "\"name\":\"tmp\","
		       "\"emptyDir\":{}}",
		       w->name, w->name);
	if (pod)
		api_buf_printf(buf,
			       ",{\"name\":\"kube-api-access-%.5s\",\"projected\":{\"sources\":[{"
			       "\"serviceAccountToken\":{"
			       "\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{\"name\":"
			       "\"kube-root-ca.crt\","
			       "\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{\"downwardAPI\":{"
			       "\"items\":[{\"path\":"
			       "\"namespace\",\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata."
			       "namespace\"}}]}}],"
			       "\"defaultMode\":420}}",
			       w->hash);
	api_buf_puts(buf, "]");
	containers_text(w, true, &rng, buf);
	containers_text(w, false, &rng, buf);
	api_buf_printf(
		buf,
		",\"restartPolicy\":\"%s\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"%s\","
		"\"nodeSelector\":{"
		"\"kubernetes.io/os\":\"linux\"},\"serviceAccountName\":\"%s\",\"serviceAccount\":\"%s\"",
		w->kind == SIM_JOB ? "Never" : "Always",
		w->host_network ? "ClusterFirstWithHostNet" : "ClusterFirst", w->name, w->name);
	if (w->host_network)
		api_buf_puts(buf, ",\"hostNetwork\":true");
	api_buf_puts(buf, ",\"securityContext\":{\"fsGroup\":65534},\"schedulerName\":\"default-scheduler\"");
	if (w->kind != SIM_DAEMON_SET)
		api_buf_printf(buf,
			       ",\"affinity\":{\"podAntiAffinity\":{"
			       "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":"
			       "100,\"podAffinityTerm\":{\"labelSelector\":{\"matchLabels\":{\"app."
			       "kubernetes.io/name\":\"%s\"}},"
			       "\"topologyKey\":\"kubernetes.io/hostname\"}}]}}",
			       w->name);
	if (w->priority_class)
		api_buf_printf(buf, ",\"priorityClassName\":\"%s\"", w->priority_class);
}

/* Write the head of each kind, up to the spec's brace. */
static void
head_text(const struct sim_workload *w, const char *kind, const char *api_version, const char *uid,
	  struct api_buf *buf)
{
	char time_text[SIM_TIME_SIZE];
	bool set = !strcmp(kind, "ReplicaSet");

	sim_time_print(w->created, time_text);
	api_buf_printf(buf,
		       "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"%s%s%s\","
		       "\"namespace\":\"%s\",\"uid\":"
		       "\"%s\",\"generation\":1,\"creationTimestamp\":\"%s\",\"labels\":{",
		       kind, api_version, w->name, set ? "-" : "", set ? w->hash : "", w->namespace_, uid,
		       time_text);
	sim_workload_labels_text(w, buf);
	if (set)
		api_buf_printf(buf, ",\"pod-template-hash\":\"%s\"", w->hash);
	api_buf_printf(buf, "},\"annotations\":{\"deployment.kubernetes.io/revision\":\"1\"}%s",
		       set ? ",\"ownerReferences\":[" : "},\"spec\":{");
	if (set)
		api_buf_printf(buf,
			       "{\"apiVersion\":\"apps/"
			       "v1\",\"kind\":\"Deployment\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":"
			       "true,\"blockOwnerDeletion\":true}]},\"spec\":{",
			       w->name, w->uid);
}

/* Write selector and template, members of the spec. */
static void
template_text(const struct sim_workload *w, bool hash, struct api_buf *buf)
{
	for (int i = 0; i < 2; i++) {
		api_buf_puts(buf, i ? ",\"template\":{\"metadata\":{\"labels\":{"
				    : ",\"selector\":{\"matchLabels\":{");
		sim_workload_labels_text(w, buf);
		if (hash)
			api_buf_printf(buf, ",\"pod-template-hash\":\"%s\"", w->hash);
		api_buf_puts(buf, i ? "}},\"spec\":{" : "}}");
	}
	sim_workload_spec_text(w, false, buf);
	api_buf_puts(buf, "}}");
}

void
sim_workload_set_text(const struct sim_workload *w, unsigned ready, struct api_buf *buf)
{
	head_text(w, "ReplicaSet", "apps/v1", w->set_uid, buf);
	api_buf_printf(buf, "\"replicas\":%u", w->replicas);
	template_text(w, true, buf);
	api_buf_printf(buf,
		       "},\"status\":{\"replicas\":%u,\"fullyLabeledReplicas\":%u,\"readyReplicas\":%u,"
		       "\"availableReplicas\":%u,"
		       "\"observedGeneration\":1}}",
		       w->replicas, w->replicas, ready, ready);
}

void
sim_workload_text(const struct sim_workload *w, unsigned ready, struct api_buf *buf)
{
	switch (w->kind) {
	case SIM_DEPLOYMENT:
		head_text(w, "Deployment", "apps/v1", w->uid, buf);
		api_buf_printf(buf, "\"replicas\":%u", w->replicas);
		template_text(w, false, buf);
		api_buf_printf(
			buf,
			",\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":"
			"\"25%%\",\"maxSurge\":"
			"\"25%%\"}},\"revisionHistoryLimit\":10,\"progressDeadlineSeconds\":600},\"status\":{"
			"\"observedGeneration\":1,\"replicas\":%u,\"updatedReplicas\":%u,\"readyReplicas\":%"
			"u,"
			"\"availableReplicas\":%u,\"unavailableReplicas\":%u}}",
			w->replicas, w->replicas, ready, ready, w->replicas - ready);
		break;
	case SIM_DAEMON_SET:
		head_text(w, "DaemonSet", "apps/v1", w->uid, buf);
		api_buf_puts(buf, "\"revisionHistoryLimit\":10");
		template_text(w, false, buf);
		api_buf_printf(
			buf,
			",\"updateStrategy\":{\"type\":\"RollingUpdate\"}},\"status\":{"
			"\"currentNumberScheduled\":%u,"
			"\"numberMisscheduled\":0,\"desiredNumberScheduled\":%u,\"numberReady\":%u,"
			"\"observedGeneration\":1,\"updatedNumberScheduled\":%u,\"numberAvailable\":%u}}",
			w->replicas, w->replicas, ready, w->replicas, ready);
		break;
	case SIM_STATEFUL_SET:
		head_text(w, "StatefulSet", "apps/v1", w->uid, buf);
		api_buf_printf(
			buf,
			"\"replicas\":%u,\"serviceName\":\"%s\",\"podManagementPolicy\":\"OrderedReady\"",
			w->replicas, w->name);
		template_text(w, false, buf);
		api_buf_printf(
			buf,
			"},\"status\":{\"observedGeneration\":1,\"replicas\":%u,\"readyReplicas\":%u,"
			"\"currentReplicas\":%u,"
			"\"updatedReplicas\":%u,\"currentRevision\":\"%s-%s\",\"updateRevision\":\"%s-%s\"}}",
			w->replicas, ready, w->replicas, w->replicas, w->name, w->hash, w->name, w->hash);
		break;
	case SIM_JOB:
		head_text(w, "Job", "batch/v1", w->uid, buf);
		api_buf_printf(buf,
			       "\"parallelism\":%u,\"completions\":%u,\"backoffLimit\":6,\"completionMode\":"
			       "\"NonIndexed\"",
			       w->replicas, w->replicas);
		template_text(w, false, buf);
		api_buf_printf(
			buf, "},\"status\":{\"succeeded\":%u,\"active\":%u,\"uncountedTerminatedPods\":{}}}",
			w->replicas - ready, ready);
		break;
	}
}
