/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a definition's document to entries of the registry.
 */
#include "tools/informer-sim/crd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/rng.h"

bool
sim_is_crd(const struct sim_resource *resource)
{
	return !strcmp(resource->plural, "customresourcedefinitions") &&
	       !strcmp(resource->group, "apiextensions.k8s.io");
}

/* ---- checking ---------------------------------------------------------------- */

static int
require(const struct sim_resource *crds, const struct sim_doc *doc, const char *name, const char *path,
	struct sim_status *status)
{
	const struct sim_node *node = sim_path(doc->root, path);

	if (node && node->type == SIM_STRING && node->text_len && node->text_len < 200)
		return 0;
	return sim_status_invalid(status, crds, name, "FieldValueRequired", path, "Required value");
}

#define SCALE "spec.versions[].subresources.scale."

/* A path below `.spec` or `.status`; at: where it stands, SCALE and its name (kept by status). */
static int
check_scale_path(const struct sim_resource *crds, const struct sim_node *scale, const char *name,
		 const char *at, const char *below, struct sim_status *status)
{
	_cleanup_(sim_freep) char *path = sim_text_dup(sim_get(scale, at + strlen(SCALE)));
	_cleanup_(sim_buf_done) struct sim_buf why = {0};

	if (!strncmp(path, below, strlen(below)) && path[strlen(below)] && !strchr(path, '['))
		return 0;
	if (!path[0])
		return sim_status_invalid(status, crds, name, "FieldValueRequired", at, "Required value");
	sim_buf_printf(&why, "Invalid value: \"%.250s\": should be a json path under %.*s", path,
		       (int)strlen(below) - 1, below);
	return sim_status_invalid(status, crds, name, "FieldValueInvalid", at, why.data);
}

static int
check_scale(const struct sim_resource *crds, const struct sim_node *scale, const char *name,
	    struct sim_status *status)
{
	if (!scale)
		return 0;
	if (check_scale_path(crds, scale, name, SCALE "specReplicasPath", ".spec.", status) < 0)
		return -EINVAL;
	return check_scale_path(crds, scale, name, SCALE "statusReplicasPath", ".status.", status);
}

static int
check_versions(const struct sim_resource *crds, const struct sim_doc *doc, const char *name,
	       struct sim_status *status)
{
	const struct sim_node *versions = sim_path(doc->root, "spec.versions");
	unsigned stored = 0;

