/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery: rounds of requests. plan() looks which of the wanted names are still unknown and marks what to
 * read next; pump() reads it, a few at a time; when all have answered, plan() looks again. Each round marks
 * something not read before, or discovery is done:
 *
 *	1  /api/v1
 *	2  /apis                          a name is still unknown; with all that is in it where the server can
 *	3  /apis/GROUP/VERSION...         of the groups that names name
 *	4  the other preferred versions   an unqualified or unknown name is left
 *	5  the other versions             the same
 *
 * Asked again about what was absent (discovery_memory) it begins with 2, and with 1 only for a name without a
 * group; 304 ends it.
 *
 * Where /apis brought everything (aggregated discovery), 3 to 5 read only versions that it called stale.
 */
#include "writer/kube/discovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/flags/nearest.h"
#include "writer/kube/api_lists.h"
#include "writer/kube/question.h"
#include "writer/kube/well_known.h"
#include "writer/base/message.h"

#define MAX_IN_FLIGHT  8
#define MAX_BODY_BYTES (4u << 20)

/* One document to read: /apis, or the resources of one group and version. */
struct group_version {
	struct discovery *discovery;
	struct api_version of; /* group NULL for /apis, "" for core */
	enum { SOURCE_UNWANTED, SOURCE_WANTED, SOURCE_READING, SOURCE_READ, SOURCE_FAILED } state;
	char *failure;		/* why it could not be read */
	struct question *question;
};

struct discovery {
	struct transport *transport;
	discovery_done_fn *on_done;
	void *ctx;
	struct resource_name *names;
	size_t n_names;
	/* [0] is core, [1] /apis, then the groups in the server's order */
	struct group_version **group_versions;
	size_t n_sources, n_reading;
	bool used_builtin;
	struct discovery_memory *memory; /* or NULL */
	bool unchanged;
};

enum { SOURCE_CORE, SOURCE_GROUPS, SOURCE_FIRST_GROUP };

static void pump(struct discovery *d);

/* ---- sources ------------------------------------------------------------------------------- */

static void
source_free(struct group_version *group_version)
{
	if (!group_version)
		return;
	question_cancel(group_version->question);
	api_version_done(&group_version->of);
	free(group_version->failure);
	free(group_version);
}

/* Takes what `of` owns on success. */
static int
source_add(struct discovery *d, const struct api_version *of)
{
	struct group_version **larger = reallocarray(d->group_versions, d->n_sources + 1,
						     sizeof(struct group_version *)),
			     *group_version;

	if (!larger)
		return -ENOMEM;
	d->group_versions = larger;
	group_version = calloc(1, sizeof(*group_version));
	if (!group_version)
		return -ENOMEM;
	group_version->discovery = d;
	group_version->of = *of;
	if (of->is_read)
		group_version->state = SOURCE_READ;
	d->group_versions[d->n_sources++] = group_version;
	return 0;
}

static int
source_add_named(struct discovery *d, const char *group, const char *version)
{
	struct api_version of = {.group = strdup(group), .version = strdup(version), .preferred = true};
	int r = of.group && of.version ? source_add(d, &of) : -ENOMEM;

	if (r < 0)
		api_version_done(&of);
	return r;
}

/* Fill a source from the built-in table: what its group and version are known to have. */
static int
fill_builtin(struct group_version *group_version)
{
	struct api_version *of = &group_version->of;
	int r = 0;

	group_version->state = SOURCE_READ;
	group_version->discovery->used_builtin = true;
	of->resources = calloc(n_well_known, sizeof(*of->resources));
	if (!of->resources)
		return -ENOMEM;
	for (size_t i = 0; i < n_well_known && r == 0; i++) {
		if (strcmp(well_known[i].group, of->group) != 0 ||
		    strcmp(well_known[i].version, of->version) != 0)
			continue;
		r = kube_resource_copy(&well_known[i], &of->resources[of->n_resources]);
		of->n_resources += r == 0;
	}
	return r;
}

