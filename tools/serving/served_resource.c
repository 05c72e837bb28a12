/* SPDX-License-Identifier: Apache-2.0 */
/* The registry: built-in and defined resources. */
#include "tools/serving/served_resource.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOT_SUPPORTED "field label not supported: %s"
#define ONLY_NAMES "\"%s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""

static const struct api_field pod_fields[] = {
	{"spec.nodeName", "spec.nodeName", ""},
	{"spec.restartPolicy", "spec.restartPolicy", ""},
	{"spec.schedulerName", "spec.schedulerName", ""},
	{"spec.serviceAccountName", "spec.serviceAccountName", ""},
	{"spec.hostNetwork", "spec.hostNetwork", "false"},
	{"status.phase", "status.phase", ""},
	{"status.podIP", "status.podIP", ""},
	{"status.nominatedNodeName", "status.nominatedNodeName", ""},
	{0},
};
static const struct api_field node_fields[] = {{"spec.unschedulable", "spec.unschedulable", "false"}, {0}};
static const struct api_field namespace_fields[] = {{"status.phase", "status.phase", ""}, {0}};
static const struct api_field secret_fields[] = {{"type", "type", ""}, {0}};
static const struct api_field service_fields[] = {
	{"spec.clusterIP", "spec.clusterIP", ""}, {"spec.type", "spec.type", ""}, {0}};
static const struct api_field replica_fields[] = {{"status.replicas", "status.replicas", "0"}, {0}};
static const struct api_field job_fields[] = {{"status.successful", "status.succeeded", "0"}, {0}};
static const struct api_field event_fields[] = {
	{"involvedObject.kind", "involvedObject.kind", ""},
	{"involvedObject.namespace", "involvedObject.namespace", ""},
	{"involvedObject.name", "involvedObject.name", ""},
	{"involvedObject.uid", "involvedObject.uid", ""},
	{"involvedObject.apiVersion", "involvedObject.apiVersion", ""},
	{"involvedObject.resourceVersion", "involvedObject.resourceVersion", ""},
	{"involvedObject.fieldPath", "involvedObject.fieldPath", ""},
	{"reason", "reason", ""},
	{"reportingComponent", "reportingComponent", ""},
	{"source", "source.component", ""},
	{"type", "type", ""},
	{0},
};

#define BUILT_IN(group_, plural_, kind_, ...)                                                                \
	{                                                                                                    \
		.group = group_, .version = "v1", .plural = plural_, .kind = kind_, __VA_ARGS__              \
	}
#define SHORT(name) .shorts = {name}
#define NAMESPACED .namespaced = true
#define STATUS .has_status = true
#define ALL .in_all = true
#define SCALE .scale = true

static const struct api_resource built_in[] = {
	BUILT_IN("", "configmaps", "ConfigMap", SHORT("cm"), NAMESPACED),
	BUILT_IN("", "endpoints", "Endpoints", .singular = "endpoints", SHORT("ep"), NAMESPACED),
	BUILT_IN("", "events", "Event", SHORT("ev"), NAMESPACED, .fields = event_fields),
	BUILT_IN("", "namespaces", "Namespace", SHORT("ns"), STATUS, .fields = namespace_fields),
	BUILT_IN("", "nodes", "Node", SHORT("no"), STATUS, .fields = node_fields),
	BUILT_IN("", "persistentvolumeclaims", "PersistentVolumeClaim", SHORT("pvc"), NAMESPACED, STATUS),
	BUILT_IN("", "pods", "Pod", SHORT("po"), NAMESPACED, STATUS, ALL, .fields = pod_fields),
	BUILT_IN("", "replicationcontrollers", "ReplicationController", SHORT("rc"), NAMESPACED, STATUS,
		 SCALE, ALL, .fields = replica_fields),
	BUILT_IN("", "secrets", "Secret", NAMESPACED, .fields = secret_fields),
	BUILT_IN("", "serviceaccounts", "ServiceAccount", SHORT("sa"), NAMESPACED),
	BUILT_IN("", "services", "Service", SHORT("svc"), NAMESPACED, STATUS, ALL, .fields = service_fields),
	BUILT_IN("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition",
		 .shorts = {"crd", "crds"}, STATUS),
	BUILT_IN("apps", "daemonsets", "DaemonSet", SHORT("ds"), NAMESPACED, STATUS, ALL),
	BUILT_IN("apps", "deployments", "Deployment", SHORT("deploy"), NAMESPACED, STATUS, SCALE, ALL),
	BUILT_IN("apps", "replicasets", "ReplicaSet", SHORT("rs"), NAMESPACED, STATUS, SCALE, ALL,
		 .fields = replica_fields,
		 .field_error = "field label not supported for appsv1.ReplicaSet: %s"),
	BUILT_IN("apps", "statefulsets", "StatefulSet", SHORT("sts"), NAMESPACED, STATUS, SCALE, ALL),
	BUILT_IN("batch", "cronjobs", "CronJob", SHORT("cj"), NAMESPACED, STATUS, ALL),
	BUILT_IN("batch", "jobs", "Job", NAMESPACED, STATUS, ALL, .fields = job_fields,
		 .field_error = "field label \"%s\" not supported for batchv1.Job"),
	BUILT_IN("discovery.k8s.io", "endpointslices", "EndpointSlice", NAMESPACED),
};

