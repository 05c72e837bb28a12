/* SPDX-License-Identifier: Apache-2.0 */
/* From file and flags to one configuration; see config_build.h. */
#include "writer/config/config_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <sodium.h>

#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/config_check.h"
#include "writer/config/config_entry.h"
#include "writer/config/config_expand.h"
#include "writer/config/config_file.h"
#include "writer/config/default_socket.h"
#include "writer/config/options.h"

/* ---- merging ---- */

static int
copy_over(char **field, const char *flag)
{
	char *copy;

	if (!flag)
		return 0;
	copy = strdup(flag);
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static int
merge(struct config *config, const struct config *flags, char **ret_error)
{
	int r = 0;

	if ((r = server_choice_merge(&config->choice, &flags->choice)) < 0 ||
	    (r = copy_over(&config->namespace_, flags->namespace_)) < 0 ||
	    (r = copy_over(&config->socket, flags->socket)) < 0 ||
	    (r = copy_over(&config->arena_dir, flags->arena_dir)) < 0 ||
	    (r = copy_over(&config->schema, flags->schema)) < 0 ||
	    (r = copy_over(&config->arena_name, flags->arena_name)) < 0 ||
	    (r = copy_over(&config->metrics_address, flags->metrics_address)) < 0)
		return r;
	for (size_t i = 0; i < flags->n_resources && r == 0; i++)
		r = config_merge_resource(config, &flags->resources[i], ret_error);
	for (size_t i = 0; i < flags->n_indexes && r == 0; i++)
		r = config_merge_index(config, &flags->indexes[i], ret_error);
	for (size_t i = 0; i < flags->n_allow_uids && r == 0; i++)
		r = config_add_uid(config, flags->allow_uids[i]);
	for (size_t i = 0; i < flags->n_allow_gids && r == 0; i++)
		r = config_add_gid(config, flags->allow_gids[i]);
	if (flags->arena_max_bytes)
		config->arena_max_bytes = flags->arena_max_bytes;
	if (flags->max_readers)
		config->max_readers = flags->max_readers;
	if (flags->check_every_ms)
		config->check_every_ms = flags->check_every_ms;
	if (flags->watch_timeout_ms)
		config->watch_timeout_ms = flags->watch_timeout_ms;
	if (flags->backoff.first_ms)
		config->backoff.first_ms = flags->backoff.first_ms;
	if (flags->backoff.max_ms)
		config->backoff.max_ms = flags->backoff.max_ms;
	if (flags->backoff.reset_ms)
		config->backoff.reset_ms = flags->backoff.reset_ms;
	if (flags->log_level >= 0)
		config->log_level = flags->log_level;
	if (flags->watch_list != CONFIG_NOT_SAID)
		config->watch_list = flags->watch_list;
	if (flags->wire != WIRE_NOT_SAID)
		config->wire = flags->wire;
	config->keep_managed_fields |= flags->keep_managed_fields;
	config->allow_secrets |= flags->allow_secrets;
	return r;
}

/* ---- defaults ---- */

/* "informer" for the socket that root's daemon has by default, else a name of the socket's own. */
static char *
default_arena_name(const char *socket)
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char *absolute = NULL, *name = NULL, folder[4096];

	if (strcmp(socket, "/run/informer/informer.sock") == 0)
		return strdup("informer");
	if (*socket != '/' && getcwd(folder, sizeof(folder)) &&
	    asprintf(&absolute, "%s/%s", folder, socket) < 0)
		absolute = NULL;
	if (*socket != '/' && !absolute)
		return NULL;
	socket = absolute ? absolute : socket;
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)socket, strlen(socket), NULL, 0);
	if (asprintf(&name, "informer-%02x%02x%02x%02x%02x%02x", hash[0], hash[1], hash[2], hash[3], hash[4],
		     hash[5]) < 0)
		name = NULL;
	free(absolute);
	return name;
}

static int
fill_defaults(struct config *config, char **ret_error)
{
	int r;

	if (!config->socket)
		config->socket = default_socket();
	if (!config->socket)
		return -ENOMEM;
	if (strlen(config->socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return message_set(ret_error, -EINVAL,
				   "the socket's path is too long (%zu bytes, the system allows %zu): %s; "
				   "choose a shorter one "
				   "with --socket",
				   strlen(config->socket), sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
				   config->socket);
	if (!config->arena_name)
		config->arena_name = default_arena_name(config->socket);
	if (!config->arena_name)
		return -ENOMEM;
	if (strchr(config->arena_name, '/') || *config->arena_name == '.' || !*config->arena_name ||
	    strlen(config->arena_name) > 200)
		return message_set(ret_error, -EINVAL,
				   "the arena's name '%s' must be a plain file name without '/'",
				   config->arena_name);
	if (config->arena_dir && *config->arena_dir != '/')
		return message_set(ret_error, -EINVAL, "the arena's folder '%s' must be an absolute path",
				   config->arena_dir);
	if (!config->max_readers)
		config->max_readers = CONFIG_DEFAULT_MAX_READERS;
	if (config->log_level < 0)
		config->log_level = LOG_LEVEL_INFO;
	if (config->wire == WIRE_NOT_SAID)
		config->wire = WIRE_AUTO;
	r = config_expand(&config->namespace_, ret_error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < config->n_resources; i++) {
		struct config_resource *resource = &config->resources[i];

		if (resource->watch_list == CONFIG_NOT_SAID)
			resource->watch_list = config->watch_list;
		if (resource->wire == WIRE_NOT_SAID)
			resource->wire = config->wire;
		if (!config->namespace_)
			continue;
		if (resource->namespace_)
			continue;
		resource->namespace_ = strdup(config->namespace_);
		if (!resource->namespace_)
			return -ENOMEM;
		resource->namespace_is_default = true;
	}
	return 0;
}

int
config_build(const struct options *options, struct config *ret_config, char **ret_error)
{
	struct config config = {.log_level = -1};
	int r = 0;

	if (options->config_path)
		r = config_load(options->config_path, &config, ret_error);
	if (r < 0)
		return r;
	r = merge(&config, &options->flags, ret_error);
	if (r == 0)
		r = fill_defaults(&config, ret_error);
	if (r == 0)
		r = config_check(&config, ret_error);
	if (r < 0) {
		config_done(&config);
		return r;
	}
	*ret_config = config;
	return 0;
}
