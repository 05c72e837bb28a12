/* SPDX-License-Identifier: Apache-2.0 */
/* Makes registry entries from a definition. */
#include "tools/informer-sim/crd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/registry.h"
#include "tools/informer-sim/refused_write.h"
#include "tools/informer-sim/rng.h"

bool
sim_is_crd(const struct api_resource *resource)
{
	return !strcmp(resource->plural, "customresourcedefinitions") &&
	       !strcmp(resource->group, "apiextensions.k8s.io");
}

/* ---- checking ---------------------------------------------------------------- */

static int
require(const struct api_resource *crds, const struct api_doc *doc, const char *name, const char *path,
	struct api_status *status)
{
	const struct api_node *node = sim_path(doc->root, path);

	if (node && node->type == API_STRING && node->text_len && node->text_len < 200)
		return 0;
	return sim_status_invalid(status, crds, name, "FieldValueRequired", path, "Required value");
}

#define SCALE "spec.versions[].subresources.scale."

/* Check a path under `below`, as ".spec.". at: the field's path, SCALE and its name (kept by status). */
static int
check_scale_path(const struct api_resource *crds, const struct api_node *scale, const char *name,
		 const char *at, const char *below, struct api_status *status)
{
	_cleanup_(api_freep) char *path = api_text_dup(api_get(scale, at + strlen(SCALE)));
	_cleanup_(api_buf_done) struct api_buf why = {0};

	if (!strncmp(path, below, strlen(below)) && path[strlen(below)] && !strchr(path, '['))
		return 0;
	if (!path[0])
		return sim_status_invalid(status, crds, name, "FieldValueRequired", at, "Required value");
	api_buf_printf(&why, "Invalid value: \"%.250s\": should be a json path under %.*s", path,
		       (int)strlen(below) - 1, below);
	return sim_status_invalid(status, crds, name, "FieldValueInvalid", at, why.data);
}

static int
check_scale(const struct api_resource *crds, const struct api_node *scale, const char *name,
	    struct api_status *status)
{
	if (!scale)
		return 0;
	if (check_scale_path(crds, scale, name, SCALE "specReplicasPath", ".spec.", status) < 0)
		return -EINVAL;
	return check_scale_path(crds, scale, name, SCALE "statusReplicasPath", ".status.", status);
}

static int
check_versions(const struct api_resource *crds, const struct api_doc *doc, const char *name,
	       struct api_status *status)
{
	const struct api_node *versions = sim_path(doc->root, "spec.versions");
	unsigned stored = 0;

	for (const struct api_node *v = versions && versions->type == API_ARRAY ? versions->child : NULL; v;
	     v = v->next) {
		const struct api_node *storage = api_get(v, "storage"), *version = api_get(v, "name");

		if (!version || version->type != API_STRING || !version->text_len)
			return sim_status_invalid(status, crds, name, "FieldValueRequired",
						  "spec.versions[].name", "Required value");
		stored += storage && storage->type == API_TRUE;
		if (check_scale(crds, sim_path(v, "subresources.scale"), name, status) < 0)
			return -EINVAL;
	}
	if (stored != 1)
		return sim_status_invalid(
			status, crds, name, "FieldValueInvalid", "spec.versions",
			"Invalid value: must have exactly one version marked as storage version");
	return 0;
}

static int
check(const struct api_resource *crds, const struct api_doc *doc, struct api_status *status)
{
	static const char *const needed[] = {"spec.group", "spec.names.plural", "spec.names.kind",
					     "spec.scope"};
	_cleanup_(api_freep) char *name = api_text_dup(sim_path(doc->root, "metadata.name"));
	_cleanup_(api_freep) char *plural = api_text_dup(sim_path(doc->root, "spec.names.plural"));
	_cleanup_(api_freep) char *group = api_text_dup(sim_path(doc->root, "spec.group"));
	_cleanup_(api_buf_done) struct api_buf right = {0};
	_cleanup_(api_buf_done) struct api_buf why = {0};
	const struct api_node *scope = sim_path(doc->root, "spec.scope");

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (require(crds, doc, name, needed[i], status) < 0)
			return -EINVAL;
	api_buf_printf(&right, "%s.%s", plural, group);
	if (strcmp(name, right.data) != 0) {
		api_buf_printf(&why, "Invalid value: \"%.250s\": must be spec.names.plural+\".\"+spec.group",
			       name);
		return sim_status_invalid(status, crds, name, "FieldValueInvalid", "metadata.name", why.data);
	}
	if (!api_is(scope, "Namespaced") && !api_is(scope, "Cluster")) {
		_cleanup_(api_freep) char *said = api_text_dup(scope);

		api_buf_printf(&why,
			       "Unsupported value: \"%.250s\": supported values: \"Cluster\", \"Namespaced\"",
			       said);
		return sim_status_invalid(status, crds, name, "FieldValueNotSupported", "spec.scope",
					  why.data);
	}
	return check_versions(crds, doc, name, status);
}

