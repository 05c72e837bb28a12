/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfig files as one; see kubeconfig_set.h. */
#include "writer/kube/kubeconfig_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"

static const struct {
	const char *list, *entry;
} kinds[] = {
	[KUBECONFIG_CONTEXT] = {"contexts", "context"},
	[KUBECONFIG_CLUSTER] = {"clusters", "cluster"},
	[KUBECONFIG_USER] = {"users", "user"},
};
#define N_KINDS (sizeof(kinds) / sizeof(*kinds))

void
kubeconfig_set_done(struct kubeconfig_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		yaml_unload(set->docs[i]);
	free(set->docs);
	free(set->origin);
	memset(set, 0, sizeof(*set));
}

static const cJSON *
list_of(const struct yaml *doc, enum kubeconfig_kind kind)
{
	return cJSON_GetObjectItemCaseSensitive(yaml_root(doc), kinds[kind].list);
}

/* The name of a list's element, or NULL. */
static const char *
name_of(const cJSON *entry)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "name"));
}

static int
check_list(const struct yaml *doc, enum kubeconfig_kind kind, char **ret_error)
{
	const cJSON *list = list_of(doc, kind), *entry, *other, *object;

	if (!list || cJSON_IsNull(list))
		return 0;
	if (!cJSON_IsArray(list))
		return yaml_error(doc, list, YAML_AT_VALUE, ret_error, -EINVAL, "%s must be a list",
				  kinds[kind].list);
	cJSON_ArrayForEach(entry, list) {
		const char *name = name_of(entry);

		if (!cJSON_IsObject(entry) || !name)
			return yaml_error(doc, entry, YAML_AT_VALUE, ret_error, -EINVAL,
					  "an element of %s must be a mapping with name and %s",
					  kinds[kind].list, kinds[kind].entry);
		object = cJSON_GetObjectItemCaseSensitive(entry, kinds[kind].entry);
		if (object && !cJSON_IsNull(object) && !cJSON_IsObject(object))
			return yaml_error(doc, object, YAML_AT_VALUE, ret_error, -EINVAL,
					  "%s must be a mapping", kinds[kind].entry);
		for (other = list->child; other != entry; other = other->next)
			if (strcmp(name_of(other), name) == 0)
				return yaml_error(doc, entry, YAML_AT_VALUE, ret_error, -EINVAL,
						  "%s has '%s' twice in this file", kinds[kind].list, name);
	}
	return 0;
}

static int
check(const struct yaml *doc, char **ret_error)
{
	const cJSON *root = yaml_root(doc), *kind = cJSON_GetObjectItemCaseSensitive(root, "kind");
	int r = 0;

	if (!cJSON_IsObject(root))
		return yaml_error(doc, root, YAML_AT_VALUE, ret_error, -EINVAL, "not a kubeconfig");
	if (kind && !cJSON_IsNull(kind) &&
	    (!cJSON_IsString(kind) || strcmp(kind->valuestring, "Config") != 0))
		return yaml_error(doc, kind, YAML_AT_VALUE, ret_error, -EINVAL,
				  "not a kubeconfig, whose kind is Config");
	for (unsigned i = 0; i < N_KINDS && r == 0; i++)
		r = check_list(doc, (enum kubeconfig_kind)i, ret_error);
	return r;
}

int
kubeconfig_set_add_file(struct kubeconfig_set *set, const char *path, char **ret_error)
{
	struct yaml **larger = reallocarray(set->docs, set->n + 1, sizeof(*larger)), *doc;
	char *origin;
	int r;

	if (!larger)
		return -ENOMEM;
	set->docs = larger;
	r = yaml_load(path, &doc, ret_error);
	if (r < 0)
		return r;
	larger[set->n++] = doc;
	r = check(doc, ret_error);
	if (r < 0)
		return r;
	if (asprintf(&origin, "%s%s%s", set->origin ? set->origin : "", set->origin ? ":" : "", path) < 0)
		return -ENOMEM;
	free(set->origin);
	set->origin = origin;
	return 0;
}

bool
kubeconfig_set_is_empty(const struct kubeconfig_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		for (unsigned kind = 0; kind < N_KINDS; kind++)
			if (cJSON_GetArraySize(list_of(set->docs[i], (enum kubeconfig_kind)kind)) > 0)
				return false;
	return true;
}

int
kubeconfig_set_current_context(const struct kubeconfig_set *set, const char **ret_name, char **ret_error)
{
	int r = 0;

	*ret_name = NULL;
	for (size_t i = 0; i < set->n && r == 0 && !*ret_name; i++) {
		struct kubeconfig_reader in = {set->docs[i], ret_error};

		r = kubeconfig_get_string(&in, yaml_root(set->docs[i]), "current-context", ret_name);
	}
	return r;
}

void
kubeconfig_set_names(const struct kubeconfig_set *set, enum kubeconfig_kind kind, char *text, size_t size)
{
	const cJSON *entry;
	size_t at = 0;

	snprintf(text, size, "none");
	for (size_t i = 0; i < set->n; i++) {
		cJSON_ArrayForEach(entry, list_of(set->docs[i], kind)) {
			const char *name = name_of(entry);

			if (at + strlen(name) + 3 < size)
				at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", name);
		}
	}
}

int
kubeconfig_set_find(const struct kubeconfig_set *set, enum kubeconfig_kind kind, const char *name,
		    struct kubeconfig_reader *ret_in, const cJSON **ret_object, char **ret_error)
{
	const cJSON *entry, *object;
	char names[512];

	for (size_t i = 0; i < set->n; i++) {
		cJSON_ArrayForEach(entry, list_of(set->docs[i], kind)) {
			if (strcmp(name_of(entry), name) != 0)
				continue;
			object = cJSON_GetObjectItemCaseSensitive(entry, kinds[kind].entry);
			*ret_object = cJSON_IsObject(object) ? object : NULL;
			*ret_in = (struct kubeconfig_reader){set->docs[i], ret_error};
			return 0;
		}
	}
	kubeconfig_set_names(set, kind, names, sizeof(names));
	return message_set(ret_error, -EINVAL, "%s: no %s '%s' in it; it has: %s", set->origin,
			   kinds[kind].entry, name, names);
}
