/* SPDX-License-Identifier: Apache-2.0 */
/* Frees what a configuration owns; see config.h. */
#include "writer/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
free_strings(char **strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
}

void
config_resource_done(struct config_resource *resource)
{
	free(resource->resource);
	free(resource->namespace_);
	free(resource->label_selector);
	free(resource->field_selector);
	free_strings(resource->drops, resource->n_drops);
	free(resource->origin);
	memset(resource, 0, sizeof(*resource));
}

void
config_index_done(struct config_index *index)
{
	free(index->name);
	free(index->resource);
	free_strings(index->paths, index->n_paths);
	free(index->split);
	free(index->origin);
	memset(index, 0, sizeof(*index));
}

void
config_done(struct config *config)
{
	server_choice_done(&config->choice);
	free(config->preset);
	free(config->namespace_);
	for (size_t i = 0; i < config->n_resources; i++)
		config_resource_done(&config->resources[i]);
	free(config->resources);
	for (size_t i = 0; i < config->n_indexes; i++)
		config_index_done(&config->indexes[i]);
	free(config->indexes);
	free(config->socket);
	free(config->arena_dir);
	free(config->schema);
	free(config->arena_name);
	free(config->metrics_address);
	refs_done(&config->allow_uids);
	refs_done(&config->allow_gids);
	memset(config, 0, sizeof(*config));
}
