/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing and printing the documents; see discovery_documents.h. */
#include "tools/serving/discovery_documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/schema/proto_schema.h"

#define AGGREGATED_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

/* ---- parts ---- */

/* The next served resource of a group version, from *i on. Moves *i behind it. NULL: none. */
static const struct api_resource *
next_of(const struct api_registry *registry, const char *group, const char *version, unsigned *i)
{
	while (*i < api_registry_count(registry)) {
		const struct api_resource *r = registry->items[(*i)++];

		if (api_resource_served(r) && !strcmp(r->group, group) && !strcmp(r->version, version))
			return r;
	}
	return NULL;
}

/* Whether the i-th resource is the first served one of its group (of_version: of its group version). */
static bool
is_first(const struct api_registry *registry, unsigned i, bool of_version)
{
	const struct api_resource *r = registry->items[i];

	for (unsigned k = 0; k < i; k++) {
		const struct api_resource *other = registry->items[k];

		if (api_resource_served(other) && !strcmp(other->group, r->group) &&
		    (!of_version || !strcmp(other->version, r->version)))
			return false;
	}
	return api_resource_served(r);
}

/* Begin the next element of an array. */
static void
next(struct api_buf *buf)
{
	if (buf->data[buf->len - 1] != '[')
		api_buf_puts(buf, ",");
}

/* At most `most` texts, or up to NULL. */
static void
put_texts(struct api_buf *buf, const char *name, const char *const *texts, unsigned most)
{
	api_buf_printf(buf, ",\"%s\":[", name);
	for (unsigned i = 0; i < most && texts[i]; i++) {
		next(buf);
		api_buf_json_str(buf, texts[i]);
	}
	api_buf_puts(buf, "]");
}

static void
put_verbs(struct api_buf *buf, const struct api_registry *registry, bool subresource)
{
	static const char *const all[] = {"create", "delete", "deletecollection", "get",
					  "list",   "patch",  "update",           "watch"};
	static const char *const reading[] = {"get", "list", "watch"};
	static const char *const of_sub[] = {"get", "patch", "update"};

	if (subresource)
		put_texts(buf, "verbs", of_sub, registry->read_only ? 1 : 3);
	else
		put_texts(buf, "verbs", registry->read_only ? reading : all, registry->read_only ? 3 : 8);
}

/* Short names and categories. */
static void
put_names(struct api_buf *buf, const struct api_resource *r)
{
	static const char *const all[] = {"all"};

	if (r->shorts[0])
		put_texts(buf, "shortNames", r->shorts, 3);
	if (r->in_all)
		put_texts(buf, "categories", all, 1);
}

/* ---- not aggregated ---- */

static void
put_version(struct api_buf *buf, const struct api_resource *r)
{
	api_buf_printf(buf, "{\"groupVersion\":\"%s\",\"version\":\"%s\"}", r->api_version, r->version);
}

/* The members of a group. Its versions are in order of declaration. */
static void
put_group(struct api_buf *buf, const struct api_registry *registry, const char *group)
{
	const struct api_resource *preferred = NULL;

	api_buf_printf(buf, "\"name\":\"%s\",\"versions\":[", group);
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		const struct api_resource *r = registry->items[i];

		if (strcmp(r->group, group) != 0 || !is_first(registry, i, true))
			continue;
		next(buf);
		put_version(buf, r);
		preferred = preferred ? preferred : r;
	}
	api_buf_puts(buf, "]");
	if (preferred) {
		api_buf_puts(buf, ",\"preferredVersion\":");
		put_version(buf, preferred);
	}
}

static void
group_list(struct api_buf *buf, const struct api_registry *registry)
{
	api_buf_puts(buf, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		if (!registry->items[i]->group[0] || !is_first(registry, i, false))
			continue;
		next(buf);
		api_buf_puts(buf, "{");
		put_group(buf, registry, registry->items[i]->group);
		api_buf_puts(buf, "}");
	}
	api_buf_puts(buf, "]}");
}

