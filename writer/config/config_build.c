/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one configuration from file and flags; see config_build.h. */
#include "writer/config/config_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "shm-layout/socket_place.h"
#include "writer/base/file.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/config_check.h"
#include "writer/config/config_expand.h"
#include "writer/config/config_file.h"
#include "writer/base/sealed_text.h"
#include "writer/config/options.h"
#include "writer/config/preset.h"

/* "informer" for root's default socket, else a name with a hash of the socket's path. */
static char *
default_arena_name(const char *socket)
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char *absolute = NULL, *name = NULL, folder[4096];

	if (strcmp(socket, SOCKET_OF_SYSTEM) == 0)
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
	struct socket_place places[SOCKET_PLACES] = {0};
	int r;

	if (!config->socket && socket_places_find(places) < 0)
		return message_set(ret_error, -EINVAL,
				   "$INFORMER_SOCKET is longer than a socket's path may be (%zu bytes)",
				   sizeof(places->address.sun_path) - 1);
	if (!config->socket)
		config->socket = strdup(places[0].address.sun_path);
	if (!config->socket)
		return -ENOMEM;
	if (strlen(config->socket) >= sizeof(places->address.sun_path))
		return message_set(ret_error, -EINVAL,
				   "the socket's path is too long (%zu bytes, the system allows %zu): %s; "
				   "choose a shorter one "
				   "with --socket",
				   strlen(config->socket), sizeof(places->address.sun_path) - 1,
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
config_build(const struct options *options, int text, struct config *ret_config, char **ret_error)
{
	struct config config = {.log_level = -1};
	size_t length = 0;
	char *data = NULL;
	bool file = options->config_path && text >= 0;
	int r = file ? sealed_text_get(text, &data, &length) : 0;

	if (r == 0 && file)
		r = config_load(options->config_path, data, length, &config, ret_error);
	file_wipe(data, length);
	if (r < 0)
		return r;
	r = options_apply(options, &config, ret_error);
	if (r == 0)
		r = preset_apply(&config, ret_error);
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