static struct api_node *
object_in(struct api_doc *doc, struct api_node *parent, const char *name, enum api_type type)
{
	if (!api_get(parent, name) || api_get(parent, name)->type != type)
		sim_set(doc, parent, name, api_new(doc, type));
	return api_get(parent, name);
}

static void
condition(struct api_doc *doc, struct api_node *list, const char *type, const char *reason,
	  const char *message, const char *time_text)
{
	struct api_node *item = api_new(doc, API_OBJECT);

	sim_set_string(doc, item, "type", type);
	sim_set_string(doc, item, "status", "True");
	sim_set_string(doc, item, "lastTransitionTime", time_text);
	sim_set_string(doc, item, "reason", reason);
	sim_set_string(doc, item, "message", message);
	api_append(list, item);
}

int
sim_crd_prepare(const struct api_resource *crds, struct api_doc *doc, struct api_status *status)
{
	struct api_node *names, *state, *list;
	_cleanup_(api_freep) char *since = NULL;
	_cleanup_(api_freep) char *kind = NULL;

	if (check(crds, doc, status) < 0)
		return -EINVAL;
	since = api_text_dup(sim_path(doc->root, "metadata.creationTimestamp"));
	kind = api_text_dup(sim_path(doc->root, "spec.names.kind"));
	names = sim_path(doc->root, "spec.names");
	if (!api_get(names, "listKind")) {
		_cleanup_(api_buf_done) struct api_buf text = {0};

		api_buf_printf(&text, "%sList", kind);
		sim_set_string(doc, names, "listKind", text.data);
	}
	if (!api_get(names, "singular")) {
		for (char *c = kind; *c; c++)
			*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
		sim_set_string(doc, names, "singular", kind);
	}
	state = object_in(doc, doc->root, "status", API_OBJECT);
	list = api_new(doc, API_ARRAY);
	condition(doc, list, "NamesAccepted", "NoConflicts", "no conflicts found", since);
	condition(doc, list, "Established", "InitialNamesAccepted", "the initial names have been accepted",
		  since);
	sim_set(doc, state, "conditions", list);
	sim_set(doc, state, "acceptedNames", sim_clone(doc, names));
	list = api_new(doc, API_ARRAY);
	for (const struct api_node *v = sim_path(doc->root, "spec.versions")->child; v; v = v->next)
		if (api_get(v, "storage") && api_get(v, "storage")->type == API_TRUE)
			api_append(list, sim_clone(doc, api_get(v, "name")));
	for (struct api_node *v = list->child; v; v = v->next)
		v->key = NULL;
	sim_set(doc, state, "storedVersions", list);
	return 0;
}

/* ---- serving ----------------------------------------------------------------- */

static bool
is_true(const struct api_node *node)
{
	return node && node->type == API_TRUE;
}

/* ".spec.replicas" without its '.', as our paths. */
static const char *
without_dot(const char *path)
{
	return path[0] == '.' ? path + 1 : path;
}

