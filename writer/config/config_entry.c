/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of `resources:` and `indexes:`; see config_entry.h. */
#include "writer/config/config_entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"
#include "writer/config/config_expand.h"
#include "writer/config/config_parse.h"

static bool
copy_opt(char **ret, const char *from)
{
	return !from || (*ret = strdup(from));
}

static char **
copy_strings(char *const *from, size_t n)
{
	char **copy = calloc(n + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++) {
		if (!(copy[i] = strdup(from[i]))) {
			while (i > 0)
				free(copy[--i]);
			free(copy);
			return NULL;
		}
	}
	return copy;
}

/* ---- resources ---- */

static int
append(struct config *config, struct config_resource *resource, char **ret_error)
{
	struct config_resource *larger;
	int r = -ENOMEM;

	if (config->n_resources >= CONFIG_MAX_RESOURCES) {
		r = message_set(ret_error, -E2BIG, "%s: more than %d resources", resource->origin,
				CONFIG_MAX_RESOURCES);
		goto fail;
	}
	larger = reallocarray(config->resources, config->n_resources + 1, sizeof(*larger));
	if (!larger)
		goto fail;
	config->resources = larger;
	larger[config->n_resources++] = *resource;
	memset(resource, 0, sizeof(*resource));
	return 0;
fail:
	config_resource_done(resource);
	return r;
}

/* Copy an entry for one namespace. */
static int
copy_for(const struct config_resource *from, const char *ns, struct config_resource *ret)
{
	*ret = *from;
	ret->resource = ret->namespace_ = ret->label_selector = ret->field_selector = ret->origin = NULL;
	ret->drops = NULL;
	ret->n_drops = 0;
	if (!copy_opt(&ret->namespace_, ns) || !copy_opt(&ret->resource, from->resource) ||
	    !copy_opt(&ret->label_selector, from->label_selector) ||
	    !copy_opt(&ret->field_selector, from->field_selector) || !copy_opt(&ret->origin, from->origin) ||
	    (from->n_drops > 0 && !(ret->drops = copy_strings(from->drops, from->n_drops)))) {
		config_resource_done(ret);
		return -ENOMEM;
	}
	ret->n_drops = from->n_drops;
	return 0;
}

static int
expand_resource(struct config_resource *resource, char **ret_error)
{
	char **const texts[] = {&resource->namespace_, &resource->label_selector, &resource->field_selector};
	_cleanup_(message_freep) char *error = NULL;
	int r = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && r == 0; i++)
		r = config_expand(texts[i], &error);
	return error ? message_set(ret_error, r, "%s: %s", resource->origin, error) : r;
}

int
config_take_resource(struct config *config, struct config_resource *resource, char **ret_error)
{
	struct config_resource one;
	char *namespaces, *rest, *ns;
	int r = expand_resource(resource, ret_error);

	if (r < 0 || !resource->namespace_) {
		if (r == 0)
			return append(config, resource, ret_error);
		config_resource_done(resource);
		return r;
	}
	namespaces = rest = resource->namespace_;
	resource->namespace_ = NULL;
	while (r == 0 && (ns = strsep(&rest, ","))) {
		_cleanup_(message_freep) char *error = NULL;

		r = config_check_namespace(ns, &error);
		if (r < 0) {
			r = message_set(ret_error, r, "%s: %s", resource->origin, error ? error : ns);
			break;
		}
		r = copy_for(resource, ns, &one);
		if (r == 0)
			r = append(config, &one, ret_error);
	}
	free(namespaces);
	config_resource_done(resource);
	return r;
}

int
config_add_resource(struct config *config, const char *text, char **ret_error)
{
	struct config_resource resource;
	int r;

	r = config_parse_resource(text, &resource, ret_error);
	if (r < 0)
		return r;
	if (asprintf(&resource.origin, "--resource %s", text) < 0) {
		resource.origin = NULL;
		config_resource_done(&resource);
		return -ENOMEM;
	}
	return config_take_resource(config, &resource, ret_error);
}

/* ---- indexes ---- */

int
config_take_index(struct config *config, struct config_index *index, char **ret_error)
{
	struct config_index *larger;
	int r = -ENOMEM;

	if (config->n_indexes >= CONFIG_MAX_INDEXES) {
		r = message_set(ret_error, -E2BIG, "%s: more than %d indexes", index->origin,
				CONFIG_MAX_INDEXES);
		goto fail;
	}
	larger = reallocarray(config->indexes, config->n_indexes + 1, sizeof(*larger));
	if (!larger)
		goto fail;
	config->indexes = larger;
	larger[config->n_indexes++] = *index;
	memset(index, 0, sizeof(*index));
	return 0;
fail:
	config_index_done(index);
	return r;
}

int
config_add_index(struct config *config, const char *text, char **ret_error)
{
	struct config_index index;
	int r;

	r = config_parse_index(text, &index, ret_error);
	if (r < 0)
		return r;
	if (asprintf(&index.origin, "--index %s", text) < 0) {
		index.origin = NULL;
		config_index_done(&index);
		return -ENOMEM;
	}
	return config_take_index(config, &index, ret_error);
}
