/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the cluster: workloads, the nodes of their pods, and the objects around them. */
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/new_object.h"
#include "tools/informer-sim/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/registry.h"
#include "tools/informer-sim/time_print.h"
#include "tools/informer-sim/workload.h"

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof(*(array))))
#define DAY 86400L

struct builder {
	struct api_registry *registry;
	struct sim_store *store;
	const struct sim_hosts *hosts;
	struct sim_rng *rng;
	int64_t now;
	struct api_buf text;
	size_t slot; /* the next pod's slot; slots take the nodes in turn */
};

/* Store the object in b->text. False: its key is taken. */
static bool
add(struct builder *b, const char *api_version, const char *kind)
{
	const struct api_resource *resource = sim_registry_kind(b->registry, api_version, kind);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	struct api_doc_error error;
	struct sim_object_error object_error;

	if (api_doc_parse(&doc, b->text.data, b->text.len, NULL, &error) < 0 ||
	    sim_object_new(resource, &doc, &object, &object_error) < 0) {
		fprintf(stderr, "informer-sim: generated a bad %s: %s\n", kind, b->text.data);
		abort(); /* a fault of this program */
	}
	api_buf_reset(&b->text);
	return sim_store_create(b->store, resource, object) == 0;
}

/* Write kind, apiVersion and metadata without its closing brace: the caller may add members. */
static void
head(struct builder *b, const char *api_version, const char *kind, const char *namespace_, const char *name,
     int64_t age)
{
	char uid[SIM_UID_SIZE], created[SIM_TIME_SIZE];

	sim_rng_uid(b->rng, uid);
	sim_time_print(b->now - age, created);
	api_buf_reset(&b->text);
	api_buf_printf(&b->text, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"%s\",",
		       kind, api_version, name);
	if (namespace_)
		api_buf_printf(&b->text, "\"namespace\":\"%s\",", namespace_);
	api_buf_printf(&b->text, "\"uid\":\"%s\",\"creationTimestamp\":\"%s\"", uid, created);
}

/* ---- objects around the pods ---------------------------------------------- */

static void
add_namespace(struct builder *b, const char *name)
{
	head(b, "v1", "Namespace", NULL, name, 200 * DAY);
	api_buf_printf(&b->text,
		       ",\"labels\":{\"kubernetes.io/"
		       "metadata.name\":\"%s\"}},\"spec\":{\"finalizers\":[\"kubernetes\"]},"
		       "\"status\":{\"phase\":\"Active\"}}",
		       name);
	add(b, "v1", "Namespace");
}

