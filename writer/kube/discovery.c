/*
 * Discovery: rounds of requests. plan() looks which of the wanted names are still unknown and
 * marks what to read next; pump() reads it, a few at a time; when all have answered,
 * plan() looks again. Each round marks something not read before, or discovery is done:
 *
 *	1  /api/v1
 *	2  /apis                           a name is still unknown; with all that is in it where the server can
 *	3  /apis/GROUP/VERSION...          of the groups that names name
 *	4  the other preferred versions    an unqualified or unknown name is left
 *	5  the other versions              the same
 *
 * Where /apis brought everything (aggregated discovery), 3 to 5 read only versions that it called stale.
 */
#include "writer/kube/discovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/kube/api_lists.h"
#include "writer/kube/status.h"
#include "writer/kube/well_known.h"
#include "writer/base/message.h"

#define MAX_IN_FLIGHT  8
#define MAX_BODY_BYTES (64u << 20)

/* One document to read: /apis, or the resources of one group and version. */
struct source {
	struct discovery *discovery;
	char *group, *version;	/* both NULL for /apis; group "" for core */
	bool preferred;
	enum { SOURCE_UNWANTED, SOURCE_WANTED, SOURCE_READING, SOURCE_READ, SOURCE_FAILED } state;
	char *failure;		/* why it could not be read */
	struct transport_request *request;
	int status;
	char *body;
	size_t len, size;
	struct kube_resource *resources;
	size_t n_resources;
};

struct discovery {
	struct transport *transport;
	discovery_done_fn *on_done;
	void *ctx;
	struct resource_name *names;
	size_t n_names;
	struct source **sources; /* [0] is core, [1] /apis, then the groups in the server's order */
	size_t n_sources, n_reading;
	bool used_builtin;
};

enum { SOURCE_CORE, SOURCE_GROUPS, SOURCE_FIRST_GROUP };

static void pump(struct discovery *d);

/* ---- sources ------------------------------------------------------------------------------- */

static void
source_free(struct source *source)
{
	if (!source)
		return;
	transport_cancel(source->request);
	for (size_t i = 0; i < source->n_resources; i++)
		kube_resource_done(&source->resources[i]);
	free(source->resources);
	free(source->group);
	free(source->version);
	free(source->failure);
	free(source->body);
	free(source);
}

static int
source_add(struct discovery *d, const char *group, const char *version, bool preferred, struct source **ret_source)
{
	struct source **larger = reallocarray(d->sources, d->n_sources + 1, sizeof(struct source *)), *source;

	if (!larger)
		return -ENOMEM;
	d->sources = larger;
	source = calloc(1, sizeof(*source));
	if (!source)
		return -ENOMEM;
	source->discovery = d;
	source->preferred = preferred;
	if ((group && !(source->group = strdup(group))) || (version && !(source->version = strdup(version)))) {
		source_free(source);
		return -ENOMEM;
	}
	d->sources[d->n_sources++] = source;
	if (ret_source)
		*ret_source = source;
	return 0;
}

static int
split_short_names(const char *text, struct kube_resource *resource)
{
	resource->short_names = calloc(strlen(text) / 2 + 1, sizeof(*resource->short_names));
	if (!resource->short_names)
		return -ENOMEM;
	for (size_t len; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		resource->short_names[resource->n_short_names] = strndup(text, len);
		if (!resource->short_names[resource->n_short_names++])
			return -ENOMEM;
	}
	return 0;
}

