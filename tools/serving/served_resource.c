/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of resources: built-in table, declared and guessed ones.
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

#define NAMESPACED .namespaced = true
#define STATUS .has_status = true
#define ALL .in_all = true
#define SCALE .scale = true

static const struct api_resource built_in[] = {
	{.version = "v1", .plural = "configmaps", .kind = "ConfigMap", .shorts = {"cm"}, NAMESPACED},
	{.version = "v1",
	 .plural = "endpoints",
	 .singular = "endpoints",
	 .kind = "Endpoints",
	 .shorts = {"ep"},
	 NAMESPACED},
	{.version = "v1",
	 .plural = "events",
	 .kind = "Event",
	 .shorts = {"ev"},
	 NAMESPACED,
	 .fields = event_fields},
	{.version = "v1",
	 .plural = "namespaces",
	 .kind = "Namespace",
	 .shorts = {"ns"},
	 STATUS,
	 .fields = namespace_fields},
	{.version = "v1", .plural = "nodes", .kind = "Node", .shorts = {"no"}, STATUS, .fields = node_fields},
	{.version = "v1",
	 .plural = "persistentvolumeclaims",
	 .kind = "PersistentVolumeClaim",
	 .shorts = {"pvc"},
	 NAMESPACED,
	 STATUS},
	{.version = "v1",
	 .plural = "pods",
	 .kind = "Pod",
	 .shorts = {"po"},
	 NAMESPACED,
	 STATUS,
	 ALL,
	 .fields = pod_fields},
	{.version = "v1",
	 .plural = "replicationcontrollers",
	 .kind = "ReplicationController",
	 .shorts = {"rc"},
	 NAMESPACED,
	 STATUS,
	 SCALE,
	 ALL,
	 .fields = replica_fields},
	{.version = "v1", .plural = "secrets", .kind = "Secret", NAMESPACED, .fields = secret_fields},
	{.version = "v1",
	 .plural = "serviceaccounts",
	 .kind = "ServiceAccount",
	 .shorts = {"sa"},
	 NAMESPACED},
	{.version = "v1",
	 .plural = "services",
	 .kind = "Service",
	 .shorts = {"svc"},
	 NAMESPACED,
	 STATUS,
	 ALL,
	 .fields = service_fields},
	{.group = "apiextensions.k8s.io",
	 .version = "v1",
	 .plural = "customresourcedefinitions",
	 .kind = "CustomResourceDefinition",
	 .shorts = {"crd", "crds"},
	 STATUS},
	{.group = "apps",
	 .version = "v1",
	 .plural = "daemonsets",
	 .kind = "DaemonSet",
	 .shorts = {"ds"},
	 NAMESPACED,
	 STATUS,
	 ALL},
	{.group = "apps",
	 .version = "v1",
	 .plural = "deployments",
	 .kind = "Deployment",
	 .shorts = {"deploy"},
	 NAMESPACED,
	 STATUS,
	 SCALE,
	 ALL},
	{.group = "apps",
	 .version = "v1",
	 .plural = "replicasets",
	 .kind = "ReplicaSet",
	 .shorts = {"rs"},
	 NAMESPACED,
	 STATUS,
	 SCALE,
	 ALL,
	 .fields = replica_fields,
	 .field_error = "field label not supported for appsv1.ReplicaSet: %s"},
	{.group = "apps",
	 .version = "v1",
	 .plural = "statefulsets",
	 .kind = "StatefulSet",
	 .shorts = {"sts"},
	 NAMESPACED,
	 STATUS,
	 SCALE,
	 ALL},
	{.group = "batch",
	 .version = "v1",
	 .plural = "cronjobs",
	 .kind = "CronJob",
	 .shorts = {"cj"},
	 NAMESPACED,
	 STATUS,
	 ALL},
	{.group = "batch",
	 .version = "v1",
	 .plural = "jobs",
	 .kind = "Job",
	 NAMESPACED,
	 STATUS,
	 ALL,
	 .fields = job_fields,
	 .field_error = "field label \"%s\" not supported for batchv1.Job"},
	{.group = "discovery.k8s.io",
	 .version = "v1",
	 .plural = "endpointslices",
	 .kind = "EndpointSlice",
	 NAMESPACED},
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

	return api_strndup(from, strlen(from));
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
		r->shorts[i] = from->shorts[i] ? api_strndup(from->shorts[i], strlen(from->shorts[i])) : NULL;
	r->group = api_strndup(from->group ? from->group : "", from->group ? strlen(from->group) : 0);
	r->version = api_strndup(from->version, strlen(from->version));
	r->plural = api_strndup(from->plural, strlen(from->plural));
	r->kind = api_strndup(from->kind, strlen(from->kind));
	r->singular = from->singular ? api_strndup(from->singular, strlen(from->singular))
				     : lower(from->kind);
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
	pthread_mutex_init(&registry->lock, NULL);
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
	pthread_mutex_destroy(&registry->lock);
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

struct api_resource *
api_registry_kind(const struct api_registry *registry, const char *api_version, const char *kind)
{
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		struct api_resource *r = registry->items[i];

		if (api_resource_served(r) && !strcmp(r->kind, kind) && !strcmp(r->api_version, api_version))
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

static char *
guess_kind(const char *plural)
{
	size_t len = strlen(plural);
	char *kind;

	if (len > 3 && !strcmp(plural + len - 3, "ies")) {
		kind = api_strndup(plural, len - 2);
		kind[len - 3] = 'y';
	} else if (len > 4 && (!strcmp(plural + len - 4, "sses") || !strcmp(plural + len - 4, "ches") ||
			       !strcmp(plural + len - 4, "xes"))) {
		kind = api_strndup(plural, len - 2);
	} else {
		kind = api_strndup(plural, len > 1 && plural[len - 1] == 's' ? len - 1 : len);
	}
	kind[0] = (char)toupper((unsigned char)kind[0]);
	return kind;
}

static char *
guess_plural(const char *kind)
{
	_cleanup_(api_freep) char *singular = lower(kind);
	size_t len = strlen(singular);
	struct api_buf buf = {0};

	if (len > 1 && singular[len - 1] == 'y' && !strchr("aeiou", singular[len - 2])) {
		api_buf_put(&buf, singular, len - 1);
		api_buf_puts(&buf, "ies");
	} else {
		api_buf_puts(&buf, singular);
		if (len > 0 && (singular[len - 1] == 's' || singular[len - 1] == 'x' ||
				(len > 1 && singular[len - 1] == 'h' && strchr("cs", singular[len - 2]))))
			api_buf_puts(&buf, "es");
		else
			api_buf_puts(&buf, "s");
	}
	return api_buf_take(&buf);
}

int
api_registry_add(struct api_registry *registry, const char *group, const char *version, const char *plural,
		 const char *kind, bool namespaced, struct api_resource **ret_resource)
{
	_cleanup_(api_freep) char *own_kind = NULL;
	_cleanup_(api_freep) char *own_plural = NULL;
	struct api_resource *found;

	if (!is_name(version, "") || (group[0] && !is_name(group, "-.")) ||
	    (plural && !is_name(plural, "-")) || (kind && !is_name(kind, "")))
		return -EINVAL;
	own_plural = plural ? api_strndup(plural, strlen(plural)) : guess_plural(kind);
	own_kind = kind ? api_strndup(kind, strlen(kind)) : guess_kind(own_plural);
	found = api_registry_find(registry, group, version, own_plural);
	if (!found) {
		if (registry->count == API_RESOURCES_MAX)
			return -ENOSPC;
		found = complete(registry,
				 &(struct api_resource){.group = group,
							.version = version,
							.plural = own_plural,
							.kind = own_kind,
							.namespaced = namespaced,
							.has_status = true,
							.custom = true},
				 NULL);
	}
	*ret_resource = found;
	return 0;
}

static bool
same_scale(const struct api_resource *a, const struct api_resource *b)
{
	return !strcmp(a->scale_spec, b->scale_spec) && !strcmp(a->scale_status, b->scale_status) &&
	       !strcmp(a->scale_selector, b->scale_selector);
}

static bool
equal(const struct api_resource *a, const struct api_resource *b)
{
	for (size_t i = 0; i < 3; i++)
		if (strcmp(a->shorts[i] ? a->shorts[i] : "", b->shorts[i] ? b->shorts[i] : "") != 0)
			return false;
	return a->custom == b->custom && !strcmp(a->plural, b->plural) && !strcmp(a->group, b->group) &&
	       !strcmp(a->version, b->version) && !strcmp(a->kind, b->kind) &&
	       !strcmp(a->singular, b->singular ? b->singular : a->singular) &&
	       a->namespaced == b->namespaced && a->has_status == b->has_status && a->in_all == b->in_all &&
	       a->scale == b->scale && (!a->scale || same_scale(a, b));
}

int
api_registry_define(struct api_registry *registry, const struct api_resource *like,
		    const struct api_resource *first, struct api_resource **ret_resource)
{
	struct api_resource *found = NULL;

	if (!is_name(like->version, "") || !is_name(like->group, "-.") || !is_name(like->plural, "-") ||
	    !is_name(like->kind, ""))
		return -EINVAL;
	pthread_mutex_lock(&registry->lock);
	for (unsigned i = 0; i < registry->count && !found; i++)
		if (!api_resource_served(registry->items[i]) && equal(registry->items[i], like) &&
		    registry->items[i]->index == (first ? first->index : i))
			found = registry->items[i];
	if (!found && registry->count < API_RESOURCES_MAX)
		found = complete(registry, like, first);
	else if (found)
		atomic_store_explicit(&found->gone, false, memory_order_release);
	pthread_mutex_unlock(&registry->lock);
	*ret_resource = found;
	return found ? 0 : -ENOSPC;
}

void
api_registry_drop(struct api_resource *resource)
{
	atomic_store_explicit(&resource->gone, true, memory_order_release);
}

int
api_registry_declare(struct api_registry *registry, const char *text, struct api_resource **ret_resource)
{
	_cleanup_(api_freep) char *copy = api_strndup(text, strlen(text));
	char *version, *group, *kind;

	version = strchr(copy, '.');
	group = version ? strchr(version + 1, '.') : NULL;
	if (!group)
		return -EINVAL;
	*version++ = '\0';
	*group++ = '\0';
	kind = strchr(copy, '/');
	if (kind)
		*kind++ = '\0';
	if (!group[0])
		return -EINVAL;
	return api_registry_add(registry, group, version, copy, kind, true, ret_resource);
}