	for (const struct sim_node *v = versions && versions->type == SIM_ARRAY ? versions->child : NULL; v;
	     v = v->next) {
		const struct sim_node *storage = sim_get(v, "storage"), *version = sim_get(v, "name");

		if (!version || version->type != SIM_STRING || !version->text_len)
			return sim_status_invalid(status, crds, name, "FieldValueRequired",
						  "spec.versions[].name", "Required value");
		stored += storage && storage->type == SIM_TRUE;
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
check(const struct sim_resource *crds, const struct sim_doc *doc, struct sim_status *status)
{
	static const char *const needed[] = {"spec.group", "spec.names.plural", "spec.names.kind",
					     "spec.scope"};
	_cleanup_(sim_freep) char *name = sim_text_dup(sim_path(doc->root, "metadata.name"));
	_cleanup_(sim_freep) char *plural = sim_text_dup(sim_path(doc->root, "spec.names.plural"));
	_cleanup_(sim_freep) char *group = sim_text_dup(sim_path(doc->root, "spec.group"));
	_cleanup_(sim_buf_done) struct sim_buf right = {0};
	_cleanup_(sim_buf_done) struct sim_buf why = {0};
	const struct sim_node *scope = sim_path(doc->root, "spec.scope");

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (require(crds, doc, name, needed[i], status) < 0)
			return -EINVAL;
	sim_buf_printf(&right, "%s.%s", plural, group);
	if (strcmp(name, right.data) != 0) {
		sim_buf_printf(&why, "Invalid value: \"%.250s\": must be spec.names.plural+\".\"+spec.group",
			       name);
		return sim_status_invalid(status, crds, name, "FieldValueInvalid", "metadata.name", why.data);
	}
	if (!sim_is(scope, "Namespaced") && !sim_is(scope, "Cluster")) {
		_cleanup_(sim_freep) char *said = sim_text_dup(scope);

		sim_buf_printf(&why,
			       "Unsupported value: \"%.250s\": supported values: \"Cluster\", \"Namespaced\"",
			       said);
		return sim_status_invalid(status, crds, name, "FieldValueNotSupported", "spec.scope",
					  why.data);
	}
	return check_versions(crds, doc, name, status);
}

static struct sim_node *
object_in(struct sim_doc *doc, struct sim_node *parent, const char *name, enum sim_type type)
{
	if (!sim_get(parent, name) || sim_get(parent, name)->type != type)
		sim_set(doc, parent, name, sim_new(doc, type));
	return sim_get(parent, name);
}

static void
condition(struct sim_doc *doc, struct sim_node *list, const char *type, const char *reason,
	  const char *message, const char *time_text)
{
	struct sim_node *item = sim_new(doc, SIM_OBJECT);

	sim_set_string(doc, item, "type", type);
	sim_set_string(doc, item, "status", "True");
	sim_set_string(doc, item, "lastTransitionTime", time_text);
	sim_set_string(doc, item, "reason", reason);
	sim_set_string(doc, item, "message", message);
	sim_append(list, item);
}

int
sim_crd_prepare(const struct sim_resource *crds, struct sim_doc *doc, struct sim_status *status)
{
	struct sim_node *names, *state, *list;
	_cleanup_(sim_freep) char *since = NULL;
	_cleanup_(sim_freep) char *kind = NULL;

	if (check(crds, doc, status) < 0)
		return -EINVAL;
	since = sim_text_dup(sim_path(doc->root, "metadata.creationTimestamp"));
	kind = sim_text_dup(sim_path(doc->root, "spec.names.kind"));
	names = sim_path(doc->root, "spec.names");
	if (!sim_get(names, "listKind")) {
		_cleanup_(sim_buf_done) struct sim_buf text = {0};

		sim_buf_printf(&text, "%sList", kind);
		sim_set_string(doc, names, "listKind", text.data);
	}
	if (!sim_get(names, "singular")) {
		for (char *c = kind; *c; c++)
			*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
		sim_set_string(doc, names, "singular", kind);
	}
	state = object_in(doc, doc->root, "status", SIM_OBJECT);
	list = sim_new(doc, SIM_ARRAY);
	condition(doc, list, "NamesAccepted", "NoConflicts", "no conflicts found", since);
	condition(doc, list, "Established", "InitialNamesAccepted", "the initial names have been accepted",
		  since);
	sim_set(doc, state, "conditions", list);
	sim_set(doc, state, "acceptedNames", sim_clone(doc, names));
	list = sim_new(doc, SIM_ARRAY);
	for (const struct sim_node *v = sim_path(doc->root, "spec.versions")->child; v; v = v->next)
		if (sim_get(v, "storage") && sim_get(v, "storage")->type == SIM_TRUE)
			sim_append(list, sim_clone(doc, sim_get(v, "name")));
	for (struct sim_node *v = list->child; v; v = v->next)
		v->key = NULL;
	sim_set(doc, state, "storedVersions", list);
	return 0;
}

/* ---- serving ----------------------------------------------------------------- */

static bool
is_true(const struct sim_node *node)
{
	return node && node->type == SIM_TRUE;
}

/* ".spec.replicas" as paths are written here. */
static const char *
without_dot(const char *path)
{
	return path[0] == '.' ? path + 1 : path;
}

/* Define one version; `first` is the entry whose objects it shows, NULL: its own. */
static struct sim_resource *
define(struct sim_registry *registry, const struct sim_doc *doc, const struct sim_node *version,
       const struct sim_resource *first)
{
	const struct sim_node *names = sim_path(doc->root, "spec.names"),
			      *shorts = sim_get(names, "shortNames");
	_cleanup_(sim_freep) char *group = sim_text_dup(sim_path(doc->root, "spec.group"));
	_cleanup_(sim_freep) char *plural = sim_text_dup(sim_get(names, "plural"));
	_cleanup_(sim_freep) char *singular = sim_text_dup(sim_get(names, "singular"));
	_cleanup_(sim_freep) char *kind = sim_text_dup(sim_get(names, "kind"));
	_cleanup_(sim_freep) char *name = sim_text_dup(sim_get(version, "name"));
	const struct sim_node *scale = sim_path(version, "subresources.scale");
	_cleanup_(sim_freep) char *replicas = sim_text_dup(sim_get(scale, "specReplicasPath"));
	_cleanup_(sim_freep) char *ready = sim_text_dup(sim_get(scale, "statusReplicasPath"));
	_cleanup_(sim_freep) char *selector = sim_text_dup(sim_get(scale, "labelSelectorPath"));
	struct sim_resource like = {.group = group,
				    .version = name,
				    .plural = plural,
				    .singular = singular[0] ? singular : NULL,
				    .kind = kind,
				    .namespaced = sim_is(sim_path(doc->root, "spec.scope"), "Namespaced"),
				    .has_status = sim_path(version, "subresources.status") != NULL,
				    .scale = scale != NULL,
				    .scale_spec = without_dot(replicas),
				    .scale_status = without_dot(ready),
				    .scale_selector = without_dot(selector),
				    .custom = true};
	char *texts[3] = {NULL};
	struct sim_resource *found = NULL;
	unsigned n = 0;

	for (const struct sim_node *s = shorts ? shorts->child : NULL; s && n < 2; s = s->next) {
		texts[n] = sim_text_dup(s);
		like.shorts[n] = texts[n];
		n++;
	}
	for (const struct sim_node *c = sim_get(names, "categories") ? sim_get(names, "categories")->child
								     : NULL;
	     c; c = c->next)
		like.in_all |= sim_is(c, "all");
	(void)sim_registry_define(registry, &like, first, &found); /* full: it is not served */
	for (unsigned i = 0; i < 3; i++)
		free(texts[i]);
	return found;
}

/* What is served of it now; a built-in one of that name is none of ours. */
static struct sim_resource *
find_version(struct sim_registry *registry, const struct sim_doc *doc, const struct sim_node *version)
{
	_cleanup_(sim_freep) char *group = sim_text_dup(sim_path(doc->root, "spec.group"));
	_cleanup_(sim_freep) char *plural = sim_text_dup(sim_path(doc->root, "spec.names.plural"));
	_cleanup_(sim_freep) char *name = sim_text_dup(sim_get(version, "name"));
	struct sim_resource *found = sim_registry_find(registry, group, name, plural);

	return found && found->custom ? found : NULL;
}

static const struct sim_node *
versions_of(const struct sim_doc *doc)
{
	const struct sim_node *versions = sim_path(doc->root, "spec.versions");

	return versions ? versions->child : NULL;
}

void
sim_crd_serve(struct sim_registry *registry, struct sim_store *store, const struct sim_resource *crds,
	      const struct sim_object *old, const struct sim_object *object)
{
	_cleanup_(sim_doc_done) struct sim_doc doc = {0};
	_cleanup_(sim_doc_done) struct sim_doc old_doc = {0};
	const struct sim_resource *first = NULL;

	sim_object_edit(crds, object, &doc);
	for (const struct sim_node *v = versions_of(&doc); v; v = v->next) {
		const struct sim_resource *now = find_version(registry, &doc, v);
		bool new = !now;

		if (!is_true(sim_get(v, "served")))
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
	for (const struct sim_node *v = versions_of(&old_doc); v; v = v->next) {
		struct sim_resource *was = find_version(registry, &old_doc, v);
		bool still = false;

		for (const struct sim_node *w = versions_of(&doc); w; w = w->next)
			still |= is_true(sim_get(w, "served")) &&
				 sim_equal(sim_get(v, "name"), sim_get(w, "name"));
		if (was && !still)
			sim_registry_drop(was);
	}
}

static void
delete_all(struct sim_store *store, const struct sim_resource *resource)
{
	for (;;) {
		_cleanup_(sim_object_unrefp) struct sim_object *object = sim_store_pick(store, resource, 0,
											0);
		uint64_t rv;

		if (!object)
			return;
		/* changed meanwhile: it is picked again */
		(void)sim_store_delete(store, resource, object, &rv);
	}
}

void
sim_crd_withdraw(struct sim_registry *registry, struct sim_store *store, const struct sim_resource *crds,
		 const struct sim_object *object)
{
	_cleanup_(sim_doc_done) struct sim_doc doc = {0};

	sim_object_edit(crds, object, &doc);
	for (const struct sim_node *v = versions_of(&doc); v; v = v->next) {
		struct sim_resource *was = find_version(registry, &doc, v);

		if (!was)
			continue;
		delete_all(store, was);
		sim_registry_drop(was);
		delete_all(store, was); /* who was still at it */
	}
}
