/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a spec from a configuration entry and finds everything that can be wrong with the entry: selectors
 * and drops that do not compile, invalid indexes. Used at the start and for each reload.
 */
#include "writer/resource/resource_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/decode/decoder_schema.h"
#include "writer/resource/descriptor.h"
#include "writer/kube/rbac.h"
#include "writer/base/message.h"

/* A WATCH's objects have these fields, a LIST's do not. The descriptor has both. */
static const char *const always_dropped[] = { "apiVersion", "kind" };

/* The paths that the configuration drops; free() the array alone. NULL: no memory. */
static const char **
drops_of(const struct config *config, const struct config_resource *entry, size_t *ret_count)
{
	const char **drops = calloc(entry->n_drops + 1, sizeof(*drops));
	size_t count = 0;

	if (!drops)
		return NULL;
	if (!config->keep_managed_fields)
		drops[count++] = "metadata.managedFields";
	for (size_t i = 0; i < entry->n_drops; i++)
		drops[count++] = entry->drops[i];
	*ret_count = count;
	return drops;
}

static int
make_schema(struct resource_spec *spec, const struct config_resource *entry, const char *const *drops,
	    size_t drop_count, char **ret_error)
{
	size_t extra = sizeof(always_dropped) / sizeof(always_dropped[0]);
	const char **all = calloc(drop_count + extra, sizeof(*all));
	int bad = -1;

	if (!all)
		return -ENOMEM;
	memcpy(all, always_dropped, sizeof(always_dropped));
	if (drop_count > 0)
		memcpy(all + extra, drops, drop_count * sizeof(*drops));
	spec->schema = decoder_schema_new(all, drop_count + extra, &bad);
	if (!spec->schema && bad >= 0)
		message_set(ret_error, -EINVAL, "%s: drop: '%s' is no possible path", entry->origin,
			    all[bad]);
	free(all);
	return spec->schema ? 0 : bad >= 0 ? -EINVAL : -ENOMEM;
}

static int
make_texts(struct resource_spec *spec, const struct config_resource *entry)
{
	_cleanup_(message_freep) char *hint = rbac_hint(&spec->kube, entry->namespace_);

	spec->group_name = kube_resource_group_name(&spec->kube);
	if (!spec->group_name)
		return -ENOMEM;
	if (asprintf(&spec->api_version, "%s%s%s", spec->kube.group, spec->kube.group[0] ? "/" : "",
		     spec->kube.version) < 0) {
		spec->api_version = NULL;
		return -ENOMEM;
	}
	if (asprintf(&spec->name, "%s%s%s", spec->group_name, entry->namespace_ ? " in " : "",
		     entry->namespace_ ? entry->namespace_ : "") < 0) {
		spec->name = NULL;
		return -ENOMEM;
	}
	if (hint && asprintf(&spec->refusal_hint,
			     "grant informerd this RBAC rule: %s; informerctl rbac prints all", hint) < 0)
		spec->refusal_hint = NULL;
	return 0;
}

static int
make_words(struct resource_spec *spec, const struct resource_spec_world *world,
	   const struct config_resource *entry, const char *const *drops, size_t drop_count,
	   const struct config_index *const *indexes, size_t index_count, char **ret_error)
{
	struct fingerprint_source source = {
		.server = world->server,
		.ca = world->ca,
		.ca_length = world->ca_length,
		.as = world->as,
		.resource = &spec->kube,
		.namespace_ = entry->namespace_,
		.label_selector = entry->label_selector,
		.field_selector = entry->field_selector,
		.drops = drops,
		.drop_count = drop_count,
		.metadata_only = entry->metadata_only,
	};
	struct descriptor_source descriptor = {
		.resource = &spec->kube,
		.namespace_ = entry->namespace_,
		.label_selector = entry->label_selector,
		.field_selector = entry->field_selector,
		.drops = drops,
		.drop_count = drop_count,
		.metadata_only = entry->metadata_only,
		.on_demand = entry->on_demand,
		.indexes = indexes,
		.index_count = index_count,
	};
	int r = descriptor_build(&descriptor, &spec->descriptor, ret_error);

	if (r == 0)
		r = fingerprint_make(&source, spec->fingerprint);
	return r;
}

int
resource_spec_new(const struct resource_spec_world *world, const struct kube_resource *kube,
		  const struct config_resource *entry, const struct config_index *const *indexes,
		  size_t index_count, struct resource_spec **ret, char **ret_error)
{
	struct resource_spec *spec = calloc(1, sizeof(*spec));
	const char **drops = NULL;
	size_t drop_count = 0;
	int r = -ENOMEM;

	if (!spec || kube_resource_copy(kube, &spec->kube) < 0)
		goto out;
	r = make_texts(spec, entry);
	if (r < 0)
		goto out;
	drops = drops_of(world->config, entry, &drop_count);
	r = drops ? make_schema(spec, entry, drops, drop_count, ret_error) : -ENOMEM;
	if (r == 0)
		r = make_words(spec, world, entry, drops, drop_count, indexes, index_count, ret_error);
	if (r == 0)
		r = kube_lister_watcher_init(&spec->lister_watcher, world->transport, &spec->kube,
					     entry->namespace_, entry->label_selector, entry->field_selector);
	spec->metadata_only = spec->lister_watcher.metadata_only = entry->metadata_only;
	spec->lister_watcher.drop_managed_fields = !world->config->keep_managed_fields;
out:
	free(drops);
	if (r < 0)
		resource_spec_free(spec);
	else
		*ret = spec;
	return r;
}

struct source
resource_spec_source(struct resource_spec *spec)
{
	return (struct source){
		.name = spec->name,
		.api_version = spec->metadata_only ? "meta.k8s.io/v1" : spec->api_version,
		.kind = spec->metadata_only ? "PartialObjectMetadata" : spec->kube.kind,
		.custom = !spec->metadata_only && strchr(spec->kube.group, '.') != NULL,
		.lister_watcher = &spec->lister_watcher.base,
		.schema = spec->schema,
	};
}

void
resource_spec_free(struct resource_spec *spec)
{
	if (!spec)
		return;
	kube_lister_watcher_done(&spec->lister_watcher);
	decoder_schema_free(spec->schema);
	kube_resource_done(&spec->kube);
	free(spec->name);
	free(spec->group_name);
	free(spec->api_version);
	free(spec->refusal_hint);
	free(spec->descriptor);
	free(spec);
}