static void
add_node(struct builder *b, const char *name, const char *ip)
{
	static const char *const pressure[] = {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"};
	static const char *const fine[] = {"KubeletHasSufficientMemory", "KubeletHasNoDiskPressure",
					   "KubeletHasSufficientPID", "KubeletReady"};
	unsigned zone = sim_rng_below(b->rng, 3), cpus = 4u << sim_rng_below(b->rng, 4);
	char beat[SIM_TIME_SIZE], since[SIM_TIME_SIZE], id[18], machine[33];

	sim_rng_hex(b->rng, id, 17);
	sim_rng_hex(b->rng, machine, 32);
	sim_time_print(b->now - sim_rng_below(b->rng, 300), beat);
	sim_time_print(b->now - 100 * DAY, since);
	head(b, "v1", "Node", NULL, name, 100 * DAY);
	api_buf_printf(&b->text,
		       ",\"labels\":{\"beta.kubernetes.io/arch\":\"amd64\",\"kubernetes.io/arch\":\"amd64\","
		       "\"kubernetes.io/hostname\":\"%s\",\"kubernetes.io/"
		       "os\":\"linux\",\"node-role.kubernetes.io/worker\":\"\","
		       "\"node.kubernetes.io/instance-type\":\"m6i.%uxlarge\",\"topology.kubernetes.io/"
		       "region\":\"us-east-2\","
		       "\"topology.kubernetes.io/zone\":\"us-east-2%c\"},\"annotations\":{"
		       "\"volumes.kubernetes.io/"
		       "controller-managed-attach-detach\":\"true\"}},\"spec\":{\"providerID\":"
		       "\"aws:///us-east-2%c/i-%s\"},\"status\":{",
		       name, cpus / 4, 'a' + zone, 'a' + zone, id);
	for (int i = 0; i < 2; i++)
		api_buf_printf(&b->text,
			       "\"%s\":{\"cpu\":\"%u%s\",\"ephemeral-storage\":\"125277164Ki\",\"hugepages-"
			       "1Gi\":\"0\","
			       "\"hugepages-2Mi\":\"0\",\"memory\":\"%uGi\",\"pods\":\"250\"},",
			       i ? "allocatable" : "capacity", i ? cpus * 1000 - 500 : cpus, i ? "m" : "",
			       cpus * 4 - (i ? 1 : 0));
	api_buf_puts(&b->text, "\"conditions\":[");
	for (unsigned i = 0; i < 4; i++)
		api_buf_printf(&b->text,
			       "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"%s\","
			       "\"lastTransitionTime\":\"%s\","
			       "\"reason\":\"%s\",\"message\":\"%s\"}",
			       i ? "," : "", pressure[i], i == 3 ? "True" : "False", beat, since, fine[i],
			       i == 3 ? "kubelet is posting ready status" : "kubelet has no pressure");
	api_buf_printf(
		&b->text,
		"],\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"%s\"},{\"type\":\"Hostname\","
		"\"address\":\"%s\"}],"
		"\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":10250}},\"nodeInfo\":{\"machineID\":\"%"
		"s\","
		"\"kernelVersion\":\"5.14.0-427.el9.x86_64\",\"osImage\":\"Red Hat Enterprise Linux CoreOS\","
		"\"containerRuntimeVersion\":\"cri-o://"
		"1.32.1\",\"kubeletVersion\":\"v1.32.0\",\"operatingSystem\":\"linux\","
		"\"architecture\":\"amd64\"}}}",
		ip, name, machine);
	add(b, "v1", "Node");
}

static void
add_config(struct builder *b, const struct sim_workload *w)
{
	_cleanup_(api_buf_done) struct api_buf config = {0};
	char name[80];

	snprintf(name, sizeof(name), "%s-config", w->name);
	api_buf_printf(&config, "listen: 0.0.0.0:8080\nname: %s\n", w->name);
	for (unsigned i = 0; i < w->envs; i++)
		api_buf_printf(&config, "limits-%u:\n  burst: %u\n  rate: %u\n", i,
			       sim_rng_below(b->rng, 1000), sim_rng_below(b->rng, 100));
	head(b, "v1", "ConfigMap", w->namespace_, name, 90 * DAY);
	api_buf_puts(&b->text, "},\"data\":{\"config.yaml\":");
	api_buf_json(&b->text, config.data, config.len);
	api_buf_puts(&b->text, "}}");
	add(b, "v1", "ConfigMap");

	head(b, "v1", "ServiceAccount", w->namespace_, w->name, 90 * DAY);
	api_buf_puts(&b->text, "}}");
	add(b, "v1", "ServiceAccount");
}

