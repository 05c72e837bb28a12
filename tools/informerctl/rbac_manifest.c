/* SPDX-License-Identifier: Apache-2.0 */
/* The objects, made as JSON trees and written as YAML; see rbac_manifest.h. */
#include "tools/informerctl/rbac_manifest.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/document.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"
#define RBAC_VERSION RBAC_GROUP "/v1"

/* What informerd lists and watches: a resource in one namespace or, "", in all. Borrowed from the report. */
struct grant {
	const char *namespace_, *group, *resource;
};

struct grants {
	struct grant *items;
	size_t count;
};

static const char *
string(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

/* informerd reports no group for a resource that it has not resolved; the core group is "". */
static bool
is_resolved(const cJSON *resource)
{
	return cJSON_HasObjectItem(resource, "group");
}

static bool
is_selected(const cJSON *resource)
{
	return *string(resource, "labelSelector") || *string(resource, "fieldSelector");
}

static int
compare(const void *a, const void *b)
{
	const struct grant *x = a, *y = b;
	int order = strcmp(x->namespace_, y->namespace_);

	if (order == 0)
		order = strcmp(x->group, y->group);
	return order ? order : strcmp(x->resource, y->resource);
}

/* The resolved resources, sorted, each once. Returns the number of unresolved ones, or -ENOMEM. */
static int
collect(const cJSON *resources, struct grants *ret)
{
	const cJSON *resource;
	size_t kept = 0;
	int unresolved = 0;

	*ret = (struct grants){
		.items = calloc((size_t)cJSON_GetArraySize(resources) + 1, sizeof(*ret->items))};
	if (!ret->items)
		return -ENOMEM;
	cJSON_ArrayForEach (resource, resources) {
		if (is_resolved(resource))
			ret->items[ret->count++] = (struct grant){string(resource, "namespace"),
								  string(resource, "group"),
								  string(resource, "resource")};
		else
			unresolved++;
	}
	qsort(ret->items, ret->count, sizeof(*ret->items), compare);
	for (size_t i = 0; i < ret->count; i++)
		if (kept == 0 || compare(&ret->items[kept - 1], &ret->items[i]) != 0)
			ret->items[kept++] = ret->items[i];
	ret->count = kept;
	return unresolved;
}

/* A comment of the resources that match, if there are any. A name cannot end the comment's line. */
static void
add_comment(const cJSON *resources, bool (*match)(const cJSON *resource), const char *what, struct text *out)
{
	const cJSON *resource;
	const char *between = what;

	cJSON_ArrayForEach (resource, resources) {
		if (!match(resource))
			continue;
		text_adds(out, between);
		for (const char *c = string(resource, "resource"); *c; c++)
			text_addc(out, iscntrl((unsigned char)*c) ? '?' : *c);
		between = ", ";
	}
	if (between != what)
		text_addc(out, '\n');
}

static bool
is_unresolved(const cJSON *resource)
{
	return !is_resolved(resource);
}

static void
set(cJSON *object, const char *name, const char *value)
{
	cJSON_AddStringToObject(object, name, value);
}

static cJSON *
make(const char *api_version, const char *kind, const char *name, const char *namespace_)
{
	cJSON *object = cJSON_CreateObject(), *metadata = cJSON_AddObjectToObject(object, "metadata");

	set(object, "apiVersion", api_version);
	set(object, "kind", kind);
	set(metadata, "name", name);
	if (*namespace_)
		set(metadata, "namespace", namespace_);
	return object;
}

/* Append the object, which ends here. */
static void
write_object(cJSON *object, struct text *out)
{
	const struct document document = {.object = field_of_cjson(object)};

	if (!object && out->error == 0)
		out->error = -ENOMEM;
	text_adds(out, "---\n");
	document_yaml(&document, out);
	cJSON_Delete(object);
}

static void
add_words(cJSON *rule, const char *name, const char *const *words, int count)
{
	cJSON *array = cJSON_CreateStringArray(words, count);

	if (!cJSON_AddItemToObject(rule, name, array))
		cJSON_Delete(array);
}

/* Add a rule for an API group, without resources. NULL: no memory. */
static cJSON *
add_rule(cJSON *rules, const char *group, const char *const *verbs, int verb_count)
{
	cJSON *rule = cJSON_CreateObject();

	add_words(rule, "apiGroups", &group, 1);
	add_words(rule, "verbs", verbs, verb_count);
	if (cJSON_AddItemToArray(rules, rule))
		return rule;
	cJSON_Delete(rule);
	return NULL;
}

/* Add a rule for each API group of these grants, which are of one namespace. */
static void
add_rules(cJSON *rules, const struct grant *grants, size_t count)
{
	static const char *const verbs[] = {"list", "watch"};
	cJSON *resources = NULL;

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(grants[i].group, grants[i - 1].group) != 0)
			resources = cJSON_AddArrayToObject(add_rule(rules, grants[i].group, verbs, 2),
							   "resources");
		cJSON_AddItemToArray(resources, cJSON_CreateString(grants[i].resource));
	}
}

