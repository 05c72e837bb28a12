/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of resources: the built-in table, and what is defined.
 */
#include "tools/serving/served_resource.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

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

static char *
lower(const char *text)
{
	char *copy = api_strndup(text, strlen(text));

	for (char *c = copy; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return copy;
}

static char *
copy_or(const char *text, const char *otherwise)
{
	const char *from = text ? text : otherwise;

	return from ? api_strndup(from, strlen(from)) : NULL;
}

/* Fill what follows from the rest, and own every string of a custom resource. */
static struct api_resource *
complete(struct api_registry *registry, const struct api_resource *from, const struct api_resource *first)
{
	struct api_resource *r = api_alloc(sizeof(*r));
	unsigned at = api_registry_count(registry);
	struct api_buf buf = {0};

	*r = *from;
	r->index = first ? first->index : at;
	for (size_t i = 0; i < 3; i++)
		r->shorts[i] = copy_or(from->shorts[i], NULL);
	r->group = copy_or(from->group, "");
	r->version = copy_or(from->version, NULL);
	r->plural = copy_or(from->plural, NULL);
	r->kind = copy_or(from->kind, NULL);
	r->singular = from->singular ? copy_or(from->singular, NULL) : lower(from->kind);
	r->scale_spec = r->scale ? copy_or(from->scale_spec, "spec.replicas") : NULL;
	r->scale_status = r->scale ? copy_or(from->scale_status, "status.replicas") : NULL;
	r->scale_selector = r->scale ? copy_or(from->scale_selector, "") : NULL;
	if (!r->field_error)
		r->field_error = r->fields || r->custom ? NOT_SUPPORTED : ONLY_NAMES;

	api_buf_printf(&buf, r->group[0] ? "%s.%s" : "%s", r->plural, r->group);
	r->group_resource = api_buf_take(&buf);
	if (r->group[0])
		api_buf_printf(&buf, "%s/", r->group);
	api_buf_puts(&buf, r->version);
	r->api_version = api_buf_take(&buf);
	r->message = r->custom ? NULL
			       : proto_schema_kind(proto_schema_builtin(), r->api_version,
						   strlen(r->api_version), r->kind, strlen(r->kind));
	if (r->custom)
		api_buf_printf(&buf, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",", r->api_version, r->kind);
	else
		api_buf_printf(&buf, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", r->kind, r->api_version);
	r->head_len = buf.len;
	r->head = api_buf_take(&buf);
	r->item_head_len = r->custom ? r->head_len : 1;
	r->item_head = api_strndup(r->head, r->item_head_len);
	registry->items[at] = r;
	atomic_store_explicit(&registry->count, at + 1, memory_order_release);
	return r;
}

const char *const *
api_resource_verbs(const struct api_registry *registry, bool subresource, unsigned *ret_count)
{
	static const char *const verbs[] = {"create", "delete", "deletecollection", "get",
					    "list",   "patch",  "update",           "watch"};
	static const char *const reading[] = {"get", "list", "watch"};
	static const char *const few[] = {"get", "patch", "update"};

	if (subresource) {
		*ret_count = registry->read_only ? 1 : 3;
		return few;
	}
	*ret_count = registry->read_only ? 3 : 8;
	return registry->read_only ? reading : verbs;
}

void
api_registry_init(struct api_registry *registry)
{
	registry->count = 0;
	registry->read_only = false;
	for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++)
		complete(registry, &built_in[i], NULL);
}

static void
free_text(const char *text)
{
	free((void *)(uintptr_t)text);
}

void
api_registry_done(struct api_registry *registry)
{
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		struct api_resource *r = registry->items[i];

		free_text(r->group);
		free_text(r->version);
		free_text(r->plural);
		free_text(r->kind);
		free_text(r->singular);
		for (size_t k = 0; k < 3; k++)
			free_text(r->shorts[k]);
		free_text(r->scale_spec);
		free_text(r->scale_status);
		free_text(r->scale_selector);
		free(r->group_resource);
		free(r->api_version);
		free(r->head);
		free(r->item_head);
		free(r);
	}
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

/* Letters, digits, '-' and, where allowed, '.'; not empty. */
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