/* Fill a source from the built-in table: what its group and version are known to have. */
static int
fill_builtin(struct source *source)
{
	if (!source->group || !source->version)
		return -EINVAL; /* /apis itself is not of the table */
	source->discovery->used_builtin = true;
	source->resources = calloc(n_well_known, sizeof(*source->resources));
	if (!source->resources)
		return -ENOMEM;
	for (size_t i = 0; i < n_well_known; i++) {
		const struct well_known *w = &well_known[i];
		struct kube_resource *resource = &source->resources[source->n_resources];

		if (strcmp(w->group, source->group) != 0 || strcmp(w->version, source->version) != 0)
			continue;
		*resource = (struct kube_resource){
			.group = strdup(w->group),
			.version = strdup(w->version),
			.resource = strdup(w->resource),
			.kind = strdup(w->kind),
			.singular = strdup(w->singular),
			.namespaced = w->namespaced,
			.can_list = true,
			.can_watch = true,
		};
		source->n_resources++;
		if (!resource->group || !resource->version || !resource->resource || !resource->kind ||
		    !resource->singular || split_short_names(w->short_names, resource) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* /apis is forbidden: the groups of the built-in table instead. */
static int
add_builtin_groups(struct discovery *d)
{
	struct source *source;
	int r;

	for (size_t i = 0; i < n_well_known; i++) {
		bool known = !*well_known[i].group;

		for (size_t j = SOURCE_FIRST_GROUP; j < d->n_sources && !known; j++)
			known = strcmp(d->sources[j]->group, well_known[i].group) == 0;
		if (known)
			continue;
		r = source_add(d, well_known[i].group, well_known[i].version, true, &source);
		if (r < 0)
			return r;
		source->state = SOURCE_READ;
		r = fill_builtin(source);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- which resource a name means -------------------------------------------------------------- */

static const struct kube_resource *
find_in(const struct source *source, const struct resource_name *name)
{
	for (size_t i = 0; i < source->n_resources; i++)
		if (resource_name_matches(name, &source->resources[i]))
			return &source->resources[i];
	return NULL;
}

/* Core, then preferred versions, then the others; within each the server's order. */
static const struct kube_resource *
find(const struct discovery *d, const struct resource_name *name)
{
	const struct kube_resource *found = find_in(d->sources[SOURCE_CORE], name);

	for (int preferred = 1; preferred >= 0 && !found; preferred--)
		for (size_t i = SOURCE_FIRST_GROUP; i < d->n_sources && !found; i++)
			if (d->sources[i]->preferred == preferred)
				found = find_in(d->sources[i], name);
	return found;
}

static bool
names_group(const struct resource_name *name, const struct source *source)
{
	if (!name->group || !source->group)
		return false;
	if (strcasecmp(name->group, source->group) == 0)
		return !name->version || strcmp(name->version, source->version) == 0;
	return name->whole_group && strcasecmp(name->whole_group, source->group) == 0;
}

/* ---- the rounds ------------------------------------------------------------------------------- */

static void
finish(struct discovery *d, int result, const char *message)
{
	d->on_done(d->ctx, d, result, message); /* may free d */
}

static bool
want(struct source *source)
{
	if (source->state != SOURCE_UNWANTED)
		return false;
	source->state = SOURCE_WANTED;
	return true;
}

/* Mark what the unknown names need next. Returns whether there is something to read. */
static bool
plan(struct discovery *d)
{
	bool unknown = false, wanted = false;

	for (size_t n = 0; n < d->n_names; n++) {
		if (find(d, &d->names[n]))
			continue;
		unknown = true;
		for (size_t i = SOURCE_FIRST_GROUP; i < d->n_sources; i++)
			if (names_group(&d->names[n], d->sources[i]))
				wanted |= want(d->sources[i]);
	}
	if (!unknown || wanted)
		return wanted;
	if (want(d->sources[SOURCE_GROUPS]))
		return true;
	for (int preferred = 1; preferred >= 0 && !wanted; preferred--)
		for (size_t i = SOURCE_FIRST_GROUP; i < d->n_sources; i++)
			if (d->sources[i]->preferred == preferred)
				wanted |= want(d->sources[i]);
	return wanted;
}

/* /apis with everything: what it says of a stale version is not believed; that one is read by itself. */
static int
take_aggregated(struct discovery *d, struct api_group_discovery *list, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct source *added;

		r = source_add(d, list[i].group, list[i].version, list[i].preferred, &added);
		if (r < 0 || !list[i].current)
			continue;
		added->resources = list[i].resources;
		added->n_resources = list[i].n_resources;
		added->state = SOURCE_READ;
		list[i].resources = NULL;
		list[i].n_resources = 0;
	}
	return r;
}

static int
take_groups(struct discovery *d, const struct source *source)
{
	struct api_group_discovery *all;
	struct api_group_version *list;
	size_t n;
	int r;

	r = api_group_discovery_parse(source->body, source->len, &all, &n);
	if (r == 0) {
		r = take_aggregated(d, all, n);
		api_group_discoveries_free(all, n);
		return r;
	}
	if (r != -EPROTO)
		return r;
	r = api_group_list_parse(source->body, source->len, &list, &n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n && r == 0; i++)
		r = source_add(d, list[i].group, list[i].version, list[i].preferred, NULL);
	api_group_versions_free(list, n);
	return r;
}

/* A document came whole. Returns 0, or a negative code when it is of no use. */
static int
take_answer(struct source *source, char **ret_error)
{
	struct discovery *d = source->discovery;
	struct kube_status status;
	int r;

	if (source->status == 200) {
		r = source->group ? api_resource_list_parse(source->body, source->len, source->group, source->version,
							    &source->resources, &source->n_resources)
				  : take_groups(d, source);
		if (r == -EPROTO)
			message_set(ret_error, r, "%s does not answer as a Kubernetes API server does",
				    transport_server(d->transport));
		return r;
	}
	if (source->status == 403)
		return source->group ? fill_builtin(source) : add_builtin_groups(d);
	if (source->status == 404 && !source->group)
		return 0; /* a server without groups */
	r = kube_status_parse(source->body, source->len, source->status, &status);
	if (r < 0)
		return r;
	if (source->status == 401)
		r = message_set(ret_error, -EACCES, TRANSPORT_UNAUTHORIZED,
				transport_server(d->transport));
	else if (source->status == 429 || source->status >= 500)
		r = message_set(ret_error, -EAGAIN, "%s answers %d to discovery: %s", transport_server(d->transport),
				source->status, status.message);
	else
		r = message_set(ret_error, -EPROTO, "%s answers %d to discovery, which a Kubernetes API server does not: %s",
				transport_server(d->transport), source->status, status.message);
	kube_status_done(&status);
	return r;
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct source *source = ctx;

	source->status = response->status;
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct source *source = ctx;
	char *larger;

	if (len > MAX_BODY_BYTES - source->len)
		return -EFBIG;
	if (source->len + len > source->size) {
		larger = realloc(source->body, 2 * (source->len + len));
		if (!larger)
			return -ENOMEM;
		source->body = larger;
		source->size = 2 * (source->len + len);
	}
	memcpy(source->body + source->len, data, len);
	source->len += len;
	return 0;
}

static void
on_done(void *ctx, int result, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct source *source = ctx;
	struct discovery *d = source->discovery;

	source->request = NULL;
	d->n_reading--;
	if (result == 0)
		result = take_answer(source, &error);
	else
		message_set(&error, result, "%s", message);
	free(source->body);
	source->body = NULL;
	source->len = source->size = 0;
	source->state = result == 0 ? SOURCE_READ : SOURCE_FAILED;
	if (result < 0) {
		/* without core nothing is known; another group's failure is its own */
		if (source == d->sources[SOURCE_CORE] || result == -ENOMEM) {
			finish(d, result, error ? error : "no memory");
			return;
		}
		source->failure = error;
		error = NULL;
	}
	pump(d);
}

static const struct transport_callbacks callbacks = {on_response, on_data, on_done};

static int
read_source(struct source *source)
{
	char path[2 * 256 + 16];
	int r;

	if (!source->group)
		snprintf(path, sizeof(path), "/apis");
	else if (!*source->group)
		snprintf(path, sizeof(path), "/api/%s", source->version);
	else
		snprintf(path, sizeof(path), "/apis/%s/%s", source->group, source->version);
	r = transport_get(source->discovery->transport, path, source->group ? 0 : TRANSPORT_DISCOVERY, &callbacks, source, &source->request);
	if (r < 0)
		return r;
	source->state = SOURCE_READING;
	source->discovery->n_reading++;
	return 0;
}

static void
pump(struct discovery *d)
{
	int r;

	do {
		for (size_t i = 0; i < d->n_sources && d->n_reading < MAX_IN_FLIGHT; i++) {
			if (d->sources[i]->state != SOURCE_WANTED)
				continue;
			r = read_source(d->sources[i]);
			if (r < 0) {
				finish(d, r, "no memory");
				return;
			}
		}
		if (d->n_reading > 0)
			return;
	} while (plan(d));
	finish(d, 0, "");
}

/* ---- outside ---------------------------------------------------------------------------------- */

int
discovery_start(struct transport *transport, const char *const *names, size_t n_names, discovery_done_fn *done,
		void *ctx, struct discovery **ret_discovery, char **ret_error)
{
	struct discovery *d = calloc(1, sizeof(*d));
	int r = -ENOMEM;

	if (!d)
		return -ENOMEM;
	d->transport = transport;
	d->on_done = done;
	d->ctx = ctx;
	d->names = calloc(n_names + 1, sizeof(*d->names));
	if (!d->names)
		goto fail;
	for (; d->n_names < n_names; d->n_names++) {
		r = resource_name_parse(names[d->n_names], &d->names[d->n_names], ret_error);
		if (r < 0)
			goto fail;
	}
	r = source_add(d, "", "v1", true, NULL);
	if (r == 0)
		r = source_add(d, NULL, NULL, false, NULL);
	if (r == 0)
		r = read_source(d->sources[SOURCE_CORE]);
	if (r < 0)
		goto fail;
	*ret_discovery = d;
	return 0;
fail:
	discovery_free(d);
	return r;
}

void
discovery_free(struct discovery *discovery)
{
	if (!discovery)
		return;
	for (size_t i = 0; i < discovery->n_sources; i++)
		source_free(discovery->sources[i]);
	free(discovery->sources);
	for (size_t i = 0; i < discovery->n_names; i++)
		resource_name_done(&discovery->names[i]);
	free(discovery->names);
	free(discovery);
}

bool
discovery_used_builtin(const struct discovery *discovery)
{
	return discovery->used_builtin;
}

/* Why a name may be unknown only this time: a source that failed and could have it. */
static const struct source *
failed_source(const struct discovery *d, const struct resource_name *name)
{
	const struct source *failed = NULL;

	if (d->sources[SOURCE_GROUPS]->state == SOURCE_FAILED)
		return d->sources[SOURCE_GROUPS];
	for (size_t i = SOURCE_FIRST_GROUP; i < d->n_sources && !failed; i++)
		if (d->sources[i]->state == SOURCE_FAILED && (!name->group || names_group(name, d->sources[i])))
			failed = d->sources[i];
	return failed;
}

/* The resource whose plural, singular, kind or short name is nearest to what was typed. */
static const struct kube_resource *
nearest(const struct discovery *d, const char *typed)
{
	const struct kube_resource **resources = NULL, *found = NULL;
	const char **words = NULL, *word;
	size_t n = 0;

	for (size_t i = 0; i < d->n_sources; i++)
		for (size_t j = 0; j < d->sources[i]->n_resources; j++)
			n += 3 + d->sources[i]->resources[j].n_short_names;
	words = calloc(n + 1, sizeof(*words));
	resources = calloc(n + 1, sizeof(*resources));
	if (!words || !resources)
		goto out;
	n = 0;
	for (size_t i = 0; i < d->n_sources; i++) {
		for (size_t j = 0; j < d->sources[i]->n_resources; j++) {
			const struct kube_resource *r = &d->sources[i]->resources[j];
			size_t from = n;

			words[n++] = r->resource;
			words[n++] = r->singular;
			words[n++] = r->kind;
			for (size_t k = 0; k < r->n_short_names; k++)
				words[n++] = r->short_names[k];
			while (from < n)
				resources[from++] = r;
		}
	}
	word = message_nearest(typed, words, n);
	for (size_t i = 0; i < n && word && !found; i++)
		if (words[i] == word)
			found = resources[i];
out:
	free(words);
	free(resources);
	return found;
}

static int
explain_unknown(const struct discovery *d, const char *typed, const struct resource_name *name, char **ret_error)
{
	_cleanup_(message_freep) char *near_name = NULL;
	const struct source *failed = failed_source(d, name);
	const struct kube_resource *near;

	if (failed)
		return message_set(ret_error, -EAGAIN, "resource '%s' is not known so far: %s%s could not be read (%s)", typed,
				   failed->group ? "group " : "the list of groups", failed->group ? failed->group : "",
				   failed->failure ? failed->failure : "no memory");
	near = nearest(d, name->resource);
	if (near)
		near_name = kube_resource_group_name(near);
	return message_set(ret_error, -ENOENT, "%s has no resource '%s'%s%s%s%s", transport_server(d->transport), typed,
			   near_name ? "; did you mean " : "", near_name ? near_name : "", near_name ? "?" : "",
			   d->used_builtin ? "; this user may not ask what the server has (403), so only well-known "
					     "resources are known: bind it to ClusterRole system:discovery"
					   : "");
}

int
discovery_resolve(const struct discovery *discovery, const char *name, const struct kube_resource **ret_resource,
		  char **ret_error)
{
	const struct kube_resource *found;
	struct resource_name parsed;
	int r;

	r = resource_name_parse(name, &parsed, ret_error);
	if (r < 0)
		return r;
	found = find(discovery, &parsed);
	if (!found)
		r = explain_unknown(discovery, name, &parsed, ret_error);
	else if (!found->can_list || !found->can_watch)
		r = message_set(ret_error, -ENOTSUP, "resource '%s' cannot be cached: its verbs lack %s", name,
				found->can_list ? "watch" : "list");
	else
		*ret_resource = found;
	resource_name_done(&parsed);
	return r;
}