static void
add_service(struct builder *b, const struct sim_workload *w, const struct api_buf *endpoints,
	    const struct api_buf *ready)
{
	char slice[80], suffix[6];

	head(b, "v1", "Service", w->namespace_, w->name, 90 * DAY);
	api_buf_puts(&b->text, ",\"labels\":{");
	sim_workload_labels_text(w, &b->text);
	api_buf_puts(&b->text, "}},\"spec\":{\"ports\":[{\"name\":\"http\",\"protocol\":\"TCP\",\"port\":80,"
			       "\"targetPort\":8080}],"
			       "\"selector\":{");
	sim_workload_labels_text(w, &b->text);
	if (w->kind == SIM_STATEFUL_SET)
		api_buf_puts(&b->text, "},\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"]");
	else
		api_buf_printf(&b->text, "},\"clusterIP\":\"172.30.%u.%u\"", sim_rng_below(b->rng, 256),
			       1 + sim_rng_below(b->rng, 254));
	api_buf_puts(
		&b->text,
		",\"type\":\"ClusterIP\",\"sessionAffinity\":\"None\",\"ipFamilies\":[\"IPv4\"],"
		"\"ipFamilyPolicy\":"
		"\"SingleStack\",\"internalTrafficPolicy\":\"Cluster\"},\"status\":{\"loadBalancer\":{}}}");
	add(b, "v1", "Service");

	head(b, "v1", "Endpoints", w->namespace_, w->name, 90 * DAY);
	api_buf_puts(&b->text, "}");
	if (ready->len)
		api_buf_printf(&b->text,
			       ",\"subsets\":[{\"addresses\":[%s],\"ports\":[{\"name\":\"http\",\"port\":"
			       "8080,\"protocol\":\"TCP\"}]}]",
			       ready->data);
	api_buf_puts(&b->text, "}");
	add(b, "v1", "Endpoints");

	sim_rng_suffix(b->rng, suffix, 5);
	snprintf(slice, sizeof(slice), "%s-%s", w->name, suffix);
	head(b, "discovery.k8s.io/v1", "EndpointSlice", w->namespace_, slice, 90 * DAY);
	api_buf_printf(
		&b->text,
		",\"labels\":{\"endpointslice.kubernetes.io/managed-by\":\"endpointslice-controller.k8s.io\","
		"\"kubernetes.io/"
		"service-name\":\"%s\"}},\"addressType\":\"IPv4\",\"endpoints\":[%s],\"ports\":[{\"name\":"
		"\"http\",\"protocol\":\"TCP\",\"port\":8080}]}",
		w->name, endpoints->len ? endpoints->data : "");
	add(b, "discovery.k8s.io/v1", "EndpointSlice");
}

/* ---- workloads ------------------------------------------------------------ */

static void
endpoint(const struct sim_workload *w, const struct sim_pod *pod, struct api_buf *endpoints,
	 struct api_buf *ready)
{
	bool is_ready = pod->state == SIM_POD_RUNNING;
	char target[400];

	if (pod->state != SIM_POD_RUNNING && pod->state != SIM_POD_UNREADY && pod->state != SIM_POD_CRASHING)
		return;
	snprintf(target, sizeof(target),
		 "\"nodeName\":\"%s\",\"targetRef\":{\"kind\":\"Pod\",\"namespace\":\"%s\",\"name\":\"%s\"}",
		 pod->host->name, w->namespace_, pod->name);
	api_buf_printf(endpoints,
		       "%s{\"addresses\":[\"%s\"],\"conditions\":{\"ready\":%s,\"serving\":%s,"
		       "\"terminating\":false},%s}",
		       endpoints->len ? "," : "", pod->ip, is_ready ? "true" : "false",
		       is_ready ? "true" : "false", target);
	if (is_ready)
		api_buf_printf(ready, "%s{\"ip\":\"%s\",%s}", ready->len ? "," : "", pod->ip, target);
}

/* Add a workload with all its pods: of a DaemonSet one on each node, of others on the next slots. */
static void
add_workload(struct builder *b, struct sim_workload *w)
{
	static const char *const kinds[] = {"Deployment", "DaemonSet", "StatefulSet", "Job"};
	_cleanup_(api_buf_done) struct api_buf endpoints = {0};
	_cleanup_(api_buf_done) struct api_buf ready = {0};
	unsigned running = 0, hosts = b->hosts->count;

	assert(hosts > 0);

	w->seed = sim_rng_next(b->rng);
	sim_rng_uid(b->rng, w->uid);
	sim_rng_uid(b->rng, w->set_uid);
	sim_rng_suffix(b->rng, w->hash, 10);
	w->created = b->now - 3600 - sim_rng_below(b->rng, (uint32_t)(90 * DAY));
	for (unsigned i = 0; i < w->replicas;) {
		size_t at = w->kind == SIM_DAEMON_SET ? i : b->slot;
		struct sim_pod pod;

		sim_workload_pod(w, i, &b->hosts->items[at % hosts], b->now, b->rng, &pod);
		api_buf_reset(&b->text);
		sim_workload_pod_text(w, &pod, b->rng, &b->text);
		if (!add(b, "v1", "Pod"))
			continue; /* the name is taken: draw again */
		endpoint(w, &pod, &endpoints, &ready);
		running += pod.state == SIM_POD_RUNNING;
		b->slot += w->kind != SIM_DAEMON_SET;
		i++;
	}
	api_buf_reset(&b->text);
	sim_workload_text(w, running, &b->text);
	add(b, w->kind == SIM_JOB ? "batch/v1" : "apps/v1", kinds[w->kind]);
	if (w->kind == SIM_DEPLOYMENT) {
		sim_workload_set_text(w, running, &b->text);
		add(b, "apps/v1", "ReplicaSet");
	}
	add_config(b, w);
	if (w->kind == SIM_DEPLOYMENT || w->kind == SIM_STATEFUL_SET)
		add_service(b, w, &endpoints, &ready);
}