/* /apis is forbidden: the groups of the built-in table instead. */
static int
add_builtin_groups(struct discovery *d)
{
	int r;

	for (size_t i = 0; i < n_well_known; i++) {
		bool known = !*well_known[i].group;

		for (size_t j = SOURCE_FIRST_GROUP; j < d->n_sources && !known; j++)
			known = strcmp(d->group_versions[j]->of.group, well_known[i].group) == 0;
		if (known)
			continue;
		r = source_add_named(d, well_known[i].group, well_known[i].version);
		if (r == 0)
			r = fill_builtin(d->group_versions[d->n_sources - 1]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- which resource a name means -------------------------------------------------------------- */

static const struct kube_resource *
find_in(const struct group_version *group_version, const struct resource_name *name)
{
	for (size_t i = 0; i < group_version->of.n_resources; i++)
		if (resource_name_matches(name, &group_version->of.resources[i]))
			return &group_version->of.resources[i];
	return NULL;
}

/* Core, then preferred versions, then the others; within each the server's order. */
static const struct kube_resource *
find(const struct discovery *d, const struct resource_name *name)
{
	const struct kube_resource *found = find_in(d->group_versions[SOURCE_CORE], name);

	for (int preferred = 1; preferred >= 0 && !found; preferred--)
		for (size_t i = SOURCE_FIRST_GROUP; i < d->n_sources && !found; i++)
			if (d->group_versions[i]->of.preferred == preferred)
				found = find_in(d->group_versions[i], name);
	return found;
}

static bool
names_group(const struct resource_name *name, const struct group_version *group_version)
{
	if (!name->group || !group_version->of.group)
		return false;
	if (strcasecmp(name->group, group_version->of.group) == 0)
		return !name->version || strcmp(name->version, group_version->of.version) == 0;
	return name->whole_group && strcasecmp(name->whole_group, group_version->of.group) == 0;
}

/* ---- the rounds ------------------------------------------------------------------------------- */

static void
finish(struct discovery *d, int result, const char *message)
{
	d->on_done(d->ctx, d, result, message); /* may free d */
}

static bool
want(struct group_version *group_version)
{
	if (group_version->state != SOURCE_UNWANTED)
		return false;
	group_version->state = SOURCE_WANTED;
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
			if (names_group(&d->names[n], d->group_versions[i]))
				wanted |= want(d->group_versions[i]);
	}
	if (!unknown || wanted)
		return wanted;
	if (want(d->group_versions[SOURCE_GROUPS]))
		return true;
	for (int preferred = 1; preferred >= 0 && !wanted; preferred--)
		for (size_t i = SOURCE_FIRST_GROUP; i < d->n_sources; i++)
			if (d->group_versions[i]->of.preferred == preferred)
				wanted |= want(d->group_versions[i]);
	return wanted;
}

static int
take_groups(struct discovery *d, const cJSON *document, const char *etag)
{
	struct api_version *list;
	bool current = true;
	size_t n;
	int r = api_groups_read(document, &list, &n);

	for (size_t i = 0; i < n && r == 0; i++) {
		current &= list[i].is_read;
		r = source_add(d, &list[i]);
		if (r == 0)
			list[i] = (struct api_version){0};
	}
	api_versions_free(list, n);
	/* what is stale would have to be asked by itself again */
	if (d->memory && r == 0 && current && *etag)
		d->memory->etag = strdup(etag); /* without memory for it: in full next time */
	return r;
}

/* Returns 0, or a negative code when the answer is of no use. */
static int
take_answer(struct group_version *group_version, int result, const cJSON *document, const char *message,
	    char **ret_error)
{
	int status = question_status(group_version->question);
	struct discovery *d = group_version->discovery;
	bool groups = !group_version->of.group;

	if (groups && status == 304 && d->memory && d->memory->etag) {
		d->unchanged = true;
		return 0;
	}
	if (groups && d->memory)
		discovery_memory_done(d->memory);
	if (result >= 0 && status == 403)
		return groups ? add_builtin_groups(d) : fill_builtin(group_version);
	if (result >= 0 && status == 404 && groups)
		return 0; /* a server without groups */
	if (result == 0)
		result = groups ? take_groups(d, document, question_etag(group_version->question))
				: api_resources_read(document, &group_version->of);
	else if (result < 0)
		message_set(ret_error, result, "%s", message);
	if (result == 1 || result == -EPROTO)
		return message_set(ret_error, -EPROTO,
				   "%s does not answer as a Kubernetes API server does%s%s",
				   transport_server(d->transport), *message ? ": " : "", message);
	return result;
}

static void
on_answer(void *ctx, int result, const cJSON *document, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct group_version *group_version = ctx;
	struct discovery *d = group_version->discovery;

	d->n_reading--;
	result = take_answer(group_version, result, document, message, &error);
	group_version->question = NULL;
	group_version->state = result == 0 ? SOURCE_READ : SOURCE_FAILED;
	if (result < 0) {
		/* without core nothing is known; another group's failure is its own */
		if (group_version == d->group_versions[SOURCE_CORE] || result == -ENOMEM) {
			finish(d, result, error ? error : "no memory");
			return;
		}
		group_version->failure = error;
		error = NULL;
	}
	pump(d);
}

static int
read_source(struct group_version *group_version)
{
	struct discovery *d = group_version->discovery;
	const struct api_version *of = &group_version->of;
	struct transport_order order = {.flags = of->group ? 0 : TRANSPORT_DISCOVERY,
					.etag = of->group || !d->memory ? NULL : d->memory->etag};
	char path[2 * 256 + 16];
	int r;

	if (!of->group)
		snprintf(path, sizeof(path), "/apis");
	else if (!*of->group)
		snprintf(path, sizeof(path), "/api/%s", of->version);
	else
		snprintf(path, sizeof(path), "/apis/%s/%s", of->group, of->version);
	order.path_and_query = path;
	r = question_ask(d->transport, &order, "discovery", MAX_BODY_BYTES, on_answer, group_version,
			 &group_version->question);
	if (r < 0)
		return r;
	group_version->state = SOURCE_READING;
	d->n_reading++;
	return 0;
}

static void
pump(struct discovery *d)
{
	int r;

	do {
		for (size_t i = 0; i < d->n_sources && d->n_reading < MAX_IN_FLIGHT; i++) {
			if (d->group_versions[i]->state != SOURCE_WANTED)
				continue;
			r = read_source(d->group_versions[i]);
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

/* Is there a name that core may have, as far as is known? */
static bool
asks_core(const struct discovery *d)
{
	bool asks = !d->memory || !d->memory->etag;

	for (size_t i = 0; i < d->n_names; i++)
		asks |= !d->names[i].group || !*d->names[i].group;
	return asks;
}

/* Its first request. */
static int
begin(struct discovery *d)
{
	if (asks_core(d))
		return read_source(d->group_versions[SOURCE_CORE]);
	d->group_versions[SOURCE_CORE]->state = SOURCE_READ;
	return read_source(d->group_versions[SOURCE_GROUPS]);
}

int
discovery_start(struct transport *transport, const char *const *names, size_t n_names,
		struct discovery_memory *memory, discovery_done_fn *done, void *ctx,
		struct discovery **ret_discovery, char **ret_error)
{
	struct discovery *d = calloc(1, sizeof(*d));
	int r = -ENOMEM;

	if (!d)
		return -ENOMEM;
	d->transport = transport;
	d->memory = memory;
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
	r = source_add_named(d, "", "v1");
	if (r == 0)
		r = source_add(d, &(struct api_version){0});
	if (r == 0)
		r = begin(d);
	if (r < 0)
		goto fail;
	*ret_discovery = d;
	return 0;
fail:
	discovery_free(d);
	return r;
}

void
discovery_memory_done(struct discovery_memory *memory)
{
	free(memory->etag);
	memory->etag = NULL;
}

bool
discovery_is_unchanged(const struct discovery *discovery)
{
	return discovery->unchanged;
}

void
discovery_free(struct discovery *discovery)
{
	if (!discovery)
		return;
	for (size_t i = 0; i < discovery->n_sources; i++)
		source_free(discovery->group_versions[i]);
	free(discovery->group_versions);
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
static const struct group_version *
failed_source(const struct discovery *d, const struct resource_name *name)
{
	const struct group_version *failed = NULL;

	if (d->group_versions[SOURCE_GROUPS]->state == SOURCE_FAILED)
		return d->group_versions[SOURCE_GROUPS];
	for (size_t i = SOURCE_FIRST_GROUP; i < d->n_sources && !failed; i++)
		if (d->group_versions[i]->state == SOURCE_FAILED &&
		    (!name->group || names_group(name, d->group_versions[i])))
			failed = d->group_versions[i];
	return failed;
}

/* The resource whose plural, singular, kind or short name is nearest to what was typed. */
static const struct kube_resource *
nearest_resource(const struct discovery *d, const char *typed)
{
	const struct kube_resource **resources = NULL, *found = NULL;
	const char **words = NULL, *word;
	size_t n = 0;

	for (size_t i = 0; i < d->n_sources; i++)
		for (size_t j = 0; j < d->group_versions[i]->of.n_resources; j++)
			n += 3 + d->group_versions[i]->of.resources[j].n_short_names;
	words = calloc(n + 1, sizeof(*words));
	resources = calloc(n + 1, sizeof(*resources));
	if (!words || !resources)
		goto out;
	n = 0;
	for (size_t i = 0; i < d->n_sources; i++) {
		for (size_t j = 0; j < d->group_versions[i]->of.n_resources; j++) {
			const struct kube_resource *r = &d->group_versions[i]->of.resources[j];
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
	word = nearest(typed, words, n);
	for (size_t i = 0; i < n && word && !found; i++)
		if (words[i] == word)
			found = resources[i];
out:
	free(words);
	free(resources);
	return found;
}

static int
explain_unknown(const struct discovery *d, const char *typed, const struct resource_name *name,
		char **ret_error)
{
	_cleanup_(message_freep) char *near_name = NULL;
	const struct group_version *failed = failed_source(d, name);
	const struct kube_resource *near;

	if (failed)
		return message_set(ret_error, -EAGAIN,
				   "resource '%s' is not known so far: %s%s could not be read (%s)", typed,
				   failed->of.group ? "group " : "the list of groups",
				   failed->of.group ? failed->of.group : "",
				   failed->failure ? failed->failure : "no memory");
	near = nearest_resource(d, name->resource);
	if (near)
		near_name = kube_resource_group_name(near);
	return message_set(
		ret_error, -ENOENT, "%s has no resource '%s'%s%s%s%s", transport_server(d->transport), typed,
		near_name ? "; did you mean " : "", near_name ? near_name : "", near_name ? "?" : "",
		d->used_builtin ? "; this user may not ask what the server has (403), so only well-known "
				  "resources are known: bind it to ClusterRole system:discovery"
				: "");
}

int
discovery_resolve(const struct discovery *discovery, const char *name,
		  const struct kube_resource **ret_resource, char **ret_error)
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
		r = message_set(ret_error, -ENOTSUP, "resource '%s' cannot be cached: its verbs lack %s",
				name, found->can_list ? "watch" : "list");
	else
		*ret_resource = found;
	resource_name_done(&parsed);
	return r;
}
