/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/kube/api_catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/flags/nearest.h"
#include "writer/base/message.h"
#include "writer/kube/question.h"
#include "writer/kube/well_known.h"

/* ---- documents ---- */

static void
document_free(struct api_document *document)
{
	question_cancel(document->question);
	api_version_done(&document->of);
	free(document->failure);
	free(document);
}

int
api_catalogue_add(struct api_catalogue *c, const struct api_version *of)
{
	struct api_document **larger, *document;

	larger = reallocarray(c->documents, c->count + 1, sizeof(struct api_document *));
	if (!larger)
		return -ENOMEM;
	c->documents = larger;
	document = calloc(1, sizeof(*document));
	if (!document)
		return -ENOMEM;
	document->of = *of;
	if (of->is_read)
		document->state = API_READ;
	c->documents[c->count++] = document;
	return 0;
}

static int
add_named(struct api_catalogue *c, const char *group, const char *version)
{
	struct api_version of = {.group = strdup(group), .version = strdup(version), .preferred = true};
	int r = of.group && of.version ? api_catalogue_add(c, &of) : -ENOMEM;

	if (r < 0)
		api_version_done(&of);
	return r;
}

int
api_catalogue_begin(struct api_catalogue *c)
{
	int r = add_named(c, "", "v1");

	return r < 0 ? r : api_catalogue_add(c, &(struct api_version){0});
}

int
api_catalogue_fill_builtin(struct api_catalogue *c, struct api_document *document)
{
	struct api_version *of = &document->of;
	int r = 0;

	document->state = API_READ;
	c->used_builtin = true;
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

int
api_catalogue_add_builtin(struct api_catalogue *c)
{
	int r;

	for (size_t i = 0; i < n_well_known; i++) {
		bool known = !*well_known[i].group;

		for (size_t j = API_FIRST_GROUP; j < c->count && !known; j++)
			known = strcmp(c->documents[j]->of.group, well_known[i].group) == 0;
		if (known)
			continue;
		r = add_named(c, well_known[i].group, well_known[i].version);
		if (r == 0)
			r = api_catalogue_fill_builtin(c, c->documents[c->count - 1]);
		if (r < 0)
			return r;
	}
	return 0;
}

void
api_catalogue_done(struct api_catalogue *c)
{
	for (size_t i = 0; i < c->count; i++)
		document_free(c->documents[i]);
	free(c->documents);
}

/* ---- resolving a name ---- */

static const struct kube_resource *
find_in(const struct api_document *document, const struct resource_name *name)
{
	for (size_t i = 0; i < document->of.n_resources; i++)
		if (resource_name_matches(name, &document->of.resources[i]))
			return &document->of.resources[i];
	return NULL;
}

const struct kube_resource *
api_catalogue_find(const struct api_catalogue *c, const struct resource_name *name)
{
	const struct kube_resource *found = find_in(c->documents[API_CORE], name);

	for (int preferred = 1; preferred >= 0 && !found; preferred--)
		for (size_t i = API_FIRST_GROUP; i < c->count && !found; i++)
			if (c->documents[i]->of.preferred == preferred)
				found = find_in(c->documents[i], name);
	return found;
}

bool
api_document_is_of(const struct api_document *document, const struct resource_name *name)
{
	if (!name->group || !document->of.group)
		return false;
	if (strcasecmp(name->group, document->of.group) == 0)
		return !name->version || strcmp(name->version, document->of.version) == 0;
	return name->whole_group && strcasecmp(name->whole_group, document->of.group) == 0;
}

/* A document that failed and could have the name: the name may be known next time. NULL: none. */
static const struct api_document *
failed_document(const struct api_catalogue *c, const struct resource_name *name)
{
	const struct api_document *failed = NULL;

	if (c->documents[API_GROUPS]->state == API_FAILED)
		return c->documents[API_GROUPS];
	for (size_t i = API_FIRST_GROUP; i < c->count && !failed; i++)
		if (c->documents[i]->state == API_FAILED &&
		    (!name->group || api_document_is_of(c->documents[i], name)))
			failed = c->documents[i];
	return failed;
}

/* The resource whose plural, singular, kind or short name is nearest to what was typed. */
static const struct kube_resource *
nearest_resource(const struct api_catalogue *c, const char *typed)
{
	const struct kube_resource **resources = NULL, *found = NULL;
	const char **words = NULL, *word;
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++)
		for (size_t j = 0; j < c->documents[i]->of.n_resources; j++)
			n += 3 + c->documents[i]->of.resources[j].n_short_names;
	words = calloc(n + 1, sizeof(*words));
	resources = calloc(n + 1, sizeof(*resources));
	if (!words || !resources)
		goto out;
	n = 0;
	for (size_t i = 0; i < c->count; i++) {
		for (size_t j = 0; j < c->documents[i]->of.n_resources; j++) {
			const struct kube_resource *r = &c->documents[i]->of.resources[j];
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
explain_unknown(const struct api_catalogue *c, const char *server, const char *typed,
		const struct resource_name *name, char **ret_error)
{
	_cleanup_(message_freep) char *near_name = NULL;
	const struct api_document *failed = failed_document(c, name);
	const struct kube_resource *near;

	if (failed)
		return message_set(ret_error, -EAGAIN,
				   "resource '%s' is not known so far: %s%s could not be read (%s)", typed,
				   failed->of.group ? "group " : "the list of groups",
				   failed->of.group ? failed->of.group : "",
				   failed->failure ? failed->failure : "no memory");
	near = nearest_resource(c, name->resource);
	if (near)
		near_name = kube_resource_group_name(near);
	return message_set(
		ret_error, -ENOENT, "%s has no resource '%s'%s%s%s%s", server, typed,
		near_name ? "; did you mean " : "", near_name ? near_name : "", near_name ? "?" : "",
		c->used_builtin ? "; this user may not ask what the server has (403), so only well-known "
				  "resources are known: bind it to ClusterRole system:discovery"
				: "");
}

int
api_catalogue_resolve(const struct api_catalogue *c, const char *server, const char *name,
		      const struct kube_resource **ret_resource, char **ret_error)
{
	const struct kube_resource *found;
	struct resource_name parsed;
	int r;

	r = resource_name_parse(name, &parsed, ret_error);
	if (r < 0)
		return r;
	found = api_catalogue_find(c, &parsed);
	if (!found)
		r = explain_unknown(c, server, name, &parsed, ret_error);
	else if (!found->can_list || !found->can_watch)
		r = message_set(ret_error, -ENOTSUP, "resource '%s' cannot be cached: its verbs lack %s",
				name, found->can_list ? "watch" : "list");
	else
		*ret_resource = found;
	resource_name_done(&parsed);
	return r;
}