/* Returns the number of DaemonSets. */
static unsigned
add_daemon_sets(struct builder *b, unsigned pods_per_node)
{
	static const struct sim_workload sets[] = {
		{.name = "kube-proxy",
		 .namespace_ = "kube-system",
		 .containers = 1,
		 .envs = 3,
		 .host_network = true},
		{.name = "ovnkube-node",
		 .namespace_ = "networking",
		 .containers = 4,
		 .init_containers = 1,
		 .envs = 20,
		 .host_network = true},
		{.name = "node-exporter",
		 .namespace_ = "observability",
		 .containers = 2,
		 .envs = 2,
		 .host_network = true},
		{.name = "log-collector",
		 .namespace_ = "observability",
		 .containers = 1,
		 .init_containers = 1,
		 .envs = 16},
		{.name = "csi-node", .namespace_ = "storage", .containers = 3, .envs = 6},
	};
	unsigned count = pods_per_node / 4 < COUNT(sets) ? pods_per_node / 4 : COUNT(sets);

	for (unsigned i = 0; i < count; i++) {
		struct sim_workload w = sets[i];

		w.kind = SIM_DAEMON_SET;
		w.replicas = b->hosts->count;
		w.priority_class = "system-node-critical";
		snprintf(w.image, sizeof(w.image), "registry.example.com/platform/%s:v1.%u.0", w.name,
			 20 + i);
		add_workload(b, &w);
	}
	return count;
}

/* Add an application, usually a Deployment, of at most `left` pods. Returns how many. */
static unsigned
add_application(struct builder *b, unsigned serial, unsigned left)
{
	static const char *const teams[] = {"shop",   "payments", "platform",  "data",
					    "search", "mobile",   "analytics", "identity"};
	static const char *const words[] = {"cart",    "checkout",  "catalog",  "gateway",     "frontend",
					    "billing", "ledger",    "profile",  "session",     "ingest",
					    "report",  "inventory", "notifier", "scheduler",   "resolver",
					    "pricing", "quota",     "export",   "recommender", "indexer"};
	struct sim_workload w = {0};
	uint32_t dice = sim_rng_below(b->rng, 10);
	const char *team = teams[sim_rng_below(b->rng, COUNT(teams))];

	w.kind = dice < 7 ? SIM_DEPLOYMENT : dice < 8 ? SIM_STATEFUL_SET : SIM_JOB;
	w.replicas = 1 + (w.kind == SIM_DEPLOYMENT ? sim_rng_below(b->rng, sim_rng_below(b->rng, 4) ? 5 : 40)
						   : sim_rng_below(b->rng, 4));
	if (w.replicas > left)
		w.replicas = left;
	snprintf(w.namespace_, sizeof(w.namespace_), "%s-%u", team,
		 1 + sim_rng_below(b->rng, 1 + b->hosts->count / 20));
	snprintf(w.name, sizeof(w.name), "%s-%u", words[sim_rng_below(b->rng, COUNT(words))], serial);
	snprintf(w.image, sizeof(w.image), "registry.example.com/%s/%s:%u.%u.%u", team, w.name,
		 sim_rng_below(b->rng, 9), sim_rng_below(b->rng, 40), sim_rng_below(b->rng, 20));
	w.containers = sim_rng_below(b->rng, 8) == 0 ? 2 + sim_rng_below(b->rng, 4)
		       : sim_rng_below(b->rng, 3)    ? 1
						     : 2;
	w.init_containers = sim_rng_below(b->rng, 4) == 0;
	w.envs = 4 + sim_rng_below(b->rng, sim_rng_below(b->rng, 4) ? 20 : 80);
	add_workload(b, &w);
	return w.replicas;
}

