/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads objects. A dump may have hundreds of megabytes, so the loader skips through a list's text to each
 * item, and parses one item at a time.
 */
#include "tools/informer-sim/new_object.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/informer-sim/crd.h"
#include "tools/informer-sim/registry.h"
#include "tools/informer-sim/time_print.h"

static int __attribute__((format(printf, 3, 4)))
fail(char **ret_error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(ret_error, format, args) < 0)
		*ret_error = NULL;
	va_end(args);
	return code;
}

static int
bad_json(char **ret_error, const char *name, const char *text, const struct api_doc_error *error)
{
	size_t line = 1;

	for (size_t i = 0; i < error->offset; i++)
		line += text[i] == '\n';
	return fail(ret_error, -EINVAL, "%s: line %zu, byte %zu: not JSON: %s", name, line, error->offset,
		    error->text);
}

/* ---- one object ----------------------------------------------------------- */

/* The resource of an object, by apiVersion and kind, which may be empty. Declares a new resource. */
static struct api_resource *
find_resource(struct sim_loader *loader, const struct api_node *root, const char *api_version,
	      const char *kind)
{
	const struct api_node *namespace_ = sim_path(root, "metadata.namespace");
	_cleanup_(api_freep) char *group = NULL;
	struct api_resource *resource = NULL;
	const char *slash;

	if (!kind[0])
		return sim_path(root, "spec.containers") ? sim_registry_kind(loader->registry, "v1", "Pod")
							 : NULL;
	resource = sim_registry_kind(loader->registry, api_version[0] ? api_version : "v1", kind);
	if (resource || !api_version[0])
		return resource;
	slash = strchr(api_version, '/');
	group = api_strndup(api_version, slash ? (size_t)(slash - api_version) : 0);
	if (sim_registry_add(loader->registry, group, slash ? slash + 1 : api_version, NULL, kind,
			     namespace_ && namespace_->type == API_STRING, &resource) < 0)
		return NULL;
	return resource;
}

static void
complete(struct sim_loader *loader, const struct api_resource *resource, struct api_doc *doc)
{
	struct api_node *meta = api_get(doc->root, "metadata");
	char uid[SIM_UID_SIZE], text[SIM_TIME_SIZE];

	if (!meta || meta->type != API_OBJECT)
		return; /* sim_object_new() reports it */
	if (resource->namespaced && !api_get(meta, "namespace"))
		sim_set_string(doc, meta, "namespace", "default");
	if (!api_get(meta, "name") && api_get(meta, "generateName")) {
		_cleanup_(api_freep) char *prefix = api_text_dup(api_get(meta, "generateName"));
		_cleanup_(api_buf_done) struct api_buf name = {0};
		char suffix[6];

		sim_rng_suffix(loader->rng, suffix, 5);
		api_buf_printf(&name, "%s%s", prefix, suffix);
		sim_set_string(doc, meta, "name", name.data);
	}
	if (!api_get(meta, "uid")) {
		sim_rng_uid(loader->rng, uid);
		sim_set_string(doc, meta, "uid", uid);
	}
	if (!api_get(meta, "creationTimestamp")) {
		sim_time_print(loader->now, text);
		sim_set_string(doc, meta, "creationTimestamp", text);
	}
}

static void
store(struct sim_loader *loader, const struct api_resource *resource, struct api_object *object)
{
	struct api_object *old;

	if (sim_store_create(loader->store, resource, object) == 0) {
		loader->objects++;
		if (sim_is_crd(resource))
			sim_crd_serve(loader->registry, loader->store, resource, NULL, object);
		return;
	}
	old = sim_store_get(loader->store, resource, object->key);
	sim_store_update(loader->store, resource, old, object);
	if (sim_is_crd(resource))
		sim_crd_serve(loader->registry, loader->store, resource, old, object);
	api_object_unref(old);
	loader->replaced++;
}