/* A copy that the registry owns; NULL: text is NULL. */
static char *
copy(struct api_registry *registry, const char *text)
{
	return text ? strcpy(api_doc_alloc(&registry->texts, strlen(text) + 1), text) : NULL;
}

static char *
lower(char *text)
{
	for (char *c = text; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return text;
}

static char *__attribute__((format(printf, 2, 3)))
print(struct api_registry *registry, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return copy(registry, text);
}

/* Add a resource: copy its strings and derive the other fields. */
static struct api_resource *
complete(struct api_registry *registry, const struct api_resource *from, const struct api_resource *first)
{
	struct api_resource *r = (struct api_resource *)(void *)api_doc_alloc(&registry->texts, sizeof(*r));
	unsigned at = api_registry_count(registry);

	*r = *from;
	r->index = first ? first->index : at;
	for (size_t i = 0; i < 3; i++)
		r->shorts[i] = copy(registry, from->shorts[i]);
	r->group = copy(registry, from->group);
	r->version = copy(registry, from->version);
	r->plural = copy(registry, from->plural);
	r->kind = copy(registry, from->kind);
	r->singular = from->singular ? copy(registry, from->singular) : lower(copy(registry, from->kind));
	if (r->scale) {
		r->scale_spec = copy(registry, from->scale_spec ? from->scale_spec : "spec.replicas");
		r->scale_status = copy(registry, from->scale_status ? from->scale_status : "status.replicas");
		r->scale_selector = copy(registry, from->scale_selector ? from->scale_selector : "");
	}
	if (!r->field_error)
		r->field_error = r->fields || r->custom ? NOT_SUPPORTED : ONLY_NAMES;

	r->group_resource = print(registry, r->group[0] ? "%s.%s" : "%s%s", r->plural, r->group);
	r->api_version = print(registry, r->group[0] ? "%s/%s" : "%s%s", r->group, r->version);
	r->message = r->custom ? NULL
			       : proto_schema_kind(proto_schema_builtin(), r->api_version,
						   strlen(r->api_version), r->kind, strlen(r->kind));
	if (r->custom)
		r->head = print(registry, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",", r->api_version, r->kind);
	else
		r->head = print(registry, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", r->kind, r->api_version);
	r->head_len = strlen(r->head);
	r->item_head_len = r->custom ? r->head_len : 1;
	registry->items[at] = r;
	atomic_store_explicit(&registry->count, at + 1, memory_order_release);
	return r;
}

void
api_registry_init(struct api_registry *registry)
{
	registry->count = 0;
	registry->read_only = false;
	registry->texts = (struct api_doc){0};
	for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++)
		complete(registry, &built_in[i], NULL);
}

void
api_registry_done(struct api_registry *registry)
{
	api_doc_done(&registry->texts);
	registry->count = 0;
}

struct api_resource *
api_registry_find(const struct api_registry *registry, const char *group, const char *version,
		  const char *plural)
{
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		struct api_resource *r = registry->items[i];

		if (api_resource_served(r) && !strcmp(r->plural, plural) && !strcmp(r->group, group) &&
		    !strcmp(r->version, version))
			return r;
	}
	return NULL;
}

/* Whether text consists of letters, digits and the characters of `also`, and has 1 to 249 bytes. */
static bool
is_name(const char *text, const char *also)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(also, text[i]))
			return false;
	return i > 0 && i < 250;
}

int
api_registry_define(struct api_registry *registry, const struct api_resource *like,
		    const struct api_resource *first, struct api_resource **ret_resource)
{
	if (!is_name(like->version, "") || (like->group[0] && !is_name(like->group, "-.")) ||
	    !is_name(like->plural, "-") || !is_name(like->kind, ""))
		return -EINVAL;
	if (api_registry_count(registry) == API_RESOURCES_MAX)
		return -ENOSPC;
	*ret_resource = complete(registry, like, first);
	return 0;
}

void
api_registry_drop(struct api_resource *resource)
{
	atomic_store_explicit(&resource->gone, true, memory_order_release);
}
