/* SPDX-License-Identifier: Apache-2.0 */
/* Each field that an object has becomes an "f:" of its managedFields, each item of a keyed list a "k:". */
#include "tests/bench/managed_pods.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/bench/pods.h"

/* Lists whose items are owned one by one, and their key fields. All other lists are owned as a whole. */
static const struct keyed {
	const char *list;
	const char *keys[2];
} keyed_lists[] = {
	{"conditions", {"type"}},
	{"containers", {"name"}},
	{"env", {"name"}},
	{"ephemeralContainers", {"name"}},
	{"hostAliases", {"ip"}},
	{"imagePullSecrets", {"name"}},
	{"initContainers", {"name"}},
	{"ownerReferences", {"uid"}},
	{"podIPs", {"ip"}},
	{"ports", {"containerPort", "protocol"}},
	{"topologySpreadConstraints", {"topologyKey", "whenUnsatisfiable"}},
	{"volumeDevices", {"devicePath"}},
	{"volumeMounts", {"mountPath"}},
	{"volumes", {"name"}},
};

static void *
or_abort(void *made)
{
	if (!made)
		abort();
	return made;
}

static const struct keyed *
keyed_list(const char *name)
{
	for (size_t i = 0; i < sizeof(keyed_lists) / sizeof(keyed_lists[0]); i++)
		if (strcmp(keyed_lists[i].list, name) == 0)
			return &keyed_lists[i];
	return NULL;
}

static cJSON *owned(const cJSON *value);

/* Under a name with a prefix of two letters, as "f:spec". */
static void
add_owned(cJSON *to, const char *prefix, const char *name, cJSON *fields)
{
	char key[512];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	cJSON_AddItemToObject(to, key, fields);
}

static void
add_items(cJSON *to, const cJSON *list, const struct keyed *keyed)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		cJSON *keys = or_abort(cJSON_CreateObject()), *fields = owned(item);
		char *text;

		for (size_t i = 0; i < 2 && keyed->keys[i]; i++) {
			const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, keyed->keys[i]);

			if (value)
				cJSON_AddItemToObject(keys, keyed->keys[i], cJSON_Duplicate(value, true));
		}
		text = or_abort(cJSON_PrintUnformatted(keys));
		add_owned(to, "k:", text, fields);
		cJSON_free(text);
		cJSON_Delete(keys);
	}
}

/* What is owned of a value, the value itself first. */
static cJSON *
owned(const cJSON *value)
{
	cJSON *ret = or_abort(cJSON_CreateObject());
	const struct keyed *keyed = cJSON_IsArray(value) && value->string ? keyed_list(value->string) : NULL;
	const cJSON *field;

	if ((!cJSON_IsObject(value) && !keyed) || !value->child)
		return ret;
	cJSON_AddItemToObject(ret, ".", or_abort(cJSON_CreateObject()));
	if (keyed)
		add_items(ret, value, keyed);
	else
		cJSON_ArrayForEach(field, value) add_owned(ret, "f:", field->string, owned(field));
	return ret;
}

/* Of these fields of an object, those that it has. A struct is not owned itself, its fields are. */
static cJSON *
owned_fields(const cJSON *object, const char *const *names)
{
	cJSON *ret = or_abort(cJSON_CreateObject());
	const cJSON *field;

	cJSON_ArrayForEach(field, object)
	{
		bool wanted = !names;

		for (size_t i = 0; names && names[i]; i++)
			wanted |= strcmp(names[i], field->string) == 0;
		if (wanted)
			add_owned(ret, "f:", field->string, owned(field));
	}
	return ret;
}

static void
add_manager(cJSON *managers, const char *name, const char *subresource, cJSON *fields)
{
	cJSON *manager = or_abort(cJSON_CreateObject());

	cJSON_AddStringToObject(manager, "manager", name);
	cJSON_AddStringToObject(manager, "operation", "Update");
	cJSON_AddStringToObject(manager, "apiVersion", "v1");
	cJSON_AddStringToObject(manager, "time", "2021-03-04T05:06:07Z");
	cJSON_AddStringToObject(manager, "fieldsType", "FieldsV1");
	cJSON_AddItemToObject(manager, "fieldsV1", fields);
	if (subresource)
		cJSON_AddStringToObject(manager, "subresource", subresource);
	cJSON_AddItemToArray(managers, manager);
}

static void
add_managed_fields(cJSON *pod)
{
	static const char *const made[] = {"annotations", "generateName", "labels", "ownerReferences", NULL};
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(pod, "metadata");
	cJSON *spec = cJSON_GetObjectItemCaseSensitive(pod, "spec"),
	      *status = cJSON_GetObjectItemCaseSensitive(pod, "status");
	cJSON *managers = or_abort(cJSON_CreateArray()), *fields = or_abort(cJSON_CreateObject());

	cJSON_AddItemToObject(fields, "f:metadata", owned_fields(metadata, made));
	cJSON_AddItemToObject(fields, "f:spec", owned_fields(spec, NULL));
	add_manager(managers, "kube-controller-manager", NULL, fields);
	if (status) {
		fields = or_abort(cJSON_CreateObject());
		cJSON_AddItemToObject(fields, "f:status", owned_fields(status, NULL));
		add_manager(managers, "kubelet", "status", fields);
	}
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
	cJSON_AddItemToObject(metadata, "managedFields", managers);
}

struct writing {
	const char *to;
	int result;
};

static void
write_pod(void *context, const char *file, cJSON *pod)
{
	struct writing *w = context;
	char path[4096], *text;
	FILE *f;

	add_managed_fields(pod);
	text = or_abort(cJSON_PrintUnformatted(pod));
	snprintf(path, sizeof(path), "%s/%s", w->to, file);
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0)
		w->result = -errno;
	if (f && fclose(f) != 0)
		w->result = -errno;
	cJSON_free(text);
}

int
managed_pods_write(const char *from, const char *to)
{
	struct writing w = {.to = to};
	int r;

	if (mkdir(to, 0700) < 0)
		return -errno;
	r = pod_files_each(from, write_pod, &w);
	return r < 0 ? r : w.result;
}