/* Add the other replicas of a loaded pod. Names are drawn until one is free. */
static void
replicate(struct sim_loader *loader, const struct api_resource *resource, const char *text, size_t len)
{
	for (unsigned i = 1; i < loader->replicas;) {
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		_cleanup_(api_object_unrefp) struct api_object *object = NULL;
		struct api_doc_error error;
		struct sim_object_error object_error;

		if (api_doc_parse(&doc, text, len, NULL, &error) < 0)
			return; /* cannot fail: it was parsed before */
		complete(loader, resource, &doc);
		sim_replica_make(&doc, loader->hosts, loader->rng);
		if (sim_object_new(resource, &doc, &object, &object_error) < 0)
			return; /* cannot fail: the first replica was valid */
		if (sim_store_create(loader->store, resource, object) == 0) {
			loader->objects++;
			i++;
		}
	}
}

/* Load one item. of_version, of_kind: from the list around it; "": none. */
static int
load_object(struct sim_loader *loader, const char *name, const char *text, size_t begin, size_t end,
	    const char *of_version, const char *of_kind, char **ret_error)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	_cleanup_(api_freep) char *version = NULL;
	_cleanup_(api_freep) char *kind = NULL;
	_cleanup_(api_status_done) struct api_status status = {0};
	struct sim_object_error object_error;
	struct api_doc_error error;
	struct api_resource *resource;

	if (api_doc_parse(&doc, text + begin, end - begin, NULL, &error) < 0) {
		error.offset += begin;
		return bad_json(ret_error, name, text, &error);
	}
	version = api_text_dup(api_get(doc.root, "apiVersion"));
	kind = api_text_dup(api_get(doc.root, "kind"));
	resource = find_resource(loader, doc.root, kind[0] ? version : of_version, kind[0] ? kind : of_kind);
	if (!resource)
		return fail(ret_error, -EINVAL,
			    "%s: object at byte %zu: cannot tell what it is: give it kind and apiVersion "
			    "(only pods are "
			    "known without, by spec.containers)",
			    name, begin);
	complete(loader, resource, &doc);
	if (sim_is_crd(resource) && sim_crd_prepare(resource, &doc, &status) < 0)
		return fail(ret_error, -EINVAL, "%s: object at byte %zu: %s", name, begin, status.message);
	if (sim_object_new(resource, &doc, &object, &object_error) < 0)
		return fail(ret_error, -EINVAL, "%s: %s at byte %zu: %s", name, resource->kind, begin,
			    object_error.text);
	store(loader, resource, object);
	if (loader->replicas > 1 && !strcmp(resource->plural, "pods") && !resource->group[0])
		replicate(loader, resource, text + begin, end - begin);
	return 0;
}

/* ---- documents ------------------------------------------------------------ */

/* The top level of a document. */
struct outline {
	char *version;
	char *kind;
	size_t items_begin; /* offset behind '[' */
	bool has_items;
};

static void
outline_done(struct outline *outline)
{
	free(outline->version);
	free(outline->kind);
}

static char *
string_at(const char *text, size_t begin, size_t end)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct api_doc_error error;

	if (api_doc_parse(&doc, text + begin, end - begin, NULL, &error) < 0)
		return api_strndup("", 0);
	return api_text_dup(doc.root);
}

/* Read the top level of the checked object at `begin` without parsing its items. */
static void
read_outline(const char *text, size_t begin, size_t end, struct outline *ret)
{
	struct api_doc_error error;
	size_t at = begin + 1, key_begin, key_end, value_begin, value_end;

	*ret = (struct outline){0};
	ret->version = api_strndup("", 0);
	ret->kind = api_strndup("", 0);
	if (text[begin] != '{')
		return;
	while (api_doc_skip(text, end, at, &key_begin, &key_end, &error) == 0) {
		_cleanup_(api_freep) char *key = string_at(text, key_begin, key_end);

		for (at = key_end; text[at] != ':'; at++)
			;
		if (api_doc_skip(text, end, at + 1, &value_begin, &value_end, &error) < 0)
			return;
		if (!strcmp(key, "kind")) {
			free(ret->kind);
			ret->kind = string_at(text, value_begin, value_end);
		} else if (!strcmp(key, "apiVersion")) {
			free(ret->version);
			ret->version = string_at(text, value_begin, value_end);
		} else if (!strcmp(key, "items") && text[value_begin] == '[') {
			ret->has_items = true;
			ret->items_begin = value_begin + 1;
		}
		for (at = value_end; at < end && text[at] != ',' && text[at] != '}'; at++)
			;
		if (at >= end || text[at] == '}')
			return;
		at++;
	}
}