/* informerd asks for the UID of namespace kube-system, which identifies the cluster. */
static void
add_cluster_rule(cJSON *rules)
{
	static const char *const verb[] = {"get"}, *const resource[] = {"namespaces"},
				 *const name[] = {"kube-system"};
	cJSON *rule = add_rule(rules, "", verb, 1);

	add_words(rule, "resources", resource, 1);
	add_words(rule, "resourceNames", name, 1);
}

/* Bind the role to the account: in a namespace or, "", in all. */
static void
write_binding(const struct rbac_account *account, const char *name, const char *namespace_,
	      const char *role_kind, const char *role, struct text *out)
{
	cJSON *object = make(RBAC_VERSION, *namespace_ ? "RoleBinding" : "ClusterRoleBinding", name,
			     namespace_),
	      *ref = cJSON_AddObjectToObject(object, "roleRef"),
	      *subjects = cJSON_AddArrayToObject(object, "subjects"), *subject = cJSON_CreateObject();

	set(ref, "apiGroup", RBAC_GROUP);
	set(ref, "kind", role_kind);
	set(ref, "name", role);
	set(subject, "kind", "ServiceAccount");
	set(subject, "name", account->name);
	set(subject, "namespace", account->namespace_);
	if (!cJSON_AddItemToArray(subjects, subject))
		cJSON_Delete(subject);
	write_object(object, out);
}

/* The role of one namespace or, "", of all, and its binding. */
static void
write_role(const struct rbac_account *account, const char *namespace_, const struct grant *grants,
	   size_t count, struct text *out)
{
	const char *kind = *namespace_ ? "Role" : "ClusterRole";
	cJSON *role = make(RBAC_VERSION, kind, account->name, namespace_),
	      *rules = cJSON_AddArrayToObject(role, "rules");

	add_rules(rules, grants, count);
	if (!*namespace_)
		add_cluster_rule(rules);
	write_object(role, out);
	write_binding(account, account->name, namespace_, kind, account->name, out);
}

/* The ClusterRole first, also without a grant: "" is sorted first. */
static void
write_roles(const struct rbac_account *account, const struct grants *grants, struct text *out)
{
	const char *namespace_ = "";
	size_t begin = 0, end = 0;

	do {
		while (end < grants->count && strcmp(grants->items[end].namespace_, namespace_) == 0)
			end++;
		write_role(account, namespace_, grants->items + begin, end - begin, out);
		begin = end;
		if (begin < grants->count)
			namespace_ = grants->items[begin].namespace_;
	} while (begin < grants->count);
}

static void
write_delegator(const struct rbac_account *account, struct text *out)
{
	struct text name = TEXT_INIT(-1);

	text_addf(&name, "%s-auth-delegator", account->name);
	if (name.error < 0)
		out->error = name.error;
	else
		write_binding(account, name.data, "", "ClusterRole", "system:auth-delegator", out);
	text_done(&name);
}

int
rbac_manifest_write(const cJSON *report, const struct rbac_account *account, struct text *out)
{
	const cJSON *resources = cJSON_GetObjectItemCaseSensitive(report, "resources");
	struct grants grants;
	int unresolved;

	if (!cJSON_IsArray(resources) || !resources->child)
		return -EINVAL;
	unresolved = collect(resources, &grants);
	if (unresolved < 0)
		return unresolved;
	text_addf(out, "# What informerd needs to list and watch what it caches.\n");
	add_comment(resources, is_unresolved, "# Without a rule, as their API group is not known yet: ", out);
	add_comment(resources, is_selected,
		    "# RBAC does not narrow by selectors; all objects are granted of: ", out);
	if (account->create_namespace)
		write_object(make("v1", "Namespace", account->namespace_, ""), out);
	write_object(make("v1", "ServiceAccount", account->name, account->namespace_), out);
	write_roles(account, &grants, out);
	if (account->gateway)
		write_delegator(account, out);
	free(grants.items);
	return unresolved;
}