/* Define one version. It shows the objects of the entry `first`; NULL: its own. */
static struct api_resource *
define(struct api_registry *registry, const struct api_doc *doc, const struct api_node *version,
       const struct api_resource *first)
{
	const struct api_node *names = sim_path(doc->root, "spec.names"),
			      *shorts = api_get(names, "shortNames");
	_cleanup_(api_freep) char *group = api_text_dup(sim_path(doc->root, "spec.group"));
	_cleanup_(api_freep) char *plural = api_text_dup(api_get(names, "plural"));
	_cleanup_(api_freep) char *singular = api_text_dup(api_get(names, "singular"));
	_cleanup_(api_freep) char *kind = api_text_dup(api_get(names, "kind"));
	_cleanup_(api_freep) char *name = api_text_dup(api_get(version, "name"));
	const struct api_node *scale = sim_path(version, "subresources.scale");
	_cleanup_(api_freep) char *replicas = api_text_dup(api_get(scale, "specReplicasPath"));
	_cleanup_(api_freep) char *ready = api_text_dup(api_get(scale, "statusReplicasPath"));
	_cleanup_(api_freep) char *selector = api_text_dup(api_get(scale, "labelSelectorPath"));
	struct api_resource like = {.group = group,
				    .version = name,
				    .plural = plural,
				    .singular = singular[0] ? singular : NULL,
				    .kind = kind,
				    .namespaced = api_is(sim_path(doc->root, "spec.scope"), "Namespaced"),
				    .has_status = sim_path(version, "subresources.status") != NULL,
				    .scale = scale != NULL,
				    .scale_spec = without_dot(replicas),
				    .scale_status = without_dot(ready),
				    .scale_selector = without_dot(selector),
				    .custom = true};
	char *texts[3] = {NULL};
	struct api_resource *found = NULL;
	unsigned n = 0;

	for (const struct api_node *s = shorts ? shorts->child : NULL; s && n < 2; s = s->next) {
		texts[n] = api_text_dup(s);
		like.shorts[n] = texts[n];
		n++;
	}
	for (const struct api_node *c = api_get(names, "categories") ? api_get(names, "categories")->child
								     : NULL;
	     c; c = c->next)
		like.in_all |= api_is(c, "all");
	(void)sim_registry_define(registry, &like, first, &found); /* a full registry does not serve it */
	for (unsigned i = 0; i < 3; i++)
		free(texts[i]);
	return found;
}

/* The served entry of a version; NULL: none, or a built-in one. */
static struct api_resource *
find_version(struct api_registry *registry, const struct api_doc *doc, const struct api_node *version)
{
	_cleanup_(api_freep) char *group = api_text_dup(sim_path(doc->root, "spec.group"));
	_cleanup_(api_freep) char *plural = api_text_dup(sim_path(doc->root, "spec.names.plural"));
	_cleanup_(api_freep) char *name = api_text_dup(api_get(version, "name"));
	struct api_resource *found = api_registry_find(registry, group, name, plural);

	return found && found->custom ? found : NULL;
}

static const struct api_node *
versions_of(const struct api_doc *doc)
{
	const struct api_node *versions = sim_path(doc->root, "spec.versions");

	return versions ? versions->child : NULL;
}

void
sim_crd_serve(struct api_registry *registry, struct sim_store *store, const struct api_resource *crds,
	      const struct api_object *old, const struct api_object *object)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_doc_done) struct api_doc old_doc = {0};
	const struct api_resource *first = NULL;

	sim_object_edit(crds, object, &doc);
	for (const struct api_node *v = versions_of(&doc); v; v = v->next) {
		const struct api_resource *now = find_version(registry, &doc, v);
		bool new = !now;

		if (!is_true(api_get(v, "served")))
			continue;
		if (!now)
			now = define(registry, &doc, v, first);
		if (new && now && !first)
			sim_store_forget(store, now);
		first = first ? first : now;
	}
	if (!old)
		return;
	sim_object_edit(crds, old, &old_doc);
	for (const struct api_node *v = versions_of(&old_doc); v; v = v->next) {
		struct api_resource *was = find_version(registry, &old_doc, v);
		bool still = false;

		for (const struct api_node *w = versions_of(&doc); w; w = w->next)
			still |= is_true(api_get(w, "served")) &&
				 sim_equal(api_get(v, "name"), api_get(w, "name"));
		if (was && !still)
			api_registry_drop(was);
	}
}

static void
delete_all(struct sim_store *store, const struct api_resource *resource)
{
	for (;;) {
		_cleanup_(api_object_unrefp) struct api_object *object = sim_store_pick(store, resource, 0,
											0);
		uint64_t rv;

		if (!object)
			return;
		/* if the object changed meanwhile, it is picked again */
		(void)sim_store_delete(store, resource, object, &rv);
	}
}

void
sim_crd_withdraw(struct api_registry *registry, struct sim_store *store, const struct api_resource *crds,
		 const struct api_object *object)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};

	sim_object_edit(crds, object, &doc);
	for (const struct api_node *v = versions_of(&doc); v; v = v->next) {
		struct api_resource *was = find_version(registry, &doc, v);

		if (!was)
			continue;
		delete_all(store, was);
		api_registry_drop(was);
		delete_all(store, was); /* objects that requests created meanwhile */
	}
}