static int
load_items(struct sim_loader *loader, const char *name, const char *text, size_t end,
	   const struct outline *outline, char **ret_error)
{
	_cleanup_(api_freep) char *kind = NULL;
	size_t kind_len = strlen(outline->kind), at = outline->items_begin, begin, item_end;
	struct api_doc_error error;
	int r;

	/* a PodList's items are Pods; a List's items have their own kinds */
	kind = api_strndup(outline->kind, kind_len > 4 ? kind_len - 4 : 0);
	while (api_doc_skip(text, end, at, &begin, &item_end, &error) == 0) {
		r = load_object(loader, name, text, begin, item_end, outline->version, kind, ret_error);
		if (r < 0)
			return r;
		for (at = item_end; text[at] != ',' && text[at] != ']'; at++)
			;
		if (text[at] == ']')
			break;
		at++;
	}
	return 0;
}

int
sim_load_text(struct sim_loader *loader, const char *name, const char *text, size_t len, char **ret_error)
{
	size_t at = 0, begin, end;
	struct api_doc_error error;

	for (;;) {
		_cleanup_(outline_done) struct outline outline = {0};
		size_t kind_len;
		int r;

		while (at < len && strchr(" \t\r\n", text[at]) && text[at])
			at++;
		if (at == len)
			return 0;
		if (api_doc_skip(text, len, at, &begin, &end, &error) < 0)
			return bad_json(ret_error, name, text, &error);
		read_outline(text, begin, end, &outline);
		kind_len = strlen(outline.kind);
		if (outline.has_items &&
		    (kind_len == 0 || (kind_len >= 4 && !strcmp(outline.kind + kind_len - 4, "List"))))
			r = load_items(loader, name, text, end, &outline, ret_error);
		else
			r = load_object(loader, name, text, begin, end, "", "", ret_error);
		if (r < 0)
			return r;
		at = end;
	}
}

/* ---- files ---------------------------------------------------------------- */

static int
load_file(struct sim_loader *loader, const char *path, char **ret_error)
{
	struct stat st;
	void *map;
	int fd, r;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return fail(ret_error, r, "%s: %s", path, strerror(-r));
	}
	if (st.st_size == 0) {
		close(fd);
		return fail(ret_error, -EINVAL, "%s: the file is empty", path);
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	r = -errno;
	close(fd);
	if (map == MAP_FAILED)
		return fail(ret_error, r, "%s: %s", path, strerror(-r));
	r = sim_load_text(loader, path, map, (size_t)st.st_size, ret_error);
	munmap(map, (size_t)st.st_size);
	return r;
}

static int
is_json(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && !strcmp(entry->d_name + len - 5, ".json") && entry->d_name[0] != '.';
}

int
sim_load(struct sim_loader *loader, const char *path, char **ret_error)
{
	struct dirent **entries;
	struct stat st;
	int count, r = 0;

	if (stat(path, &st) < 0)
		return fail(ret_error, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return load_file(loader, path, ret_error);
	count = scandir(path, &entries, is_json, alphasort);
	if (count < 0)
		return fail(ret_error, -errno, "%s: %s", path, strerror(errno));
	if (count == 0)
		r = fail(ret_error, -ENOENT, "%s: no *.json file in it", path);
	for (int i = 0; i < count; i++) {
		struct api_buf file = {0};

		api_buf_printf(&file, "%s/%s", path, entries[i]->d_name);
		if (r == 0)
			r = load_file(loader, file.data, ret_error);
		api_buf_done(&file);
		free(entries[i]);
	}
	free(entries);
	return r;
}