void
sim_cluster_generate(struct api_registry *registry, struct sim_store *store, const struct sim_hosts *hosts,
		     unsigned pods_per_node, int64_t now, struct sim_rng *rng)
{
	struct builder b = {.registry = registry, .store = store, .hosts = hosts, .rng = rng, .now = now};
	unsigned left, serial = 0;

	for (unsigned i = 0; i < hosts->count; i++)
		add_node(&b, hosts->items[i].name, hosts->items[i].ip);
	left = (pods_per_node - add_daemon_sets(&b, pods_per_node)) * hosts->count;
	while (left)
		left -= add_application(&b, serial++, left);
	api_buf_done(&b.text);
}

/* ---- completing loaded objects -------------------------------------------- */

/* Whether a loaded name is safe in the JSON made here. */
static bool
is_plain(const char *text)
{
	return text[0] && strlen(text) < 250 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") ==
		       strlen(text);
}

static void
complete_namespaces(struct builder *b)
{
	static const char *const always[] = {"default", "kube-system", "kube-public", "kube-node-lease"};
	const struct api_resource *namespaces = sim_registry_kind(b->registry, "v1", "Namespace");
	char name[256] = "";

	for (unsigned i = 0; i < COUNT(always); i++) {
		_cleanup_(api_object_unrefp) struct api_object *there = sim_store_get(b->store, namespaces,
										      always[i]);

		if (!there)
			add_namespace(b, always[i]);
	}
	for (unsigned i = 0; i < b->registry->count; i++) {
		struct api_object *object;
		struct sim_view view;

		if (!b->registry->items[i]->namespaced)
			continue;
		sim_store_view(b->store, b->registry->items[i], 0, &view, NULL);
		while ((object = sim_view_next(&view))) {
			_cleanup_(api_object_unrefp) struct api_object *there = NULL;

			if (object->namespace_len >= sizeof(name) ||
			    (!strncmp(object->key, name, object->namespace_len) &&
			     !name[object->namespace_len]))
				continue;
			memcpy(name, object->key, object->namespace_len);
			name[object->namespace_len] = '\0';
			there = sim_store_get(b->store, namespaces, name);
			if (!there && is_plain(name))
				add_namespace(b, name);
		}
		sim_view_done(&view);
	}
}

static void
complete_nodes(struct builder *b)
{
	const struct api_resource *pods = sim_registry_kind(b->registry, "v1", "Pod");
	const struct api_resource *nodes = sim_registry_kind(b->registry, "v1", "Node");
	struct api_object *object;
	struct sim_view view;

	sim_store_view(b->store, pods, 0, &view, NULL);
	while ((object = sim_view_next(&view))) {
		const char *name = api_object_field(object, 0); /* spec.nodeName */
		_cleanup_(api_object_unrefp) struct api_object *there = name[0] ? sim_store_get(b->store,
												nodes, name)
										: NULL;
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		_cleanup_(api_freep) char *ip = NULL;

		if (there || !is_plain(name))
			continue;
		sim_object_edit(pods, object, &doc);
		ip = api_text_dup(sim_path(doc.root, "status.hostIP"));
		add_node(b, name, is_plain(ip) ? ip : "10.0.0.1");
	}
	sim_view_done(&view);
}

void
sim_cluster_complete(struct api_registry *registry, struct sim_store *store, int64_t now, struct sim_rng *rng)
{
	struct builder b = {.registry = registry, .store = store, .rng = rng, .now = now};

	complete_nodes(&b);
	complete_namespaces(&b);
	api_buf_done(&b.text);
}