/* False: there is no such group. */
static bool
one_group(struct api_buf *buf, const struct api_registry *registry, const char *group)
{
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		if (strcmp(registry->items[i]->group, group) != 0 || !is_first(registry, i, false))
			continue;
		api_buf_puts(buf, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",");
		put_group(buf, registry, group);
		api_buf_puts(buf, "}");
		return true;
	}
	return false;
}

/* subresource: "", "/scale" or "/status" */
static void
put_resource(struct api_buf *buf, const struct api_registry *registry, const struct api_resource *r,
	     const char *subresource)
{
	bool scale = !strcmp(subresource, "/scale");

	next(buf);
	api_buf_printf(buf, "{\"name\":\"%s%s\",\"singularName\":", r->plural, subresource);
	api_buf_json_str(buf, *subresource ? "" : r->singular);
	api_buf_printf(buf, ",\"namespaced\":%s,%s\"kind\":\"%s\"", r->namespaced ? "true" : "false",
		       scale ? "\"group\":\"autoscaling\",\"version\":\"v1\"," : "",
		       scale ? "Scale" : r->kind);
	put_verbs(buf, registry, *subresource);
	if (!*subresource)
		put_names(buf, r);
	api_buf_puts(buf, "}");
}

/* The resources of a version; false: none. */
static bool
resource_list(struct api_buf *buf, const struct api_registry *registry, const struct api_path *path)
{
	unsigned i = 0;
	const struct api_resource *r = next_of(registry, path->group, path->version, &i);

	if (!r)
		return false;
	api_buf_printf(buf,
		       "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"%s\","
		       "\"resources\":[",
		       r->api_version);
	for (; r; r = next_of(registry, path->group, path->version, &i)) {
		put_resource(buf, registry, r, "");
		if (r->scale)
			put_resource(buf, registry, r, "/scale");
		if (r->has_status)
			put_resource(buf, registry, r, "/status");
	}
	api_buf_puts(buf, "]}");
	return true;
}

/* ---- aggregated: KEP-3352, apidiscovery.k8s.io/v2 ---- */

static void
put_kind(struct api_buf *buf, const char *group, const char *version, const char *kind)
{
	api_buf_printf(buf, ",\"responseKind\":{\"group\":\"%s\",\"version\":\"%s\",\"kind\":\"%s\"}", group,
		       version, kind);
}

/* A built-in kind has the group and version of the surrounding document; both are empty here. */
static void
put_kind_of(struct api_buf *buf, const struct api_resource *r)
{
	put_kind(buf, r->custom ? r->group : "", r->custom ? r->version : "", r->kind);
}

static void
put_subresources(struct api_buf *buf, const struct api_registry *registry, const struct api_resource *r)
{
	api_buf_puts(buf, ",\"subresources\":[");
	if (r->scale) {
		api_buf_puts(buf, "{\"subresource\":\"scale\"");
		put_kind(buf, "autoscaling", "v1", "Scale");
		put_verbs(buf, registry, true);
		api_buf_puts(buf, "}");
	}
	if (r->has_status) {
		next(buf);
		api_buf_puts(buf, "{\"subresource\":\"status\"");
		put_kind_of(buf, r);
		put_verbs(buf, registry, true);
		api_buf_puts(buf, "}");
	}
	api_buf_puts(buf, "]");
}

/* All resources of the version of `like`. */
static void
put_whole_version(struct api_buf *buf, const struct api_registry *registry, const struct api_resource *like)
{
	const struct api_resource *r;
	unsigned i = 0;

	next(buf);
	api_buf_printf(buf, "{\"version\":\"%s\",\"resources\":[", like->version);
	while ((r = next_of(registry, like->group, like->version, &i))) {
		next(buf);
		api_buf_printf(buf, "{\"resource\":\"%s\"", r->plural);
		put_kind_of(buf, r);
		api_buf_printf(buf, ",\"scope\":\"%s\",\"singularResource\":",
			       r->namespaced ? "Namespaced" : "Cluster");
		api_buf_json_str(buf, r->singular);
		put_verbs(buf, registry, false);
		put_names(buf, r);
		if (r->has_status || r->scale)
			put_subresources(buf, registry, r);
		api_buf_puts(buf, "}");
	}
	api_buf_puts(buf, "],\"freshness\":\"Current\"}");
}

/* The core group, or all named groups. */
static void
all_resources(struct api_buf *buf, const struct api_registry *registry, bool core)
{
	unsigned count = api_registry_count(registry);

	api_buf_puts(buf, "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\","
			  "\"metadata\":{},\"items\":[");
	for (unsigned i = 0; i < count; i++) {
		const struct api_resource *r = registry->items[i];

		if ((r->group[0] == '\0') != core || !is_first(registry, i, false))
			continue;
		next(buf);
		api_buf_puts(buf, "{\"metadata\":{");
		if (!core)
			api_buf_printf(buf, "\"name\":\"%s\"", r->group);
		api_buf_puts(buf, "},\"versions\":[");
		for (unsigned k = i; k < count; k++)
			if (!strcmp(registry->items[k]->group, r->group) && is_first(registry, k, true))
				put_whole_version(buf, registry, registry->items[k]);
		api_buf_puts(buf, "]}");
	}
	api_buf_puts(buf, "]}");
}

/* ---- choice ---- */

static bool
wants_aggregated(const struct api_request *request)
{
	const char *accept = api_request_header(request, "Accept");
	size_t len = accept ? strlen(accept) : 0;

	return accept && strstr(accept, "as=APIGroupDiscoveryList") &&
	       strstr(accept, "g=apidiscovery.k8s.io") &&
	       (strstr(accept, "v=v2;") || strstr(accept, "v=v2,") ||
		(len >= 4 && !strcmp(accept + len - 4, "v=v2")));
}

/* A hash of the content, as upstream. */
static void
make_etag(const char *text, char ret[API_ETAG_SIZE])
{
	uint64_t hash = 14695981039346656037ull;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211ull; /* FNV-1a */
	snprintf(ret, API_ETAG_SIZE, "\"%016llX\"", (unsigned long long)hash);
}

struct api_discovery
api_discovery_answer(const struct api_request *request, const struct api_registry *registry, bool aggregated,
		     struct api_buf *body)
{
	const struct api_path *path = request->path;
	const char *theirs = api_request_header(request, "If-None-Match");
	struct api_discovery answer = {.code = 200, .type = "application/json"};
	bool core = path->group && !*path->group;
	bool there = true;

	if (path->place != API_DISCOVERY)
		return (struct api_discovery){0};
	aggregated &= !path->version && (core || !path->group) && wants_aggregated(request);
	if (aggregated)
		all_resources(body, registry, core);
	else if (!path->group)
		group_list(body, registry);
	else if (path->version)
		there = resource_list(body, registry, path);
	else if (core) /* no CIDRs: the client already knows an address */
		api_buf_puts(body, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
				   "\"serverAddressByClientCIDRs\":[]}");
	else
		there = one_group(body, registry, path->group);
	if (!there)
		return (struct api_discovery){0};
	if (aggregated) {
		answer.type = AGGREGATED_TYPE;
		make_etag(body->data, answer.etag);
		if (theirs && strcmp(theirs, answer.etag) == 0) {
			answer.code = 304;
			api_buf_reset(body);
			return answer;
		}
	}
	api_buf_puts(body, "\n");
	return answer;
}

void
api_version_document(const char *program, struct api_buf *body)
{
	unsigned release = proto_schema_release(proto_schema_builtin());

	api_buf_printf(body,
		       "{\"major\":\"1\",\"minor\":\"%u\",\"gitVersion\":\"v1.%u.0+%s\",\"gitCommit\":\"%"
		       "s " INFORMER_VERSION
		       "\",\"gitTreeState\":\"clean\",\"buildDate\":\"1970-01-01T00:00:00Z\","
		       "\"goVersion\":\"none\",\"compiler\":\"gcc\",\"platform\":\"linux/amd64\"}\n",
		       release % 1000, release % 1000, program, program);
}
